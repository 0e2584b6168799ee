package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"fleet/internal/agent"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/tmux"
)

// DrainOptions say how the graph is run to its end.
type DrainOptions struct {
	Runners int    // headless workers for the tasks that are pinned to nobody
	Brain   string // of those
	Limits  agent.Limits
	Ungated bool              // see PaneOptions
	Said    func(line string) // is told what the run does about its workers
}

// tickEvery is how often a run looks for what no event tells: a backoff or a
// deadline that passed, a worker that died.
const tickEvery = 500 * time.Millisecond

// deathsPerRunner bounds how many workers may die in a row, none of them with a
// task done in between, before the run gives up.
const deathsPerRunner = 3

// drain is one run of the graph to its end.
type drain struct {
	*Fleet
	DrainOptions
	started map[string]bool // workstreams whose worker it started
	deaths  int             // since the last task ended
	ended   int             // tasks that are not open, when last seen
}

// Drain starts the workers that the graph needs and keeps them until no task is
// open. Then, and when it is interrupted, it stops every headless worker: those that
// it started, and those that an earlier run left, which would wait for tasks for
// ever. What it leaves is a state that another run goes on from.
func (f *Fleet) Drain(ctx context.Context, o DrainOptions) error {
	d := &drain{Fleet: f, DrainOptions: o, started: make(map[string]bool)}
	if err := f.Dir.Update(ctx, func(s *roster.State) error { s.RunStarted(o.Runners); return nil }); err != nil {
		return err
	}
	err := d.run(ctx)
	if stopErr := d.stopAll(proc.Steady(ctx)); err == nil {
		err = stopErr
	}
	return err
}

func (d *drain) run(ctx context.Context) error {
	wake, stop := d.Dir.Changes()
	defer stop()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		if err := d.Tick(ctx, func(roster.Decision) {}); err != nil {
			return err
		}
		need, open, err := d.Needs(ctx, d.Runners, d.Brain)
		if err != nil || open == 0 {
			return err
		}
		if err := d.man(ctx, need); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		case <-tick.C:
		}
	}
}

// Need is the workers that the graph lacks.
type Need struct {
	Own   []string // workstreams with tasks of their own and without a worker
	Slots []string // workstreams without tasks of their own whose worker is gone; they can be used again
	More  int      // further workers for the tasks that are pinned to nobody
	Other []string // brains that tasks ask for and no worker has: one worker of each
	ended int
}

// Needs looks which workers the open tasks need, further ones being of a brain, and how many tasks are open.
func (f *Fleet) Needs(ctx context.Context, runners int, brain string) (n Need, open int, err error) {
	err = f.Dir.View(ctx, func(s *roster.State) error {
		own, brains, free := make(map[string]bool), make(map[string]bool), 0
		for i := range s.Tasks {
			t := &s.Tasks[i]
			switch {
			case !t.Open():
				n.ended++
			case t.Pinned:
				own[t.Workstream] = true
				open++
			default:
				free++
				open++
				brains[t.Brain] = true
			}
		}
		delete(brains, "") // any will do
		want := min(runners, free)
		for _, w := range s.Workstreams {
			before := len(n.Own) + len(n.Slots)
			switch alive := f.Dir.Alive(w.ID); {
			case alive && !own[w.ID]:
				want--
			case alive || w.Status == roster.Landed:
			case own[w.ID]:
				n.Own = append(n.Own, w.ID)
			case w.Task == "" && (len(n.Slots) < want || brains[w.Brain]):
				n.Slots = append(n.Slots, w.ID)
			}
			if f.Dir.Alive(w.ID) || len(n.Own)+len(n.Slots) > before {
				delete(brains, w.Brain)
			}
		}
		if n.More = max(0, want-len(n.Slots)); n.More > 0 {
			delete(brains, brain)
		}
		n.Other = slices.Sorted(maps.Keys(brains))
		return nil
	})
	return n, open, err
}

// man starts the workers that are missing.
func (d *drain) man(ctx context.Context, n Need) error {
	if n.ended != d.ended {
		d.ended, d.deaths = n.ended, 0
	}
	for _, brain := range append(slices.Repeat([]string{d.Brain}, n.More), n.Other...) {
		id, err := d.addSlot(ctx, brain)
		if err != nil {
			return err
		}
		n.Slots = append(n.Slots, id)
	}
	for _, id := range append(n.Own, n.Slots...) {
		if d.started[id] { // and is gone again
			d.deaths++
		}
		if d.deaths > deathsPerRunner*max(1, d.Runners) {
			return d.givesUp(ctx)
		}
		o := SpawnOptions{Headless: true, PaneOptions: PaneOptions{Serve: true, Ungated: d.Ungated, Limits: d.Limits}}
		d.started[id] = true
		l, err := d.Spawn(ctx, id, o)
		if err != nil && d.Dir.Alive(id) { // somebody else was quicker
			continue
		}
		if errors.Is(err, tmux.ErrNoAnswer) { // the next look tries again, as for one that has died
			d.Said(fmt.Sprintf("%s not started: %v", id, err))
			continue
		}
		if err != nil {
			return fmt.Errorf("start the worker of %s: %w", id, err)
		}
		d.Said(fmt.Sprintf("%s started: %s in pane %s", id, l.Brain.Name, l.Pane))
	}
	return nil
}

// givesUp says why workers die.
func (d *drain) givesUp(ctx context.Context) error {
	rows, err := d.rows(ctx)
	if err != nil {
		return err
	}
	var dying DyingError
	for _, w := range rows {
		if w.Status == roster.Dead {
			dying.Last = w.ID + ": " + w.Notes
		}
	}
	return &dying
}

// DyingError says that workers die as fast as they are started.
type DyingError struct{ Last string }

func (e *DyingError) Error() string { return "the workers keep dying; the last one, " + e.Last }

// addSlot registers a workstream for a worker of the graph.
func (d *drain) addSlot(ctx context.Context, brain string) (id string, err error) {
	err = d.Dir.Update(ctx, func(s *roster.State) error {
		id = s.FreeIDs(1)[0]
		return s.AddSlot(roster.NewWorkstream{ID: id, Brain: brain})
	})
	return id, err
}

// stopAll ends the headless workers.
func (d *drain) stopAll(ctx context.Context) error {
	rows, err := d.rows(ctx)
	headless := slices.DeleteFunc(rows, func(w roster.Workstream) bool { return w.Mode != roster.Headless })
	idleFirst(headless)
	for _, w := range headless {
		_, stopErr := d.Stop(ctx, w.ID)
		err = cmp.Or(err, stopErr)
	}
	if err != nil || len(headless) == 0 {
		return err
	}
	return d.closeServer(ctx)
}
