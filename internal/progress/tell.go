package progress

import (
	"context"
	"errors"
	"sync"

	"fleet/roster"
	"fleet/roster/rundir"
)

// Tell hands on each event after the one of that id, as it comes, until end is called,
// which hands on those that are left.
func Tell(ctx context.Context, d *rundir.Dir, after int64, event func(roster.Event) error) (end func() error) {
	ctx, stop := context.WithCancel(ctx)
	last := after
	tell := func(e roster.Event) error {
		last = e.ID
		return event(e)
	}
	var told sync.WaitGroup
	var err error
	told.Go(func() { err = d.Follow(ctx, after, tell) })
	return func() error {
		stop()
		told.Wait()
		for e, lost := range d.Events(last) {
			if lost != nil {
				return errors.Join(err, lost)
			}
			err = errors.Join(err, tell(e))
		}
		return err
	}
}
