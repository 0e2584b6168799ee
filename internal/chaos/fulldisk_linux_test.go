package chaos

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"fleet/internal/proc"
	"fleet/internal/scripted"
	"fleet/roster"
)

// CF-102: a session ends when the disk of the run dir is full. Its wrapper keeps the report and tries again,
// loudly, until there is room: the attempt counts, and no other is needed.
func TestFullDiskForAWhile(t *testing.T) {
	w := newWorld(t, product)
	w.loadTasks([]roster.NewTask{{ID: "T1", Title: "meet a full disk", MaxAttempts: 3}}, []scripted.Script{{Turns: []scripted.Turn{
		{Steps: []scripted.Step{writing("a.txt", "whole\n"), {Await: "end"}}, Message: "done"},
	}}})
	run, err := w.start(t.Output(), w.exe, "run", "--runners", "1")
	check(t, err)
	w.await("it has written", func(f *fold) bool { return f.held["a.txt"] != nil && f.held["a.txt"].wrote })
	pid := w.only(func(p process) bool { return p.kind() == wrapper }).pid
	room := fileLimit(t, pid, 0)
	w.write("end", "")
	w.await("the wrapper tries again", func(*fold) bool { return strings.Contains(w.screen(), "trying again in") })
	fileLimit(t, pid, room)
	check(t, run.Wait())
	f := newFold()
	check(t, errors.Join(w.look(t.Context(), f), f.ended(1)))
	if got := f.tasks["T1"].Attempts; got != 1 {
		t.Errorf("T1 has succeeded in attempt %d, want the first", got)
	}
	w.settled(t.Context())
}

// fileLimit bounds the size to which a process may let files grow, as a full disk does, and returns what it was.
func fileLimit(t *testing.T, pid int, size uint64) (was uint64) {
	t.Helper()
	old := syscall.Rlimit{}
	prlimit := func(set, get *syscall.Rlimit) {
		_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
	}
	prlimit(nil, &old)
	prlimit(&syscall.Rlimit{Cur: size, Max: old.Max}, nil)
	return old.Cur
}

// screen is what the panes of the run show.
func (w *world) screen() string {
	var all strings.Builder
	for socket, panes := range w.servers() {
		for line := range strings.Lines(panes) {
			pane, _, _ := strings.Cut(line, " ")
			ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
			out, _ := proc.Run(ctx, proc.Cmd{Args: []string{"tmux", "-S", socket, "capture-pane", "-pJ", "-t", pane}, Env: w.env()}) // it may be gone
			cancel()
			all.Write(out)
		}
	}
	return all.String()
}
