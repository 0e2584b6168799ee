package rundir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	"fleet/roster"
)

// Update applies one transition to the state of the run, under the lock, and what
// the scheduler makes of it. What fn returns without an error is committed whole;
// otherwise nothing changes. fn must be quick and do no I/O: everybody waits for it.
func (d *Dir) Update(ctx context.Context, fn func(*roster.State) error) error {
	return d.update(ctx, true, fn)
}

// ErrWantTasks is returned by the function of UpdateLeases to be called again with the tasks.
var ErrWantTasks = errors.New("the transition needs the tasks")

// UpdateLeases is Update for the write check, the one thing that must be fast:
// the state is without its tasks, which are read only if fn asks by ErrWantTasks.
func (d *Dir) UpdateLeases(ctx context.Context, fn func(*roster.State) error) error {
	err := d.update(ctx, false, fn)
	if errors.Is(err, ErrWantTasks) {
		return d.update(ctx, true, fn)
	}
	return err
}

// View shows a consistent snapshot, in which nothing may be changed.
func (d *Dir) View(ctx context.Context, fn func(*roster.State) error) error {
	unlock, err := d.acquire(ctx, false)
	if err != nil {
		return err
	}
	if d.interrupted() { // finish it first, which takes the whole lock
		unlock()
		if unlock, err = d.acquire(ctx, true); err != nil {
			return err
		}
		if err := d.recover(); err != nil {
			unlock()
			return err
		}
	}
	defer unlock()
	return d.load(true, func(l *loaded) error {
		// Leases are read when they are asked for: what fn has seen counts only if they could be.
		err := fn(&l.state)
		return errors.Join(err, l.leases.err)
	})
}

// RosterText is roster.tsv as it is.
func (d *Dir) RosterText() ([]byte, error) { return os.ReadFile(d.file(rosterFile)) }

// Workstream returns a copy of one row.
func (d *Dir) Workstream(ctx context.Context, id string) (w roster.Workstream, err error) {
	err = d.View(ctx, func(s *roster.State) error {
		row, err := s.Workstream(id)
		if err == nil {
			w = *row
		}
		return err
	})
	return w, err
}

func (d *Dir) update(ctx context.Context, withTasks bool, fn func(*roster.State) error) error {
	return d.locked(ctx, withTasks, func(l *loaded) error {
		if err := fn(&l.state); err != nil {
			return err
		}
		if withTasks && l.state.Wakes() {
			if err := l.state.Tick(d.Present); err != nil {
				return err
			}
		}
		return l.commit()
	})
}

// locked loads the run under the lock, after what an earlier holder left undone is finished.
func (d *Dir) locked(ctx context.Context, withTasks bool, fn func(*loaded) error) error {
	asked := time.Now()
	unlock, err := d.acquire(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	waited := time.Since(asked)
	if err := d.recover(); err != nil {
		return err
	}
	return d.load(withTasks, func(l *loaded) error {
		l.waited = waited
		return fn(l)
	})
}

// loaded is the state of the run with the files that it was read from.
type loaded struct {
	dir        *Dir
	state      roster.State
	workstream *table[roster.Workstream]
	tasks      *table[roster.Task] // nil when they weren't asked for
	leases     *leaseFile
	leasesEnd  int64 // size of leases.tsv, -1 when there is none
	before     roster.State
	waited     time.Duration // for the lock
}

// load reads the run for fn.
func (d *Dir) load(withTasks bool, fn func(*loaded) error) error {
	l := &loaded{dir: d}
	text, err := readText(d.file(rosterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return roster.Dataf("%s is gone", d.Rel(d.file(rosterFile))).Hinted("was the run dir removed? fleet init makes a new one")
	}
	if err != nil {
		return err
	}
	if l.workstream, err = parse(rosterFile, text, rosterColumns()); err != nil {
		return err
	}
	leases, err := os.Open(d.file(leasesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() { _ = leases.Close() }()
	if err := l.openLeases(leases); err != nil {
		return err
	}
	l.state = roster.State{
		Now: time.Now().UTC().Truncate(time.Millisecond), Strict: d.Config.Strict,
		MaxAttempts: d.Config.MaxAttempts, TaskTimeout: d.Config.TaskTimeout,
		Workstreams: l.workstream.rows, Leases: l.leases,
	}
	if withTasks {
		l.state.UntilCommit = d.Config.UntilCommit && exists(filepath.Join(d.Root, ".git")) // for the end of a turn
		if err := l.loadTasks(); err != nil {
			return err
		}
	}
	l.before = roster.State{Workstreams: slices.Clone(l.state.Workstreams), Tasks: slices.Clone(l.state.Tasks)}
	return fn(l)
}

// A run may still lack the two tables that are read here.

func (l *loaded) openLeases(f *os.File) (err error) {
	if f == nil {
		none := headerLine(leaseColumns(), nil)
		l.leasesEnd = -1
		l.leases, err = openLeases(strings.NewReader(none), int64(len(none)))
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	l.leasesEnd = info.Size()
	l.leases, err = openLeases(f, l.leasesEnd)
	return err
}

func (l *loaded) loadTasks() error {
	text, err := readText(l.dir.file(tasksFile))
	gone := errors.Is(err, fs.ErrNotExist)
	if gone {
		text, err = headerLine(taskColumns(), nil), nil
	}
	if err != nil {
		return err
	}
	if l.tasks, err = parse(tasksFile, text, taskColumns()); err != nil {
		return err
	}
	l.tasks.stale, l.state.Tasks = gone, l.tasks.rows
	return nil
}

// readText reads a file into a string without a second copy of it.
func readText(path string) (string, error) {
	text, err := os.ReadFile(path)
	return unsafe.String(unsafe.SliceData(text), len(text)), err // text is nobody else's
}

// commit writes what the transition changed.
func (l *loaded) commit() error {
	if l.leases.err != nil {
		return l.leases.err
	}
	t, content := l.changes()
	events := l.state.Events()
	timeChecks(events, l.waited)
	if err := l.appendEvents(&t, events); err != nil {
		return err
	}
	if len(t.Replace) == 0 && len(t.Append) == 0 {
		return nil
	}
	// Who and what must survive a power cut. Leases needn't, since no worker outlives one.
	durable := slices.ContainsFunc(events, func(e roster.Event) bool { return !e.Type.AboutFiles() })
	if err := l.dir.commit(t, content, durable); err != nil {
		return fmt.Errorf("run dir %s: %w", l.dir.Rel(l.dir.Path), err)
	}
	return nil
}

// changes compares the tables with what was read. Rows are compared, not texts:
// most calls change none, and writing tables out is what takes time.
func (l *loaded) changes() (t tx, content map[string]string) {
	content = make(map[string]string)
	replace := func(name, text string) {
		t.Replace = append(t.Replace, name)
		content[name] = text
	}
	if l.workstream.differs(l.state.Workstreams, l.before.Workstreams) {
		replace(rosterFile, l.workstream.text(l.state.Workstreams))
	}
	if l.tasks != nil && l.tasks.differs(l.state.Tasks, l.before.Tasks) {
		replace(tasksFile, l.tasks.text(l.state.Tasks))
	}
	switch rows, whole := l.leases.change(); {
	case whole != "":
		replace(leasesFile, whole)
	case rows != "" && l.leasesEnd < 0:
		replace(leasesFile, headerLine(leaseColumns(), nil)+rows)
	case rows != "":
		t.Append = append(t.Append, tail{leasesFile, l.leasesEnd, rows})
	}
	return t, content
}

// differs reports whether rows are to be written: one has changed, or the file
// isn't there or is of an earlier version, which lacks columns.
func (t *table[T]) differs(now, before []T) bool {
	return t.stale || len(t.missing) > 0 || !reflect.DeepEqual(now, before)
}

func (l *loaded) appendEvents(t *tx, events []roster.Event) error {
	if len(events) == 0 {
		return nil
	}
	end, err := l.dir.eventEnd()
	if err != nil {
		return err
	}
	if end.offset < end.size {
		return fileErr(eventsFile, 0, "the last line is torn: no newline at its end")
	}
	lines, err := eventLines(events, end.lastID)
	if err != nil {
		return err
	}
	t.Append = append(t.Append, tail{eventsFile, end.offset, lines})
	return nil
}
