package tmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fleet/internal/proc"
)

// The session's first pane is the first worker's, and panes stay in the order
// in which they were opened.
func TestOpenLeavesNoPlaceholder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var want []PaneID
	for i := range 4 {
		sp := spec(t)
		sp.Tags.Epoch = i
		want = append(want, mustOpen(t, s, sp))
	}
	var got []PaneID
	for i, p := range panes(t, s) {
		got = append(got, p.ID)
		if p.Tags != (Tags{Run: "demo", WS: "WS01", Epoch: i}) || p.Title != "WS01" || p.Session != "fleet" || p.Window != "workers" {
			t.Errorf("pane %d is %+v", i, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("opened %v, listed %v", want, got)
	}
}

// CFN-96, T1, PAINS row 24: a session whose name only begins alike is another one.
func TestOpenIsNotFooledByPrefixes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	other := spec(t)
	other.Session, other.Window, other.Tags.Run = "fleet_2", "workers_2", "other"
	mustOpen(t, s, other)
	mine := mustOpen(t, s, spec(t))
	windows := spec(t)
	windows.Window = "work"
	mustOpen(t, s, windows)
	p := await(t, s, mine, opened)
	if p.Session != "fleet" || p.Width != 200 {
		t.Errorf("opened in %+v", p)
	}
	if got := must(t, s, []string{"list-windows", "-a", "-F", "#{session_name}:#{window_name} #{window_panes}"}); got != "fleet:workers 1\nfleet:work 1\nfleet_2:workers_2 1" {
		t.Errorf("windows are\n%s", got)
	}
}

// T16, PAINS rows 22 and 23.
func TestOpenWithBaseIndexOne(t *testing.T) {
	t.Parallel()
	s := newServer(t, "set -g base-index 1", "set -g pane-base-index 1", "set -g renumber-windows on")
	for range maxPanesPerWindow + 2 {
		id := mustOpen(t, s, spec(t))
		if err := s.Enter(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(t, s, []string{"list-windows", "-a", "-F", "#{window_index} #{window_panes}"}); got != "1 6\n2 2" {
		t.Errorf("windows are\n%s", got)
	}
}

// PAINS rows 6 and 44: a session that is not ours is refused as it stands.
func TestOpenRefusesForeignSessions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	other := spec(t)
	other.Session, other.Tags.Run = "other", "otherrun"
	mustOpen(t, s, other)
	must(t, s, []string{"new-session", "-d", "-s", "person", "sleep", "1000"})
	before := panes(t, s)
	for session, owner := range map[string]string{"other": "otherrun", "person": ""} {
		sp := spec(t)
		sp.Session = session
		_, err := s.Open(t.Context(), sp)
		foreign, ok := errors.AsType[*ForeignSessionError](err)
		if !ok || foreign.Session != session || foreign.Owner != owner || !strings.Contains(err.Error(), session) {
			t.Errorf("session %s: %v", session, err)
		}
	}
	if after := panes(t, s); !slices.Equal(before, after) {
		t.Errorf("panes changed from %+v to %+v", before, after)
	}
}

// T9, PAINS row 37.
func TestExitCodeOfProgramThatFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for want, args := range map[int][]string{
		3:       {"sh", "-c", "exit 3"},
		0:       {"true", "x"},
		1:       {"/no/such/program", "x"},
		128 + 9: {"sh", "-c", "kill -9 $$"},
	} {
		sp := spec(t)
		sp.Args = args
		id := mustOpen(t, s, sp)
		await(t, s, id, func(p Pane) bool { return p.Dead && p.ExitCode == want && p.Tags == sp.Tags })
	}
}

// The last words of a program can still be read. (They can be lost if it ends
// before tmux has read them, so this one waits to be told.)
func TestLastWords(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sp := spec(t)
	sp.Args = []string{"sh", "-c", "stty -echo; echo one; echo went wrong; read -r go; exit 3"}
	id := mustOpen(t, s, sp)
	said := func(history int, want string) {
		t.Helper()
		eventually(t, want, func() bool {
			got, err := s.Capture(t.Context(), id, history)
			return err == nil && got == want
		})
	}
	said(0, "one\nwent wrong")
	if err := s.Enter(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	await(t, s, id, func(p Pane) bool { return p.Dead && p.ExitCode == 3 })
	said(1, "one\nwent wrong")
}

// PAINS rows 20 and 42: nothing between us and the program's argv, environment
// and folder reads any of it: no shell, no format, no command separator.
func TestProgramGetsEverythingVerbatim(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i, name := range []string{"a b", "ü ⠋", "#{pane_id}", "#(touch x)", "a#[b##[c", "semi;", "quote'\"", "$HOME", "~", "%d", "tab\tnewline\nend", "#"} {
		sp := spec(t)
		sp.Dir = filepath.Join(sp.Dir, name)
		if err := os.Mkdir(sp.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "report")
		sp.Session = fmt.Sprintf("s%d", i%2) // the first pane of a session, and a split
		sp.Env = []string{roleVar + "=report", "FACT=" + name, "EMPTY="}
		sp.Args = []string{os.Args[0], file, name, "", ";", "-x"}
		mustOpen(t, s, sp)
		var got report
		eventually(t, "the report from "+name, func() bool {
			data, err := os.ReadFile(file)
			return err == nil && json.Unmarshal(data, &got) == nil
		})
		if got.Dir != sp.Dir || !slices.Equal(got.Args, sp.Args) {
			t.Errorf("%q ran in %q as %q", name, got.Dir, got.Args)
		}
		for _, kv := range sp.Env {
			if !slices.Contains(got.Env, kv) {
				t.Errorf("%q is not in the environment", kv)
			}
		}
	}
}

// T7, PAINS row 47: 40 workers on a terminal of 80x24.
func TestFortyPanes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	must(t, s, []string{"set-option", "-t", insideTarget("fleet"), "default-size", "80x24"},
		[]string{"resize-window", "-t", insideTarget("fleet"), "-x", "80", "-y", "24"})
	for range 39 {
		mustOpen(t, s, spec(t))
	}
	if got := panes(t, s); len(got) != 40 {
		t.Errorf("%d panes", len(got))
	}
	for _, line := range strings.Split(must(t, s, []string{"list-windows", "-a", "-F", "#{window_name} #{window_panes} #{window_width}x#{window_height}"}), "\n") {
		if line != "workers 6 80x24" && line != "workers 4 80x24" {
			t.Errorf("window %s", line)
		}
	}
}

// T7: a person may have squeezed the pane that is to be split.
func TestOpenEvensThePanesOutFirst(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	last := mustOpen(t, s, spec(t))
	must(t, s, []string{"select-layout", "-t", string(last), "even-vertical"}, []string{"resize-pane", "-t", string(last), "-y", "1"})
	mustOpen(t, s, spec(t))
	if got := must(t, s, []string{"list-windows", "-a", "-F", "#{window_panes}"}); got != "3" {
		t.Errorf("panes in the windows: %q", got)
	}
	for _, p := range panes(t, s) {
		if p.Height < 20 {
			t.Errorf("pane %s is %dx%d", p.ID, p.Width, p.Height)
		}
	}
}

// A window that is too small for another pane is passed over, not fatal.
func TestNoSpaceOpensAnotherWindow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := mustOpen(t, s, spec(t))
	must(t, s, []string{"resize-window", "-t", string(first), "-x", "4", "-y", "2"})
	mustOpen(t, s, spec(t))
	mustOpen(t, s, spec(t))
	if got := must(t, s, []string{"list-windows", "-a", "-F", "#{window_panes}"}); got != "1\n2" {
		t.Errorf("panes in the windows: %q", got)
	}
}

// PAINS row 17 and want 9: what a person looks at stays in front, and as it is.
func TestOpenNeverFocuses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	mustOpen(t, s, spec(t))
	focus := func() string {
		return must(t, s, []string{"display-message", "-p", "-t", insideTarget("fleet"), "#{pane_id} #{window_id} #{window_zoomed_flag}"})
	}
	must(t, s, []string{"resize-pane", "-Z", "-t", insideTarget("fleet")})
	before := focus()
	elsewhere := spec(t)
	elsewhere.Window = "elsewhere"
	mustOpen(t, s, elsewhere)
	for range maxPanesPerWindow {
		mustOpen(t, s, spec(t))
	}
	if after := focus(); after != before || !strings.HasSuffix(after, " 1") {
		t.Errorf("focus went from %q to %q", before, after)
	}
}

func TestOpenChecksItsSpec(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*PaneSpec){
		"session name (T14)":   func(p *PaneSpec) { p.Session = "a.b" },
		"window name":          func(p *PaneSpec) { p.Window = "#(date)" },
		"missing folder (T8)":  func(p *PaneSpec) { p.Dir = filepath.Join(p.Dir, "gone") },
		"file for a folder":    func(p *PaneSpec) { p.Dir = file },
		"relative folder":      func(p *PaneSpec) { p.Dir = "." },
		"one word for a shell": func(p *PaneSpec) { p.Args = []string{"echo hello"} },
		"no program":           func(p *PaneSpec) { p.Args = nil },
		"environment":          func(p *PaneSpec) { p.Env = []string{"KEY"} },
		"empty key":            func(p *PaneSpec) { p.Env = []string{"=x"} },
		"no run":               func(p *PaneSpec) { p.Tags.Run = "" },
		"tag":                  func(p *PaneSpec) { p.Tags.WS = "a\tb" },
	} {
		sp := spec(t)
		spoil(&sp)
		if id, err := s.Open(t.Context(), sp); err == nil || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
	if got := panes(t, s); len(got) != 0 {
		t.Errorf("something was opened: %+v", got)
	}
}

// T6: what tmux cannot take is an error, and no half-made pane is left.
func TestTooLongArgumentsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	kept := mustOpen(t, s, spec(t))
	sp := spec(t)
	sp.Args = []string{"echo", strings.Repeat("x", 20_000)}
	if _, err := s.Open(t.Context(), sp); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("20 kB of arguments: %v", err)
	}
	if got := panes(t, s); len(got) != 1 || got[0].ID != kept {
		t.Errorf("panes: %+v", got)
	}
}

// A step that fails, or a caller that gives up, leaves nothing half-made.
func TestFailedStepKillsThePane(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	kept := mustOpen(t, s, spec(t))
	broken := errors.New("broken")
	for name, fail := range map[string]func(context.CancelFunc) error{
		"error":  func(context.CancelFunc) error { return broken },
		"cancel": func(cancel context.CancelFunc) error { cancel(); return context.Canceled },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		failing := *s
		failing.run = func(ctx context.Context, c proc.Cmd) ([]byte, error) {
			if slices.Contains(c.Args, "respawn-pane") {
				return nil, fail(cancel)
			}
			return proc.Run(ctx, c)
		}
		if _, err := failing.Open(ctx, spec(t)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := panes(t, s); len(got) != 1 || got[0].ID != kept {
			t.Errorf("%s: panes: %+v", name, got)
		}
	}
}
