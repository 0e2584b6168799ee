package master

import (
	"context"
	"path/filepath"
	"slices"

	"fleet/internal/git"
	"fleet/roster"
)

// CleanLanes removes the worktrees and branches of lanes that have nothing of their own, and tells what becomes
// of each: "removed", "kept" or "locked". What is alive, not committed or not in the base branch stays.
func (l *Lander) CleanLanes(ctx context.Context, told func(id, what, why string)) error {
	unlock, err := l.Dir.Exclusive(ctx, spawnLock) // or a tree that is being made would look like one of no use
	if err != nil {
		return err
	}
	defer unlock()
	rows, err := l.rows(ctx)
	if err != nil {
		return err
	}
	if _, _, err := l.look(ctx); l.base == "" {
		return err
	}
	trees, err := l.git.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range rows {
		if w.Lane == "" || w.Tree == roster.MainTree {
			continue
		}
		what, why, err := l.cleanLane(ctx, w, trees)
		if err != nil {
			what, why = "locked", err.Error()
		}
		if what != "" {
			told(w.Name, what, roster.Flat(why))
		}
	}
	return nil
}

func (l *Lander) cleanLane(ctx context.Context, w roster.Workstream, trees []git.Worktree) (what, why string, err error) {
	if l.Dir.Alive(w.ID) {
		return "kept", "its worker is alive", nil
	}
	nothing := "nothing in it that " + l.base + " lacks"
	i := slices.IndexFunc(trees, func(t git.Worktree) bool { return t.Path == filepath.Join(l.Dir.Root, w.Tree) })
	if i >= 0 {
		if why, err := l.unsaved(ctx, trees[i]); why != "" || err != nil {
			return "kept", why, err
		}
		return "removed", nothing, l.removeTree(ctx, trees[i])
	}
	at, exists, err := l.git.Commit(ctx, git.BranchRef(w.Branch())) // its folder is gone
	if err != nil || !exists {
		return "", "", err
	}
	if merged, err := l.git.Contains(ctx, git.BranchRef(l.base), at); err != nil || !merged {
		return "kept", "not all of its commits are in " + l.base, err
	}
	return "removed", nothing, l.git.DeleteBranch(ctx, w.Branch(), at)
}
