package rundir

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// limit bounds the size to which this process may let a file grow.
func limit(size uint64) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		panic(err)
	}
	l.Cur = min(size, l.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		panic(err)
	}
}

// fullChild makes a transition with room for more and more bytes a file: beyond, a
// write is cut, and the next one fails. It prints what failed, until nothing does.
// A failure changes no file, except that one in which a commit is left to be finished may go on with that.
func fullChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	before, err := texts(d)
	_, pending := before[txFile]
	for room := uint64(0); err == nil; room += 13 {
		if room > 1<<16 {
			return errors.New("however much room there is, it fails")
		}
		limit(room)
		failed := d.Update(ctx, transitions[args[1]])
		limit(1 << 40)
		if failed == nil {
			return nil
		}
		fmt.Println(failed)
		after, readErr := texts(d)
		err = readErr
		if !errors.Is(failed, syscall.EFBIG) || !pending && !maps.Equal(before, after) {
			err = fmt.Errorf("room %d: %w, and the files are now %q", room, failed, after)
		}
	}
	return err
}

// Wherever the room ends, a commit fails as a whole, with an error, and nothing is left behind; with more room the next one works.
func TestFullDisk(t *testing.T) {
	for name, places := range map[string][]string{
		"write":  {"append to events.jsonl", "write .tx.json"},
		"end":    {"append to events.jsonl", "write roster.tsv", "write tasks.tsv"},
		"begin":  {"append to events.jsonl", "write .tx.json", "write roster.tsv", "write tasks.tsv"},
		"settle": {"append to events.jsonl", "write .tx.json", "write leases.tsv"},
		"beat":   {"write roster.tsv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := atWork(t)
			update(t, d, transitions[name])
			want := look(t, d)
			d = atWork(t)
			out, err := child(t, "full", d.Path, name).Output()
			must(t, err)
			failed := make(map[string]bool)
			for line := range strings.Lines(string(out)) {
				_, what, _ := strings.Cut(line, "planning/fleet-test: nothing changed: ")
				what, _, _ = strings.Cut(what, ":")
				failed[what] = true
			}
			eq(t, "where it failed", slices.Sorted(maps.Keys(failed)), places)
			eq(t, "state", look(t, d), want)
			noRemains(t, d)
			goesOn(t, d)
		})
	}
}

// Of two files that get lines, the first is taken back when there is no room for the second, or for itself.
func TestFullDiskForALine(t *testing.T) {
	for _, file := range []string{leasesFile, eventsFile} {
		d := atWork(t)
		before := files(t, d)
		var exit *exec.ExitError
		if err := child(t, "torn", d.Path, file, "no step").Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("the process was to fail, and ended with %v", err)
		}
		eq(t, "files", files(t, d), before)
		goesOn(t, d)
	}
}

// A process that has no room to finish what a crashed one has begun fails, and loses nothing of it.
func TestFullDiskInRecovery(t *testing.T) {
	for _, name := range []string{"write", "end", "begin"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := atWork(t)
			update(t, d, transitions[name])
			update(t, d, transitions["tell"])
			want := look(t, d)
			d = atWork(t)
			crash(t, d, name, "committed")
			out, err := child(t, "full", d.Path, "tell").Output()
			must(t, err)
			if !strings.Contains(string(out), "finish .tx.json: append to events.jsonl") {
				t.Errorf("the end of the room was not met in the recovery:\n%s", out)
			}
			eq(t, "state", look(t, d), want)
			noRemains(t, d)
			goesOn(t, d)
		})
	}
}
