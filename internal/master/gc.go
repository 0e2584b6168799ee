package master

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fleet/internal/git"
	"fleet/roster"
	"fleet/tmux"
)

// Leftover is something that a run has made and that may be of no more use.
type Leftover struct {
	What   string // "worktree", "branch" or "pane", and which
	Why    string // it may go, or has to stay
	remove func(context.Context) error
}

// Removable reports whether it may go.
func (l Leftover) Removable() bool { return l.remove != nil }

// Remove removes what may go. What has changed since it was looked at is refused by git.
func (l Leftover) Remove(ctx context.Context) error { return l.remove(ctx) }

// Leftovers lists what the run has made and left: worktrees, branches and panes. What
// is dirty, unmerged, alive or not this run's stays, whatever happens.
func (l *Lander) Leftovers(ctx context.Context) ([]Leftover, error) {
	listed, err := l.rows(ctx)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]roster.Workstream) // by the branch that a worktree of it would have
	for _, w := range listed {
		rows[w.Branch()] = w
	}
	if _, _, err := l.look(ctx); l.base == "" { // nothing else that is wrong with it matters here
		return nil, err
	}
	trees, err := l.git.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var all []Leftover
	inTree := make(map[string]bool)
	mine := filepath.Join(l.Dir.Root, l.Dir.Config.WorktreeRoot, l.Dir.Slug()+"-")
	lanes := filepath.Join(l.Dir.Root, roster.LaneTree(l.Dir.Slug(), ""))
	for _, t := range trees {
		inTree[t.Branch] = true
		if !strings.HasPrefix(t.Path, mine) && !strings.HasPrefix(t.Path, lanes) {
			continue
		}
		w, known := rows[t.Branch]
		left := Leftover{What: "worktree " + l.Dir.Rel(t.Path)}
		if left.Why, err = l.whyKeep(ctx, w, known, t); err != nil {
			left.Why = err.Error()
		} else if left.Why == "" {
			left.Why = w.ID + " has landed"
			left.remove = func(ctx context.Context) error { return l.removeTree(ctx, t) }
		}
		all = append(all, left)
	}
	for _, branch := range slices.Sorted(maps.Keys(rows)) {
		w := rows[branch]
		if w.Status != roster.Landed || inTree[branch] {
			continue
		}
		head, exists, err := l.git.Commit(ctx, git.BranchRef(branch))
		if err != nil || !exists {
			continue
		}
		left := Leftover{What: "branch " + branch, Why: "not all of it is in " + l.base}
		if merged, err := l.git.Contains(ctx, git.BranchRef(l.base), head); err == nil && merged {
			left.Why, left.remove = w.ID+" has landed", func(ctx context.Context) error { return l.git.DeleteBranch(ctx, branch, head) }
		}
		all = append(all, left)
	}
	panes, err := l.deadPanes(ctx)
	return append(all, panes...), err
}

// whyKeep is what keeps a worktree from being removed; empty if nothing does.
func (l *Lander) whyKeep(ctx context.Context, w roster.Workstream, known bool, t git.Worktree) (string, error) {
	switch {
	case !known:
		return "it is on no branch of a workstream of this run", nil
	case l.Dir.Alive(w.ID):
		return "the worker of " + w.ID + " is alive", nil
	case w.Status != roster.Landed:
		return fmt.Sprintf("%s is %s, and has not landed", w.ID, w.Status), nil
	}
	return l.unsaved(ctx, t)
}

// removeTree removes a worktree and its branch. Both are asked again whether they may go, by git.
func (l *Lander) removeTree(ctx context.Context, t git.Worktree) error {
	if err := l.git.RemoveWorktree(ctx, t.Path); err != nil {
		return err
	}
	return l.git.DeleteBranch(ctx, t.Branch, t.Head)
}

// unsaved is what would be lost with a worktree and its branch; empty if nothing would.
func (l *Lander) unsaved(ctx context.Context, t git.Worktree) (string, error) {
	tree := git.In(l.Run, t.Path)
	places, err := tree.Places(ctx)
	if err == nil {
		err = git.Idle(places.Root)
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(places.GitDir, "modules")); err == nil {
		return "the commits of its submodules may be nowhere else", nil
	}
	status, err := tree.Status(ctx)
	if err != nil {
		return "", err
	}
	if len(status.Changes) > 0 {
		return "not committed: " + quoteAll(status.Paths()), nil
	}
	merged, err := l.git.Contains(ctx, git.BranchRef(l.base), t.Head)
	if err == nil && !merged {
		return "not all of its commits are in " + l.base, nil
	}
	return "", err
}

// deadPanes are the panes of the run whose program has ended.
func (l *Lander) deadPanes(ctx context.Context) (dead []Leftover, err error) {
	panes, err := l.panes(ctx, func(p tmux.Pane) bool { return p.Dead })
	for _, p := range panes {
		dead = append(dead, Leftover{
			What: fmt.Sprintf("pane %s of %s", p.ID, p.Tags.WS), Why: "its program has ended",
			remove: func(ctx context.Context) error {
				return l.removePanes(ctx, func(now tmux.Pane) bool { return now.Dead && now.ID == p.ID })
			},
		})
	}
	return dead, err
}
