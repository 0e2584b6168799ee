package master

import (
	"context"
	"time"

	"fleet/roster"
)

// given is one assignment of a task: its id and its attempt.
type given struct {
	ID      string
	Attempt int
}

// firstTask is the assignment with which a worker will begin, zero if there is none.
func (f *Fleet) firstTask(ctx context.Context, ws string) (first given, err error) {
	err = f.Dir.View(ctx, func(s *roster.State) error {
		w, err := s.Workstream(ws)
		if err != nil {
			return err
		}
		if id := s.FirstTask(w); id != "" {
			first = given{id, s.Task(id).Attempts + 1}
		}
		return nil
	})
	return first, err
}

// deliverAgain is how long a prompt waits that could not be typed: a draft or a dialog was in the way.
const deliverAgain = 5 * time.Second

// deliver types each task that a worker is given into its pane, until the worker
// is fenced, which is the error. Those that it got by its command line, or goes on
// with at the end of a turn, are begun without it.
func (f *Fleet) deliver(ctx context.Context, w *roster.Workstream, done given) error {
	err := f.lookout(ctx, shortRest, func(due bool) (again time.Time, err error) {
		a, err := f.assigned(ctx, w.ID, w.Epoch, due)
		if roster.IsStale(err) {
			return again, err
		}
		if err != nil {
			return time.Now().Add(deliverAgain), nil //nolint:nilerr // the run dir is busy, or gone for a moment
		}
		if a.ID != "" && a.given != done {
			if _, err := f.Send(ctx, w.ID, f.Dir.Prompt(a.ID)); err != nil {
				return time.Now().Add(deliverAgain), nil //nolint:nilerr // a draft or a dialog is in the way
			}
			done = a.given
		}
		if a.waits {
			again = a.due
		}
		return again, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
