package rundir

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"slices"

	"fleet/roster"
)

// AddWorkstream registers a workstream with its first task, and writes the brief of that.
func (d *Dir) AddWorkstream(ctx context.Context, n roster.NewWorkstream) error {
	return d.add(ctx, func(s *roster.State) ([]Brief, error) {
		if err := s.Add(n); err != nil {
			return nil, err
		}
		w, err := s.Workstream(n.ID)
		if err != nil {
			return nil, err
		}
		return []Brief{{Task: n.ID, Title: w.Task, Text: n.Text, WS: n.ID, Claims: w.Claims}}, nil
	})
}

// AddTasks puts tasks into the graph, all of them or none, writes their briefs,
// and returns their ids. One without an id that isn't pinned gets a random one.
func (d *Dir) AddTasks(ctx context.Context, batch []roster.NewTask) (ids []string, err error) {
	batch = slices.Clone(batch)
	for i := range batch {
		if batch[i].ID == "" && batch[i].Workstream == "" {
			if err := batch[i].Check(); err != nil { // before it has an id that nobody knows
				return nil, err
			}
			batch[i].ID = newTaskID()
		}
	}
	err = d.add(ctx, func(s *roster.State) (briefs []Brief, err error) {
		briefs, err = addTasks(s, batch)
		ids = ids[:0]
		for _, b := range briefs {
			ids = append(ids, b.Task)
		}
		return briefs, err
	})
	return ids, err
}

// AddQueues registers workstreams with the tasks that are pinned to them, all of them or none.
func (d *Dir) AddQueues(ctx context.Context, streams []roster.NewWorkstream, queue []roster.NewTask) error {
	return d.add(ctx, func(s *roster.State) ([]Brief, error) {
		for _, n := range streams {
			if err := s.AddSlot(n); err != nil {
				return nil, err
			}
		}
		return addTasks(s, queue)
	})
}

func addTasks(s *roster.State, batch []roster.NewTask) ([]Brief, error) {
	ids, err := s.AddTasks(batch)
	if err != nil {
		return nil, err
	}
	briefs := make([]Brief, len(batch))
	for i, n := range batch {
		briefs[i] = Brief{Task: ids[i], Title: roster.Title(cmp.Or(n.Title, n.Description)), Text: n.Description, Scope: n.Scope}
	}
	return briefs, nil
}

func newTaskID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "t_" + hex.EncodeToString(b[:])
}

// add applies a transition that adds tasks, and writes the briefs that it returns
// first: whoever sees a task finds its brief. fn is called twice.
func (d *Dir) add(ctx context.Context, fn func(*roster.State) ([]Brief, error)) error {
	unlock, err := d.Exclusive(ctx, "briefs")
	if err != nil {
		return err
	}
	defer unlock()
	var briefs []Brief
	err = d.View(ctx, func(s *roster.State) (err error) {
		briefs, err = fn(s)
		return err
	})
	if err != nil {
		return err
	}
	made, err := d.writeBriefs(briefs)
	if err == nil {
		err = d.Update(ctx, func(s *roster.State) error { _, err := fn(s); return err })
	}
	if err != nil {
		for _, path := range made {
			_ = os.Remove(path) // no task needs it
		}
	}
	return err
}

// writeBriefs returns the files that it made. A brief that is there already is somebody's work and stays.
func (d *Dir) writeBriefs(briefs []Brief) (made []string, err error) {
	for _, b := range briefs {
		path := d.Brief(b.Task)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		body, err := d.briefText(b)
		if err != nil {
			return made, err
		}
		made = append(made, path)
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			return made, err
		}
	}
	return made, nil
}
