package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The product learns that its wrapper was killed, and by what.
func TestOnDeathFiresAfterSIGKILL(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	file := filepath.Join(t.TempDir(), "it's #{pid} $HOME")
	sp := spec(t)
	sp.OnDeath = []string{"touch", file + "2"}
	id := mustOpen(t, s, sp)
	// printf gets what no shell, no format and no command parser may change.
	args := []string{"it's", `"$HOME"`, "#{pane_id}", "#(date)", "new\nline", "semi;", `back\slash`, "ü", ""}
	argv := append([]string{"sh", "-c", `echo noise; printf '<%s>' "$@" >>"$0"; exit 3`, file}, args...)
	if err := s.OnDeath(t.Context(), id, argv); err != nil {
		t.Fatal(err)
	}
	p := await(t, s, id, func(p Pane) bool { return p.Command == "sleep" })
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, s, id, func(p Pane) bool { return p.Dead && p.ExitCode == 137 })
	holds(t, file, "<"+strings.Join(args, "><")+">")
	for _, p := range panes(t, s) {
		if p.InMode {
			t.Errorf("the output of the command is shown in %+v", p)
		}
	}
	if _, err := os.Stat(file + "2"); err == nil {
		t.Error("the first command ran, too")
	}
}

// The program may end before anybody could ask.
func TestOnDeathOfTheDead(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sp := spec(t)
	sp.Args = []string{"true", "x"}
	id := mustOpen(t, s, sp)
	await(t, s, id, func(p Pane) bool { return p.Dead })
	file := filepath.Join(t.TempDir(), "ran")
	if err := s.OnDeath(t.Context(), id, []string{"sh", "-c", `printf '%s.' "$0" >>"$1"`, "once", file}); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "once.")
	file = filepath.Join(t.TempDir(), "ran")
	sp.OnDeath = []string{"sh", "-c", `printf '%s.' "$0" >>"$1"`, "once", file}
	mustOpen(t, s, sp)
	holds(t, file, "once.")
	if err := s.OnDeath(t.Context(), "%99", []string{"true"}); !errors.Is(err, ErrNoPane) {
		t.Errorf("a pane that is gone: %v", err)
	}
}

// PAINS row 44: the pane that was meant goes, without its hook, and no other.
func TestKill(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, last := mustOpen(t, s, spec(t)), mustOpen(t, s, spec(t))
	theirs := PaneID(must(t, s, []string{"split-window", "-d", "-P", "-F", "#{pane_id}", "-t", string(id), "sleep", "1000"}))
	fired, other := filepath.Join(t.TempDir(), "fired"), filepath.Join(t.TempDir(), "other")
	if err := errors.Join(s.OnDeath(t.Context(), id, []string{"touch", fired}), s.OnDeath(t.Context(), last, []string{"touch", other})); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, found, err := s.Pane(t.Context(), id); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	await(t, s, theirs, opened)
	// By the time that a later death has been answered, the hook would have run.
	if err := syscall.Kill(await(t, s, last, opened).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, s, last, func(p Pane) bool { return p.Dead })
	eventually(t, "the hook of the other pane", func() bool { _, err := os.Stat(other); return err == nil })
	if _, err := os.Stat(fired); err == nil {
		t.Error("Kill triggered the hook")
	}
	for _, nobody := range []PaneID{"", "fleet", "%", "%-1", "%1 ", "workers"} {
		if err := s.Kill(t.Context(), nobody); err != nil {
			t.Errorf("Kill %q: %v", nobody, err)
		}
	}
	if got := panes(t, s); len(got) != 2 {
		t.Errorf("panes: %+v", got)
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sp := spec(t)
	long := strings.Repeat("ü", 450) // more than two rows of 200 cells
	sp.Args = []string{"sh", "-c", `seq 100; printf '%s\n\n  end  \n\n' "$0"; exec sleep 1000`, long}
	id := mustOpen(t, s, sp)
	tail := "100\n" + long + "\n\n  end"
	eventually(t, "the text", func() bool {
		screen, err := s.Capture(t.Context(), id, 0)
		return err == nil && strings.HasSuffix(screen, tail)
	})
	screen, err := s.Capture(t.Context(), id, 0)
	if err != nil || strings.HasPrefix(screen, "1\n") {
		t.Errorf("the screen alone begins with %.20q, %v", screen, err)
	}
	all, err := s.Capture(t.Context(), id, 1000)
	if err != nil || !strings.HasPrefix(all, "1\n2\n3\n") || !strings.HasSuffix(all, tail) {
		t.Errorf("with history: %q, %v", all, err)
	}
	for _, nobody := range []PaneID{"%99", "", "fleet"} {
		if _, err := s.Capture(t.Context(), nobody, 0); !errors.Is(err, ErrNoPane) {
			t.Errorf("Capture %q: %v", nobody, err)
		}
	}
}
