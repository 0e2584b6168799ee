package rundir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"fleet/roster"
)

// Update applies one transition to the state of the run, under the lock. What fn
// returns without an error is committed whole; otherwise nothing changes. fn must
// be quick and do no I/O: everybody waits for it.
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
	l, err := d.load(true)
	if err != nil {
		return err
	}
	return fn(&l.state)
}

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
	unlock, err := d.acquire(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.recover(); err != nil {
		return err
	}
	l, err := d.load(withTasks)
	if err != nil {
		return err
	}
	if err := fn(&l.state); err != nil {
		return err
	}
	return l.commit()
}

// loaded is the state of the run with the files that it was read from.
type loaded struct {
	dir        *Dir
	state      roster.State
	workstream *table[roster.Workstream]
	tasks      *table[roster.Task] // nil when they weren't asked for
	leases     *leaseFile
	texts      map[string]string // as read, by file
}

func (d *Dir) load(withTasks bool) (*loaded, error) {
	l := &loaded{dir: d, texts: make(map[string]string, 3)}
	text, err := l.read(rosterFile)
	if err != nil {
		return nil, err
	}
	if l.workstream, err = parse(rosterFile, text, rosterColumns()); err != nil {
		return nil, err
	}
	if text, err = l.readOr(leasesFile, headerLine(leaseColumns(), nil)); err != nil {
		return nil, err
	}
	if l.leases, err = openLeases(text); err != nil {
		return nil, err
	}
	l.state = roster.State{
		Now: time.Now().UTC().Truncate(time.Millisecond), Strict: d.Config.Strict,
		Workstreams: l.workstream.rows, Leases: l.leases,
	}
	if !withTasks {
		return l, nil
	}
	if text, err = l.readOr(tasksFile, headerLine(taskColumns(), nil)); err != nil {
		return nil, err
	}
	if l.tasks, err = parse(tasksFile, text, taskColumns()); err != nil {
		return nil, err
	}
	l.state.Tasks = l.tasks.rows
	return l, nil
}

func (l *loaded) read(name string) (string, error) {
	text, err := os.ReadFile(l.dir.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", roster.Dataf("%s is gone", l.dir.Rel(l.dir.file(name))).Hinted("was the run dir removed? fleet init makes a new one")
	}
	l.texts[name] = string(text)
	return l.texts[name], err
}

// readOr reads a file that a run may still lack.
func (l *loaded) readOr(name, empty string) (string, error) {
	text, err := os.ReadFile(l.dir.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	l.texts[name] = string(text)
	return l.texts[name], err
}

// commit writes what the transition changed.
func (l *loaded) commit() error {
	if l.leases.err != nil {
		return l.leases.err
	}
	var t tx
	content := make(map[string]string)
	durable := false
	put := func(name, text string) {
		old, existed := l.texts[name]
		switch {
		case existed && old == text:
		case existed && name == leasesFile && strings.HasPrefix(text, old):
			t.Append = append(t.Append, tail{name, int64(len(old)), text[len(old):]})
		default:
			t.Replace = append(t.Replace, name)
			content[name] = text
		}
	}
	put(rosterFile, l.workstream.text(l.state.Workstreams))
	if l.tasks != nil {
		put(tasksFile, l.tasks.text(l.state.Tasks))
	}
	// Who and what must survive a power cut. Leases needn't: no process outlives one.
	durable = len(t.Replace) > 0
	if text := l.leases.now(); text != l.leases.original {
		put(leasesFile, text)
	}
	if events := l.state.Events(); len(events) > 0 {
		size, last, err := l.dir.eventTail()
		if err != nil {
			return err
		}
		lines, err := eventLines(events, last)
		if err != nil {
			return err
		}
		t.Append = append(t.Append, tail{eventsFile, size, lines})
	}
	if len(t.Replace) == 0 && len(t.Append) == 0 {
		return nil
	}
	if err := l.dir.commit(t, content, durable); err != nil {
		return fmt.Errorf("run dir %s: nothing changed: %w", l.dir.Rel(l.dir.Path), err)
	}
	return nil
}
