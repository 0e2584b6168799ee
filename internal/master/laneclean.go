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
		i := slices.IndexFunc(trees, func(t git.Worktree) bool { return t.Path == filepath.Join(l.Dir.Root, w.Tree) })
		if w.Lane == "" || i < 0 || w.Tree == roster.MainTree {
			continue
		}
		what, why := l.cleanLane(ctx, w, trees[i])
		told(w.Name, what, roster.Flat(why))
	}
	return nil
}

func (l *Lander) cleanLane(ctx context.Context, w roster.Workstream, t git.Worktree) (what, why string) {
	if l.Dir.Alive(w.ID) {
		return "kept", "its worker is alive"
	}
	why, err := l.unsaved(ctx, t)
	if err == nil && why == "" {
		if err = l.removeTree(ctx, t); err == nil {
			return "removed", "nothing in it that " + l.base + " lacks"
		}
		return "locked", err.Error()
	}
	if err != nil {
		why = err.Error()
	}
	return "kept", why
}
