package master

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fleet/internal/git"
	"fleet/roster"
)

// treeTimeout is for a checkout of a large repository.
const treeTimeout = 10 * time.Minute

// planTree decides in which checkout the worker will run.
func (f *Fleet) planTree(ctx context.Context, p *Plan) error {
	p.Tree, p.Dir = "main", f.Dir.Root
	if !f.Dir.Config.Worktree {
		return nil
	}
	g := git.In(f.Run, f.Dir.Root)
	trees, err := g.Worktrees(ctx)
	if err != nil {
		return roster.Usagef("FLEET_WORKTREE=on: %s is in no git repository", f.Dir.Root)
	}
	id := strings.ToLower(p.WS.ID)
	p.Tree = filepath.Join(f.Dir.Config.WorktreeRoot, f.Dir.Slug()+"-"+id)
	p.Dir = filepath.Join(f.Dir.Root, p.Tree)
	if p.WS.Tree == p.Tree && slices.ContainsFunc(trees, func(t git.Worktree) bool { return t.Path == p.Dir }) {
		return nil // an earlier worker of this workstream left it
	}
	p.Branch = "fleet/" + p.WS.ID
	return g.FreeBranch(ctx, p.Branch)
}

// makeTree makes the worktree of a plan.
func (f *Fleet) makeTree(ctx context.Context, p Plan) error {
	ctx, cancel := context.WithTimeout(ctx, treeTimeout)
	defer cancel()
	g := git.In(f.Run, f.Dir.Root)
	if err := g.Exclude(ctx, "/"+f.Dir.Config.WorktreeRoot+"/"); err != nil {
		return err
	}
	return g.AddWorktree(ctx, p.Dir, p.Branch, "HEAD")
}
