package rundir

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fleet/roster"
)

// transitions change a run as atWork makes it, each by another mixture of files that are replaced and added to.
var transitions = map[string]func(*roster.State) error{
	// leases.tsv and events.jsonl get lines
	"write": func(s *roster.State) error { return acquire(s, "WS01", 1, "c.go", "api/d.go") },
	// roster.tsv, tasks.tsv and leases.tsv are replaced
	"end": func(s *roster.State) error { return s.TurnEnded("WS01", 1, "there") },
	// roster.tsv and tasks.tsv are replaced, leases.tsv gets a line
	"begin": func(s *roster.State) error {
		if err := s.Add(roster.NewWorkstream{ID: "WS03", Text: "more"}); err != nil {
			return err
		}
		return errors.Join(start(s, "WS03"), acquire(s, "WS03", 1, "e.go"))
	},
	// leases.tsv alone is replaced
	"settle": func(s *roster.State) error { return s.FileWritten("WS01", 1, "a.go", "Write", "1:2") },
	// roster.tsv alone is replaced, and nothing is logged
	"beat": func(s *roster.State) error { return s.Heartbeat("WS02", "a note") },
	// events.jsonl alone gets a line
	"tell": func(s *roster.State) error { s.Note(roster.Notification, "WS01", "", nil); return nil },
}

// crashChild makes a transition, or with "look" only reads, and kills itself at a step.
func crashChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	step = func(name string) {
		if name == args[2] {
			kill()
		}
	}
	if args[1] == "look" {
		return d.View(ctx, func(*roster.State) error { return nil })
	}
	return d.Update(ctx, transitions[args[1]])
}

func crash(t *testing.T, d *Dir, transition, at string) {
	t.Helper()
	wasKilled(t, child(t, "crash", d.Path, transition, at).Run())
}

// steps are the points at which a function may be interrupted.
func steps(t *testing.T, fn func()) (names []string) {
	t.Helper()
	step = func(name string) { names = append(names, name) }
	defer func() { step = func(string) {} }()
	fn()
	return names
}

// kill -9 at every step of a commit leaves the old state or the new one, which the next process finds whole.
func TestCrash(t *testing.T) {
	for name, transition := range transitions {
		d := atWork(t)
		before := look(t, d)
		points := steps(t, func() { update(t, d, transition) })
		after := look(t, d)
		if !slices.Contains(points, "committed") || cmp.Equal(before, after) && name != "settle" {
			t.Fatalf("%s: steps %v, from %v to %v", name, points, before, after)
		}
		for i, at := range points {
			t.Run(name+"/"+at, func(t *testing.T) {
				t.Parallel() // each waits for the disk and for a process
				d := atWork(t)
				crash(t, d, name, at)
				must(t, legible(d))
				want := before
				if slices.Index(points, "committed") <= i {
					want = after
				}
				eq(t, "state", look(t, d), want)
				goesOn(t, d)
			})
		}
	}
}

// goesOn fails the test unless a run is as good as new.
func goesOn(t *testing.T, d *Dir) {
	t.Helper()
	before := look(t, d)
	update(t, d, func(s *roster.State) error { return acquire(s, "WS02", 1, "next.go") })
	update(t, d, func(s *roster.State) error { return s.Claim("WS02", []string{"next"}) })
	after := look(t, d)
	eq(t, "leases of the next", len(after.Leases), len(before.Leases)+1)
	eq(t, "events of the next", len(after.Events), len(before.Events)+2)
	must(t, legible(d))
}

// A process that finishes what another has begun may be killed as well, at any step, and so may the one after it.
func TestCrashInRecovery(t *testing.T) {
	for _, name := range []string{"end", "begin"} {
		d := atWork(t)
		points := steps(t, func() { update(t, d, transitions[name]) })
		want := look(t, d)
		points = points[slices.Index(points, "committed")+1:]
		if len(points) < 3 {
			t.Fatalf("%s: only %v", name, points)
		}
		for _, by := range []string{"tell", "look"} {
			for _, at := range points {
				t.Run(name+"/"+by+"/"+at, func(t *testing.T) {
					t.Parallel()
					d := atWork(t)
					crash(t, d, name, "committed")
					crash(t, d, by, at)
					crash(t, d, by, at)
					must(t, legible(d))
					eq(t, "state", look(t, d), want)
					noRemains(t, d)
					goesOn(t, d)
				})
			}
		}
	}
}

// tornChild has no room for a line that it adds, and is killed before it could take back the half that it wrote, or just after.
func tornChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	info, err := os.Stat(d.file(args[1]))
	if err != nil {
		return err
	}
	step = func(name string) {
		switch name {
		case "committed":
			limit(uint64(info.Size()) + 20)
		case args[2]:
			kill()
		}
	}
	return d.Update(ctx, transitions["write"])
}

// A line that is cut in the middle is made whole by the next process, and until then no reader takes it for one.
func TestCrashInTheMiddleOfALine(t *testing.T) {
	d := atWork(t)
	update(t, d, transitions["write"])
	want := look(t, d)
	for _, file := range []string{eventsFile, leasesFile} {
		for at, left := range map[string]int{"failed": 20, "tails taken back": 0} {
			t.Run(file+"/"+at, func(t *testing.T) {
				t.Parallel()
				d := atWork(t)
				size := len(read(t, d.file(file)))
				wasKilled(t, child(t, "torn", d.Path, file, at).Run())
				eq(t, "size", len(read(t, d.file(file))), size+left)
				must(t, legible(d))
				last, err := d.LastEvent()
				must(t, err)
				eq(t, "last event", last, int64(begun))
				eq(t, "state", look(t, d), want)
				goesOn(t, d)
			})
		}
	}
}

// View finishes what a crashed writer had committed, so that a reader never sees half of it.
func TestViewFinishes(t *testing.T) {
	d := atWork(t)
	crash(t, d, "end", "replaced "+rosterFile)
	if _, err := os.Stat(d.file(txFile)); err != nil {
		t.Fatalf("no commit is pending: %v", err)
	}
	w, err := d.Workstream(t.Context(), "WS01")
	must(t, err)
	eq(t, "status", w.Status, roster.Done)
	eq(t, "task in hand", w.TaskID, "")
	noRemains(t, d)
	eq(t, "leases", look(t, d).Leases, []string{"b.go WS02"})
}

// A commit that can't be read is nobody's to guess: everything stops and says so.
func TestUnreadableCommit(t *testing.T) {
	d := atWork(t)
	write(t, d.file(txFile), `{"replace":["roster.tsv"`)
	for _, err := range []error{
		d.Update(t.Context(), func(*roster.State) error { return nil }),
		d.View(t.Context(), func(*roster.State) error { return nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), ".tx.json can't be read") {
			t.Errorf("got %v", err)
		}
	}
	must(t, os.Remove(d.file(txFile)))
	goesOn(t, d)
}

// What stands in the way of a commit makes it fail whole, and leaves nothing behind that would make the next one fail.
func TestCommitThatFails(t *testing.T) {
	full := func(t *testing.T, path string) { must(t, os.Symlink("/dev/full", path)) }
	dir := func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) }
	for _, name := range []string{".roster.tsv.new", ".tasks.tsv.new", ".leases.tsv.new", ".tx.json.new"} {
		for what, obstacle := range map[string]func(*testing.T, string){"full disk": full, "directory": dir} {
			t.Run(name+"/"+what, func(t *testing.T) {
				d := atWork(t)
				before, want := look(t, d), files(t, d)
				obstacle(t, d.file(name))
				err := d.Update(t.Context(), transitions["end"])
				if err == nil || !strings.Contains(err.Error(), "nothing changed: write ") {
					t.Errorf("got %v", err)
				}
				eq(t, "files", files(t, d), want)
				eq(t, "state", look(t, d), before)
				noRemains(t, d)
				goesOn(t, d)
			})
		}
	}
	t.Run("the commit itself", func(t *testing.T) {
		d := atWork(t)
		want := files(t, d)
		step = func(at string) {
			if at == "commit written" {
				dir(t, d.file(txFile))
			}
		}
		err := d.Update(t.Context(), transitions["end"])
		step = func(string) {}
		if err == nil || !strings.Contains(err.Error(), "nothing changed") {
			t.Errorf("got %v", err)
		}
		eq(t, "files", files(t, d), want)
		noRemains(t, d)
		goesOn(t, d)
	})
}

// Once it is decided, a commit whose files can't be put in place is no failure but work left for the next process.
func TestCommitThatCantBeFinished(t *testing.T) {
	d := atWork(t)
	update(t, d, transitions["end"])
	want := look(t, d)
	d = atWork(t)
	old := read(t, d.file(tasksFile))
	step = func(at string) {
		if at == "replaced "+rosterFile {
			must(t, os.Remove(d.file(tasksFile)))
			write(t, d.file(tasksFile+"/in the way"), "")
		}
	}
	err := d.Update(t.Context(), transitions["end"])
	step = func(string) {}
	if err == nil || !strings.Contains(err.Error(), "committed, but not in place yet") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := d.Update(t.Context(), func(*roster.State) error { return nil }); err == nil {
			t.Error("a commit was begun before the last one was finished")
		}
	}
	must(t, os.RemoveAll(d.file(tasksFile)))
	write(t, d.file(tasksFile), old)
	eq(t, "state", look(t, d), want)
	goesOn(t, d)
}

// A commit that fails and can't even be taken back says so; it is finished later, as a crashed one would be.
func TestCommitThatCantBeTakenBack(t *testing.T) {
	d := atWork(t)
	update(t, d, transitions["write"])
	want := look(t, d)
	d = atWork(t)
	log := read(t, d.file(eventsFile))
	step = func(at string) {
		if at == "appended "+leasesFile {
			must(t, os.Remove(d.file(eventsFile)))
			write(t, d.file(eventsFile+"/in the way"), "")
		}
	}
	err := d.Update(t.Context(), transitions["write"])
	step = func(string) {}
	if err == nil || !strings.Contains(err.Error(), "it could not be taken back") {
		t.Errorf("got %v", err)
	}
	must(t, os.RemoveAll(d.file(eventsFile)))
	write(t, d.file(eventsFile), log)
	eq(t, "state", look(t, d), want)
	goesOn(t, d)
}
