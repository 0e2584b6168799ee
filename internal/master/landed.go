package master

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/rundir"
)

// move moves the base branch to a tested commit, if it is where it was when that was made.
func (l *Lander) move(ctx context.Context, to rundir.Landing) error {
	if to.From == to.To {
		return l.Dir.BeginLanding(to)
	}
	unlock, err := lockRepository(ctx, l.places)
	if err != nil {
		return err
	}
	defer unlock()
	now, _, err := l.git.Commit(ctx, git.BranchRef(l.base))
	if err == nil && !to.Revert { // the test took its time
		err = l.Dir.View(ctx, func(s *roster.State) error { return s.Landable(to.WS) })
	}
	if err != nil {
		return err
	}
	if now != to.From {
		return roster.Refusef("%s has moved since %s was tested", l.base, to.WS).Hinted("land it again")
	}
	checkout, err := l.checkout(ctx)
	if err != nil {
		return err
	}
	if err := l.Dir.BeginLanding(to); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if checkout == nil {
		err = l.git.MoveBranch(ctx, l.base, to.From, to.To)
	} else {
		err = checkout.FastForward(ctx, to.From, to.To)
	}
	if err != nil {
		return errors.Join(err, l.Dir.EndLanding())
	}
	return nil
}

// checkout is the one that has the base branch checked out, nil if none has.
func (l *Lander) checkout(ctx context.Context) (*git.Git, error) {
	trees, err := l.git.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.Branch == l.base {
			return git.In(l.Run, t.Path), nil
		}
	}
	return nil, nil
}

// settle does what follows when the base branch has moved. It can be done again from the start.
func (l *Lander) settle(ctx context.Context, done rundir.Landing) error {
	change := (*roster.State).Land
	if done.Revert {
		change = (*roster.State).Unland
	}
	row, err := l.Dir.Workstream(ctx, done.WS)
	if err != nil {
		return err
	}
	if done.Branch != "" {
		if _, err := l.Stop(ctx, done.WS); err != nil {
			return err
		}
	}
	if row.Status == roster.Landed == done.Revert {
		landing := roster.Landing{Base: done.Base, From: done.From, To: done.To}
		if err := l.Dir.Update(ctx, func(s *roster.State) error { return change(s, done.WS, landing) }); err != nil {
			return err
		}
	}
	if err := l.rebaseOthers(ctx, done); err != nil {
		return err
	}
	if err := l.clear(ctx, done); err != nil {
		l.Said("note: %s has landed; %s stays, since %v", done.WS, done.Tree, err)
	}
	return l.Dir.EndLanding()
}

// clear removes the worktree and the branch of what has landed, once it is sure that the base branch has it all.
func (l *Lander) clear(ctx context.Context, done rundir.Landing) error {
	if done.Branch == "" {
		return nil
	}
	has, err := l.git.Contains(ctx, git.BranchRef(done.Base), done.Lane)
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("%s does not contain %s", done.Base, done.Lane)
	}
	if _, err := os.Stat(done.Tree); err == nil {
		if err := l.git.RemoveWorktree(ctx, done.Tree); err != nil {
			return err
		}
	}
	if _, exists, err := l.git.Commit(ctx, git.BranchRef(done.Branch)); err != nil || !exists {
		return err
	}
	return l.git.DeleteBranch(ctx, done.Branch, done.Lane)
}

// rebaseOthers moves the lanes that are still in flight onto the new base. One that
// meets a conflict is marked; one at work, or with changes, waits until it lands.
func (l *Lander) rebaseOthers(ctx context.Context, done rundir.Landing) error {
	var others []roster.Workstream
	err := l.Dir.View(ctx, func(s *roster.State) error {
		for _, w := range s.Workstreams {
			if w.ID != done.WS && w.Tree != roster.MainTree && w.Tree != "" && s.Landable(w.ID) == nil {
				others = append(others, w)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range others {
		err := l.rebase(ctx, w, done.To)
		if gate, closed := errors.AsType[*GateError](err); closed {
			l.Said("%v", gate)
			err = l.Dir.Update(ctx, func(s *roster.State) error { return s.FailToLand(w.ID, gate.Reason, "") })
		}
		if err != nil {
			l.Said("note: %s is not rebased: %v", w.ID, err)
		}
	}
	return nil
}

func (l *Lander) rebase(ctx context.Context, w roster.Workstream, onto string) error {
	tree := git.In(l.Run, l.Dir.Tree(&w))
	status, err := tree.Status(ctx)
	switch {
	case err != nil:
		return err
	case len(status.Changes) > 0 || status.Branch != w.Branch():
		return errors.New("its tree has changes that are not committed, or another branch")
	}
	return l.gated(w.ID, "rebase onto "+l.base, tree.Rebase(ctx, onto))
}

// resume finishes a landing whose branch has moved, and forgets one whose hasn't.
func (l *Lander) resume(ctx context.Context) error {
	if err := l.git.RemoveScratch(ctx, l.scratch()); err != nil {
		return err
	}
	begun, err := l.Dir.Landing()
	if err != nil || begun == nil {
		return err
	}
	moved, err := l.git.Contains(ctx, git.BranchRef(begun.Base), begun.To)
	if err != nil {
		return err
	}
	if !moved {
		return l.Dir.EndLanding()
	}
	l.Said("finishing the landing of %s, which was interrupted", begun.WS)
	return l.settle(ctx, *begun)
}
