package master

import (
	"context"
	"slices"

	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// WriteHandoff writes down where a workstream stands, what isn't committed in its
// tree included, and returns the file's path.
func (f *Fleet) WriteHandoff(ctx context.Context, ws string) (path string, err error) {
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return "", err
	}
	return f.Dir.Handoff(ws), f.Dir.WriteHandoff(ctx, ws, git.In(f.Run, f.Dir.Tree(&w)).Dirty(ctx))
}

// HandOff ends the worker of a workstream, if it has one, and calls a spare to go
// on with its task by its handoff: the spare of number k, or the first that stands
// by if k is 0. Whether the agent comes up again is AwaitUp's question.
func (f *Fleet) HandOff(ctx context.Context, ws string, k int) (Launched, error) {
	return f.start(ctx, ws, SpawnOptions{Instead: true}, func(ctx context.Context, p Plan) (l Launched, err error) {
		if p.Spare, err = f.spare(ws, k); err != nil {
			return l, err
		}
		pane, err := f.sparePane(ctx, ws, p.Spare)
		if err != nil {
			return l, err
		}
		if pane == "" {
			p.Mode = roster.Manual // it stands by in a terminal of the user's
		}
		if err := f.handOver(ctx, &p); err != nil {
			return l, err
		}
		l, err = f.launch(ctx, p) // which is the call
		if err == nil && pane != "" {
			l, err = f.seat(ctx, l, pane)
		}
		if err == nil {
			err = f.awaitWrapper(ctx, l)
		}
		return l, err
	})
}

// handOver ends the worker that runs for the one of a plan, which goes on with its task and its files.
func (f *Fleet) handOver(ctx context.Context, p *Plan) error {
	ws := p.WS.ID
	if err := f.Dir.Update(ctx, func(s *roster.State) error { return s.HandOver(ws) }); err != nil {
		return err
	}
	p.Over = true
	if pid := f.Dir.LivePID(ws); pid > 0 {
		if err := f.end(ctx, ws, pid); err != nil {
			return err
		}
	}
	return f.removePanes(ctx, func(p tmux.Pane) bool { return p.Tags.WS == ws })
}

// Replace writes a workstream's handoff and has a fresh agent go on by it: a spare that
// stands by, or one that is opened for it.
func (f *Fleet) Replace(ctx context.Context, ws string) (l Launched, err error) {
	if _, err := f.WriteHandoff(ctx, ws); err != nil {
		return l, err
	}
	if len(f.Dir.Spares(ws)) == 0 {
		if l.Plan, err = f.PlanSpares(ctx, ws, SpawnOptions{}); err != nil {
			return l, err
		}
		if err = f.SpawnSpare(ctx, l, 1); err != nil {
			return l, err
		}
	}
	return f.HandOff(ctx, ws, 0)
}

// seat makes the pane of a spare that was called the worker's.
func (f *Fleet) seat(ctx context.Context, l Launched, pane tmux.PaneID) (Launched, error) {
	server, err := f.Tmux()
	if err != nil {
		return l, err
	}
	err = server.Tag(ctx, pane, tmux.Tags{Run: f.Dir.Path, WS: l.WS.ID, Epoch: l.Epoch})
	if err == nil {
		err = server.OnDeath(ctx, pane, f.reapArgs(l))
	}
	return f.settle(ctx, l, pane, err)
}

// spare finds the spare of number k that stands by, or the first one if k is 0.
func (f *Fleet) spare(ws string, k int) (int, error) {
	standing := f.Dir.Spares(ws)
	switch {
	case k > 0 && slices.Contains(standing, k):
		return k, nil
	case k == 0 && len(standing) > 0:
		return standing[0], nil
	}
	no := roster.Refusef("%s has no spare that stands by", ws)
	if k > 0 {
		no = roster.Refusef("%s does not stand by", rundir.Spare(ws, k))
	}
	return 0, no.Hinted("fleet spawn %s --spares 1", ws)
}

// sparePane finds the pane of a spare, "" if it runs elsewhere.
func (f *Fleet) sparePane(ctx context.Context, ws string, k int) (tmux.PaneID, error) {
	name := rundir.Spare(ws, k)
	panes, err := f.panes(ctx, func(p tmux.Pane) bool { return p.Tags.WS == name && !p.Dead && p.PID == f.Dir.LivePID(name) })
	if err != nil || len(panes) == 0 {
		return "", err
	}
	return panes[0].ID, nil
}
