package master

import (
	"context"
	"errors"
	"time"

	"fleet/roster"
)

// errSeen ends a lookout.
var errSeen = errors.New("seen")

// Rests between two looks, so that many workers who watch a busy run don't keep the machine from its work.
const (
	shortRest = 100 * time.Millisecond // of who waits for work
	longRest  = time.Second            // of who has some
)

// lookout calls look now, after each change of who or what, and at the time that look
// asks for, which due says then. Between two looks it rests. It ends with an error of
// look's, or with the context. Zero asks for no time.
func (f *Fleet) lookout(ctx context.Context, rest time.Duration, look func(due bool) (again time.Time, err error)) error {
	wake, stop := f.Dir.Changes()
	defer stop()
	var seen string
	var again time.Time
	for {
		now, due := f.Dir.Version(), !again.IsZero() && !time.Now().Before(again)
		if now != seen || due {
			seen = now
			var err error
			if again, err = look(due); err != nil {
				return err
			}
			if err := sleep(ctx, rest); err != nil {
				return err
			}
		}
		var alarm <-chan time.Time
		if !again.IsZero() {
			alarm = time.After(time.Until(again))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		case <-alarm:
		}
	}
}

// assignment is what a worker is to do, as its row says it.
type assignment struct {
	given
	waits bool      // it has nothing in hand, and could be given something
	due   time.Time // when to look at the clock again; zero is never
}

// sweepEvery is how often a worker that waits lets the scheduler look although
// nothing has changed, while there are tasks that wait: what holds them up may have died.
const sweepEvery = 10 * time.Second

// assigned reads what a worker has been given and has not begun. A worker that
// waits looks after the clock: what is due now is given out first.
func (f *Fleet) assigned(ctx context.Context, ws string, epoch int, due bool) (a assignment, err error) {
	read := func(s *roster.State) error {
		if err := s.Fence(ws, epoch); err != nil {
			return err
		}
		w, err := s.Workstream(ws)
		if err != nil {
			return err
		}
		a = assignment{waits: w.Waits() || w.Parked(), due: s.Due()}
		if sweep := s.Now.Add(sweepEvery); a.waits && s.Pending() && (a.due.IsZero() || sweep.Before(a.due)) {
			a.due = sweep
		}
		if t := s.Task(w.TaskID); t != nil && t.Status == roster.TaskAssigned {
			a.given = given{t.ID, t.Attempts}
		}
		return nil
	}
	err = f.Dir.View(ctx, read)
	if err != nil || !a.waits || !due {
		return a, err
	}
	if err := f.Tick(ctx, func(roster.Decision) {}); err != nil {
		return a, err
	}
	return a, f.Dir.View(ctx, read)
}
