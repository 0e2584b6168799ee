package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
)

// treeTimeout is for a checkout of a large repository.
const treeTimeout = 10 * time.Minute

// planTree decides in which checkout the worker will run.
func (f *Fleet) planTree(ctx context.Context, p *Plan) error {
	p.Tree, p.Dir = roster.MainTree, f.Dir.Root
	if !f.apart(&p.WS) {
		return nil
	}
	p.Tree = p.WS.Tree
	if p.WS.Lane == "" {
		p.Tree = filepath.Join(f.Dir.Config.WorktreeRoot, f.Dir.Slug()+"-"+strings.ToLower(p.WS.ID))
	}
	p.Dir = filepath.Join(f.Dir.Root, p.Tree)
	g := git.In(f.Run, f.Dir.Root)
	if p.WS.Tree == p.Tree {
		if left, err := g.HasWorktree(ctx, p.Dir); left || err != nil {
			return err // an earlier worker of this workstream left it
		}
	}
	p.Branch = p.WS.Branch()
	err := g.FreeBranch(ctx, p.Branch)
	if err == nil {
		return nil
	}
	if no := f.inRepository(ctx); no != nil {
		return no
	}
	if roster.KindOf(err) == roster.Refused && p.WS.Tree == p.Tree && p.WS.Epoch > 0 {
		return roster.Refusef("%s has lost its worktree %s", p.WS.ID, p.Dir).Hinted("git worktree add --force %s %s", p.Tree, p.Branch)
	}
	return err
}

// inRepository refuses worktrees where there is no repository.
func (f *Fleet) inRepository(ctx context.Context) error {
	_, err := git.In(f.Run, f.Dir.Root).Places(ctx)
	if errors.Is(err, git.ErrNoRepo) {
		return roster.Usagef("a worktree: %s is in no git repository", f.Dir.Root).Hinted("git init there, or do without: lane spawn --worktree=false, FLEET_WORKTREE=off in fleet.env")
	}
	return err
}

// apart reports whether a workstream's worker gets a checkout of its own: a lane as it was asked for, the others as the run says.
func (f *Fleet) apart(w *roster.Workstream) bool {
	if w.Lane != "" {
		return w.Tree != roster.MainTree
	}
	return f.Dir.Config.Worktree
}

// makeTree makes the worktree of a plan, whole or not at all.
func (f *Fleet) makeTree(ctx context.Context, p Plan) error {
	ctx, cancel := context.WithTimeout(ctx, treeTimeout)
	defer cancel()
	from, err := f.addTree(ctx, p)
	if err != nil {
		return err
	}
	if err := f.furnish(ctx, p.Dir); err != nil {
		ctx, g := proc.Steady(ctx), git.In(f.Run, f.Dir.Root)
		return errors.Join(err, g.RemoveScratch(ctx, p.Dir), g.DeleteBranch(ctx, p.Branch, from))
	}
	return nil
}

// addTree has git make the worktree of a plan, and returns the commit that it starts from.
func (f *Fleet) addTree(ctx context.Context, p Plan) (from string, err error) {
	g := git.In(f.Run, f.Dir.Root)
	places, err := g.Places(ctx)
	if err != nil {
		return "", err
	}
	if err := places.Exclude("/" + roster.TreeRoot(p.Tree) + "/"); err != nil {
		return "", err
	}
	unlock, err := lockRepository(ctx, places)
	if err != nil {
		return "", err
	}
	defer unlock()
	base := f.base(p.Base)
	if base == head { // which may be on its way to somewhere else
		if err := git.Idle(places.Root); err != nil {
			return "", err
		}
	}
	from, found, err := g.Commit(ctx, base)
	if err == nil && !found {
		err = roster.Refusef("a worktree can't start from %s, which is no commit", base).Hinted("make a first commit, or see FLEET_BASE in fleet.env")
	}
	if err == nil {
		err = g.AddWorktree(ctx, p.Dir, p.Branch, from)
	}
	return from, err
}

const head = "HEAD"

// base is where worktrees start: at a branch that is named, else at the run's, else at what is checked out.
func (f *Fleet) base(named string) string {
	if named = cmp.Or(named, f.Dir.Config.Base); named != "" {
		return git.BranchRef(named)
	}
	return head
}

// furnish brings into a new worktree what git doesn't: copies, links, and what the set-up command makes.
func (f *Fleet) furnish(ctx context.Context, tree string) error {
	c := f.Dir.Config
	files, err := git.In(f.Run, f.Dir.Root).IgnoredFiles(ctx, list(c.Copy), ".worktreeinclude")
	if err != nil {
		return err
	}
	if err := f.bring(tree, "copy", files, copyFile); err != nil {
		return err
	}
	if err := f.bring(tree, "link", list(c.Link), link); err != nil {
		return err
	}
	if c.Setup == "" {
		return nil
	}
	if out, err := proc.Shell(ctx, tree, c.Setup, c.VerifyTimeout); err != nil {
		return roster.Refusef("FLEET_WORKTREE_SETUP failed (%v): %s", err, roster.Flat(out))
	}
	return nil
}

func list(commas string) []string {
	return strings.FieldsFunc(commas, func(r rune) bool { return r == ',' })
}

// bring puts what the run's checkout has at some paths into a worktree. What that has already stays.
func (f *Fleet) bring(tree, word string, paths []string, do func(from, to string) error) error {
	for _, p := range paths {
		from, to := filepath.Join(f.Dir.Root, p), filepath.Join(tree, p)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(to), 0o755)
		if err == nil {
			err = do(from, to)
		}
		if err != nil {
			return fmt.Errorf("%s %s into the worktree: %w", word, roster.Printable(p), err)
		}
	}
	return nil
}

// copyFile copies what is there now: a file with its mode, or where a link points to.
func copyFile(from, to string) error {
	if target, err := os.Readlink(from); err == nil {
		return os.Symlink(target, to)
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// link makes a link to what exists.
func link(from, to string) error {
	if _, err := os.Lstat(from); err != nil {
		return err
	}
	return os.Symlink(from, to)
}
