package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

// stop ends a turn, unless the agent only waits for work that it left in the
// background. A check that is due comes first, and what it finds sends the agent
// back to work; so does a next task, in the same session.
func (s *session) stop(ctx context.Context) ([]byte, error) {
	if s.in.paused() {
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		return nil, s.dir.Update(ctx, func(st *roster.State) error { return st.Activity(s.ws, s.epoch) })
	}
	again, err := s.check(ctx)
	if err != nil {
		return nil, err
	}
	if again != "" {
		return goOn(again), nil
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	t, _, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	var next string
	err = s.dir.Update(ctx, func(st *roster.State) error {
		if _, err := st.Audit(s.ws, s.epoch, roster.Shell{Tool: "stop", Stamp: t.stamp}); err != nil {
			return err
		}
		if err := st.TurnEnded(s.ws, s.epoch, s.in.LastMessage); err != nil {
			return err
		}
		next, err = st.GoOn(s.ws, s.epoch, s.dir.Present)
		return err
	})
	if err != nil || next == "" {
		return nil, err
	}
	return goOn(s.dir.Prompt(next)), nil
}

// goOn keeps the agent from ending its turn and tells it what to do instead.
func goOn(reason string) []byte {
	text, err := json.Marshal(map[string]string{"decision": "block", "reason": reason})
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(text, '\n')
}

// whenFenced ends a check whose worker is gone, or has been given up: its result would count for nothing.
func (s *session) whenFenced(ctx context.Context, end func()) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.dir.View(ctx, func(st *roster.State) error { return st.Fence(s.ws, s.epoch) })
		if roster.IsStale(err) {
			end()
			return
		}
	}
}

// check runs the command that must succeed before the task in hand counts as
// done. It holds no lock meanwhile, and may take longer than a hook otherwise. It
// returns what to tell the agent if the command fails and the agent has another try.
func (s *session) check(ctx context.Context) (again string, err error) {
	var c roster.Check
	var due bool
	err = s.dir.View(ctx, func(st *roster.State) error {
		c, due = st.CheckDue(s.ws, s.epoch)
		return nil
	})
	if err != nil || !due {
		return "", err
	}
	if err := s.dir.Update(ctx, func(st *roster.State) error { return st.Checking(s.ws, s.epoch, c) }); err != nil {
		return "", err
	}
	run, cancel := context.WithCancel(ctx)
	go s.whenFenced(run, cancel)
	out, failure := proc.Shell(run, s.in.CWD, c.Command, s.dir.Config.VerifyTimeout)
	cancel()
	sendBack := false
	err = s.dir.Update(ctx, func(st *roster.State) (err error) {
		sendBack, err = st.Checked(s.ws, s.epoch, c, failure == nil)
		return err
	})
	if !sendBack {
		return "", err
	}
	return fmt.Sprintf("%s isn't done: its check `%s` fails (%v). Mend it and end your turn again; the check is then repeated. Its output ends with:\n%s",
		c.Task, c.Command, failure, out), err
}
