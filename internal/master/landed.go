package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// move moves the base branch to a tested commit, if it is where it was when that was made.
func (l *Lander) move(ctx context.Context, to rundir.Landing) (at standing, err error) {
	unlock, err := lockRepository(ctx, l.places)
	if err != nil {
		return at, err
	}
	defer unlock()
	at, err = l.standing(ctx)
	if err == nil && !to.Revert { // the test took its time
		err = l.Dir.View(ctx, func(s *roster.State) error { return s.Landable(to.WS) })
	}
	if err != nil {
		return at, err
	}
	if at.base != to.From {
		return at, roster.Refusef("%s has moved since %s was tested", l.base, to.WS).Hinted("land it again")
	}
	if err := l.Dir.BeginLanding(to); err != nil {
		return at, err
	}
	ctx = proc.Steady(ctx)
	switch {
	case to.From == to.To:
	case at.checkout == "":
		err = l.git.MoveBranch(ctx, l.base, to.From, to.To)
	default:
		err = git.In(l.Run, at.checkout).FastForward(ctx, to.From, to.To)
	}
	if err != nil {
		return at, errors.Join(err, l.Dir.EndLanding())
	}
	at.base = to.To
	return at, nil
}

// settle does what follows when the base branch has moved to where it is now. It can be done again from the start.
func (l *Lander) settle(ctx context.Context, done rundir.Landing, now standing) error {
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
	if err := l.rebaseOthers(ctx, done, now); err != nil {
		return err
	}
	if err := l.clear(ctx, done, now.base); err != nil {
		l.Said("note: %s has landed; %v", done.WS, err)
	}
	return l.Dir.EndLanding()
}

// clear removes the worktree and the branch of what has landed. The branch goes only while the base
// branch is where it was seen to hold all of it.
func (l *Lander) clear(ctx context.Context, done rundir.Landing, base string) error {
	if done.Branch == "" {
		return nil
	}
	if _, err := os.Stat(done.Tree); err == nil {
		if err := l.git.RemoveWorktree(ctx, done.Tree); err != nil {
			return fmt.Errorf("%s stays, since %w", done.Tree, err)
		}
	}
	if err := l.git.DeleteMerged(ctx, done.Branch, done.Lane, done.Base, base); err != nil {
		_, exists, lookErr := l.git.Commit(ctx, git.BranchRef(done.Branch))
		if exists || lookErr != nil { // else an earlier try was killed right behind it
			return fmt.Errorf("%s stays, since %w", done.Branch, err)
		}
	}
	return nil
}

// rebaseOthers moves the lanes that are still in flight onto the new base. One that
// meets a conflict is marked; one at work, or with changes, waits until it lands.
func (l *Lander) rebaseOthers(ctx context.Context, done rundir.Landing, now standing) error {
	var others []roster.Workstream
	err := l.Dir.View(ctx, func(s *roster.State) error {
		for _, w := range s.Workstreams {
			if w.ID != done.WS && w.Tree != roster.MainTree && w.Tree != "" && s.Landable(w.ID) == nil && l.hasTree(&w) {
				others = append(others, w)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range others {
		err := l.rebase(ctx, w, done.Base, now)
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

func (l *Lander) hasTree(w *roster.Workstream) bool {
	_, err := os.Stat(l.Dir.Tree(w))
	return err == nil
}

func (l *Lander) rebase(ctx context.Context, w roster.Workstream, base string, now standing) error {
	tree := l.Dir.Tree(&w)
	if !slices.ContainsFunc(now.trees, func(t git.Worktree) bool { return t.Path == tree && t.Branch == w.Branch() }) {
		return fmt.Errorf("%s is not on its branch %s", tree, w.Branch())
	}
	if err := git.Idle(tree); err != nil {
		return err
	}
	return l.gated(w.ID, "rebase onto "+base, git.In(l.Run, tree).Rebase(ctx, now.base))
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
	var now standing
	if now.base, _, err = l.git.Commit(ctx, git.BranchRef(begun.Base)); err != nil {
		return err
	}
	moved, err := l.git.Contains(ctx, now.base, begun.To)
	if err != nil {
		return err
	}
	if !moved {
		return l.Dir.EndLanding()
	}
	if now.trees, err = l.git.Worktrees(ctx); err != nil {
		return err
	}
	l.Said("finishing the landing of %s, which was interrupted", begun.WS)
	return l.settle(ctx, *begun, now)
}
