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
		err = l.testMade(ctx, ws, begun.To)
	}
	return begun.To, l.finish(ctx, begun, err)
}

// undo makes the commit that reverts others, in the scratch worktree.
func (l *Lander) undo(ctx context.Context, ws string, commits []string) (to rundir.Landing, err error) {
	from, dirty, err := l.look(ctx)
	if err != nil {
		return to, err
	}
	to = rundir.Landing{WS: ws, Base: l.base, From: from, Revert: true}
	if err := l.git.AddScratch(ctx, l.scratch(), to.From); err != nil {
		return to, err
	}
	scratch := git.In(l.Run, l.scratch())
	if err := scratch.Revert(ctx, "revert: fleet/"+ws, commits); err != nil {
		return to, l.gated(ws, "revert", err)
	}
	var diff git.Diff
	if to.To, diff, err = scratch.Made(ctx); err != nil {
		return to, err
	}
	return to, l.inTheWay(dirty, diff.Paths)
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
