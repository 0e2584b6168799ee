package master

import (
	"context"
	"slices"

	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/rundir"
)

// Revert undoes on the base branch what a workstream has landed, by one commit that is tested like any other.
func (l *Lander) Revert(ctx context.Context, ws string) (sha string, err error) {
	w, err := l.Dir.Workstream(ctx, ws)
	if err != nil {
		return "", err
	}
	if w.Status != roster.Landed {
		return "", roster.Refusef("%s has not landed", ws)
	}
	commits, err := l.landed(ctx, ws)
	if err != nil {
		return "", err
	}
	if len(commits) == 0 {
		return "", roster.Dataf("%s has landed no commit, so there is nothing to revert", ws)
	}
	begun, err := l.undo(ctx, ws, commits)
	if err == nil {
		err = l.test(ctx, ws, begun.To)
	}
	if err == nil {
		err = l.move(ctx, begun)
	}
	if err != nil {
		return "", err
	}
	return begun.To, l.settle(context.WithoutCancel(ctx), begun)
}

// undo makes the commit that reverts others, in the scratch worktree.
func (l *Lander) undo(ctx context.Context, ws string, commits []string) (rundir.Landing, error) {
	to := rundir.Landing{WS: ws, Base: l.base, Revert: true}
	var err error
	if to.From, err = l.tip(ctx); err != nil {
		return to, err
	}
	if err := l.git.AddScratch(ctx, l.scratch(), to.From); err != nil {
		return to, err
	}
	scratch := git.In(l.Run, l.scratch())
	if err := scratch.Revert(ctx, "revert: fleet/"+ws, commits); err != nil {
		return to, l.gated(ws, "revert", err)
	}
	if to.To, _, err = scratch.Commit(ctx, "HEAD"); err != nil {
		return to, err
	}
	diff, err := l.git.Diff(ctx, to.From, to.To)
	if err != nil {
		return to, err
	}
	return to, l.inTheWay(ctx, diff.Paths)
}

// landed lists the commits that a workstream has brought into the base branch, newest
// first: those between which the branch moved, or in the main checkout its own.
func (l *Lander) landed(ctx context.Context, ws string) ([]string, error) {
	var from, to string
	var own []string
	for e, err := range l.Dir.Events(0) {
		if err != nil {
			return nil, err
		}
		if e.WS != ws {
			continue
		}
		switch e.Type {
		case roster.CommitMade:
			own = append(own, text(e.Data["sha"]))
		case roster.LandingDone:
			from, to = text(e.Data["from"]), text(e.Data["to"])
		case roster.LandingReverted:
			own = nil
		}
	}
	if from != to {
		return l.git.Since(ctx, from, to)
	}
	slices.Reverse(own)
	return own, nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
