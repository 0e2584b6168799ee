package tmux

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fleet/internal/proc"
)

func TestPanesOfNoServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if list, err := s.Panes(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, found, err := s.Pane(t.Context(), "%0"); err != nil || found {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestPaneShowsWhatTmuxKnows(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sp := spec(t)
	sp.Tags = Tags{Run: "-a run;", WS: "#{pid} #(date) ü;", Epoch: 12}
	sp.Args = []string{"sh", "-c", `printf '\033[?1049h'; exec sleep 1000`}
	id := mustOpen(t, s, sp)
	p := await(t, s, id, func(p Pane) bool { return p.Alternate && p.Command == "sleep" })
	want := Pane{
		ID: id, Session: "fleet", Window: "workers", Title: sp.Tags.WS, Path: sp.Dir, Command: "sleep",
		PID: p.PID, ExitCode: -1, Alternate: true, Width: 200, Height: 49, Tags: sp.Tags,
	}
	if p != want || p.PID == 0 {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	must(t, s, []string{"copy-mode", "-t", string(id)}, []string{"choose-tree", "-t", string(id)})
	await(t, s, id, func(p Pane) bool { return p.InMode })
}

// T10, PAINS row 41: without a UTF-8 locale, too.
func TestTitlesKeepUTF8(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.env = append(s.env, "LC_ALL=C", "LANG=C", "LC_CTYPE=C")
	sp := spec(t)
	sp.Args = []string{"sh", "-c", `printf '\033]2;⠋ Wörk\tnow #{pid} #(date);\007'; exec sleep 1000`}
	id := mustOpen(t, s, sp)
	await(t, s, id, func(p Pane) bool {
		return strings.HasPrefix(p.Title, "⠋ Wörk") && strings.HasSuffix(p.Title, "now #{pid} #(date);")
	})
}

// A program that runs in a folder with a line of the listing for its name must
// not be able to say that another pane is dead.
func TestListingCannotBeForged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	victim := mustOpen(t, s, spec(t))
	line := strings.ReplaceAll(strings.Replace(listFormat, "#{pane_id}", string(victim), 1), "\t", "\t1")
	for _, name := range []string{"a\tb\nc", "\n" + strings.Map(noSlash, line)[:200]} {
		sp := spec(t)
		sp.Dir = filepath.Join(sp.Dir, name)
		if err := os.Mkdir(sp.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		id := mustOpen(t, s, sp)
		await(t, s, id, func(p Pane) bool { return strings.HasPrefix(p.Path, filepath.Dir(sp.Dir)) && p.Tags == sp.Tags })
	}
	if got := panes(t, s); len(got) != 3 {
		t.Errorf("%d panes", len(got))
	}
	if p := await(t, s, victim, opened); p.Dead {
		t.Errorf("%+v", p)
	}
}

func noSlash(r rune) rune {
	if r == '/' {
		return '-'
	}
	return r
}

// PAINS row 44: a person's pane beside ours is not taken for one of ours.
func TestUntaggedPanesHaveNoTags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mine := mustOpen(t, s, spec(t))
	theirs := PaneID(must(t, s, []string{"split-window", "-d", "-P", "-F", "#{pane_id}", "-t", string(mine), "sleep", "1000"}))
	if p := await(t, s, theirs, opened); p.Tags != (Tags{}) {
		t.Errorf("tags %+v", p.Tags)
	}
}

// A second view of a session lists its panes again; they are still the same.
func TestGroupedSessionsListPanesOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	must(t, s, []string{"new-session", "-d", "-s", "another-view", "-t", sessionTarget("fleet")})
	mustOpen(t, s, spec(t))
	list := panes(t, s)
	if len(list) != 2 {
		t.Fatalf("panes: %+v", list)
	}
	for _, p := range list {
		if p.Session != "fleet" {
			t.Errorf("pane %s is said to be in %s", p.ID, p.Session)
		}
	}
}

func TestListingThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"rubbish\n", "%1\t2\n", "\n", strings.Repeat("\t", strings.Count(listFormat, "\t")) + "\n"} {
		s, err := New(func(context.Context, proc.Cmd) ([]byte, error) { return []byte(out), nil }, "fleet-demo", "")
		if err != nil {
			t.Fatal(err)
		}
		if list, err := s.Panes(t.Context()); !errors.Is(err, ErrNoAnswer) || list != nil {
			t.Errorf("%q: %v, %v", out, list, err)
		}
	}
}

// tmux can miss the end of a program, by chance: then it is made to look.
func TestMissedDeathIsCollected(t *testing.T) {
	t.Parallel()
	missed := []byte("%1\t42\t1\t\t" + strings.Repeat("\t", strings.Count(listFormat, "\t")-4) + "\n")
	for name, c := range map[string]struct {
		second proc.Runner
		want   int
	}{
		"collected": {func(_ context.Context, c proc.Cmd) ([]byte, error) {
			if !slices.Contains(c.Args, "run-shell") {
				t.Errorf("no child was started: %q", c.Args)
			}
			return bytes.Replace(missed, []byte("\t1\t"), []byte("\t1\t3"), 1), nil
		}, 3},
		"hanging": {fails(-1, "", context.DeadlineExceeded), -1},
	} {
		s, err := New(then(func(context.Context, proc.Cmd) ([]byte, error) { return missed, nil }, c.second), "fleet-demo", "")
		if err != nil {
			t.Fatal(err)
		}
		p, found, err := s.Pane(t.Context(), "%1")
		if err != nil || !found || !p.Dead || p.ExitCode != c.want {
			t.Errorf("%s: %+v, %v, %v", name, p, found, err)
		}
	}
}

// The status of a program comes a moment after its terminal closed.
func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, signal string
		want           int
	}{{"0", "", 0}, {"3", "", 3}, {"", "9", 137}, {"", "", -1}, {"", "0", -1}} {
		if got := exitCode(c.status, c.signal); got != c.want {
			t.Errorf("status %q, signal %q: %d, not %d", c.status, c.signal, got, c.want)
		}
	}
}
