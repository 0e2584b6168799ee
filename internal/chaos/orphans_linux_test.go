package chaos

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fleet/internal/scripted"
	"fleet/roster"
)

// slowShell is a shell call that writes to a file late: when there is a file "go". It is a
// loop of sh itself, so that whoever ends a session has more to end than its agent.
const slowShell = `echo early >> shared.txt; while ! test -e go; do sleep 0.02; done; echo late >> shared.txt`

func writing(name, text string) scripted.Step {
	return scripted.Step{Tool: "Write", Input: map[string]any{"file_path": name, "content": text}}
}

// stage is a world in which a task is tried twice. The first session is to be killed in the
// middle of its steps. The second one stands still with the file in its hands until there is a file "end".
func stage(t *testing.T, first ...scripted.Step) (*world, *exec.Cmd) {
	t.Helper()
	w := newWorld(t, double)
	w.loadTasks([]roster.NewTask{{ID: "T1", Title: "be killed", MaxAttempts: 3}}, []scripted.Script{{Turns: []scripted.Turn{
		{Steps: first, Message: "I am a zombie"},
		{Steps: []scripted.Step{writing("shared.txt", "whole\n"), {Await: "end"}}, Message: "done"},
	}}})
	run, err := w.start(t.Output(), w.exe, "run", "--runners", "1")
	check(t, err)
	w.await("the first session writes", func(f *fold) bool { return len(f.spans["shared.txt"]) == 1 && w.has("shared.txt") })
	return w, run
}

// wroteAgain reports whether the second session of a stage has the file in its hands.
func wroteAgain(f *fold) bool { return len(f.spans["shared.txt"]) == 2 && f.held["shared.txt"].wrote }

// What ends in the middle of a shell call, the agent of a headless session or its wrapper, takes the
// call with it: its lease goes to others, and so it must write no more.
func TestKilledInACall(t *testing.T) {
	for _, k := range []kind{worker, wrapper} {
		t.Run(string(k), func(t *testing.T) {
			w, run := stage(t, scripted.Step{Tool: "Bash", Input: map[string]any{"command": slowShell}})
			w.killThe(k)
			w.await("the next session writes", wroteAgain)
			w.await("the call has ended", func(*fold) bool {
				return len(w.mine(func(p process) bool { return strings.Contains(strings.Join(p.args, " "), "test -e go") })) == 0
			})
			w.write("go", "")
			w.finish(run, "whole\n")
		})
	}
}

// A wrapper is killed, and so is what should end its session with it: the agent goes on. Whatever it
// tries to write then is denied, and what it reports counts for nothing.
func TestZombie(t *testing.T) {
	w, run := stage(t, writing("shared.txt", "a zombie's\n"), scripted.Step{Await: "go"}, writing("shared.txt", "a zombie's\n"), writing("zombie.txt", "x"))
	zombie := w.only(func(p process) bool { return p.kind() == worker })
	w.kill(w.only(func(p process) bool { return strings.HasPrefix(p.args[len(p.args)-1], "read _;") }))
	w.killThe(wrapper)
	w.await("the next session writes", wroteAgain)
	w.write("go", "")
	w.await("the zombie has ended", func(*fold) bool {
		return !slices.ContainsFunc(w.victims(worker), func(p process) bool { return p.pid == zombie.pid })
	})
	if w.has("zombie.txt") {
		t.Error("the zombie has written zombie.txt")
	}
	f := w.finish(run, "whole\n")
	if f.denied[roster.DenyStale] != 2 {
		t.Errorf("denied were %v, want the two writes of the zombie", f.denied)
	}
}

// finish lets the graph end, and looks at what came of it.
func (w *world) finish(run *exec.Cmd, shared string) *fold {
	w.t.Helper()
	w.write("end", "")
	check(w.t, run.Wait())
	f := newFold()
	check(w.t, errors.Join(w.look(w.t.Context(), f), f.ended(1)))
	if got, err := os.ReadFile(filepath.Join(w.repo, "shared.txt")); err != nil || string(got) != shared {
		w.t.Errorf("shared.txt is %q, want %q (%v)", got, shared, err)
	}
	if t := f.tasks["T1"]; t.Attempts != 2 {
		w.t.Errorf("T1 has succeeded in attempt %d, want 2", t.Attempts)
	}
	w.settled(w.t.Context())
	return f
}

func (w *world) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.repo, name))
	return err == nil
}

// killThe kills the one process of a kind.
func (w *world) killThe(k kind) {
	w.t.Helper()
	if p := w.only(func(p process) bool { return p.kind() == k }); !w.kill(p) {
		w.t.Fatalf("%+v has ended by itself", p)
	}
}

// only is the one process of its sort, once there is one: what starts another one is two for a moment.
func (w *world) only(which func(process) bool) (p process) {
	w.t.Helper()
	w.await("there is one process", func(*fold) bool {
		all := w.mine(which)
		if len(all) == 1 {
			p = all[0]
		}
		return len(all) == 1
	})
	return p
}

// await looks at the events until they, or what is asked besides, are as is wanted.
func (w *world) await(what string, ok func(*fold) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	f := newFold()
	for {
		check(w.t, w.look(ctx, f))
		if ok(f) {
			return
		}
		if !sleep(ctx, 10*time.Millisecond) {
			w.t.Fatalf("waited in vain until %s\n%s", what, w.plight())
		}
	}
}
