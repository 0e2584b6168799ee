package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fleet/internal/proc"
	"fleet/roster"
)

// Worktree is one checkout of the repository.
type Worktree struct {
	Path   string
	Head   string // the commit that is checked out
	Branch string // also one that is being rebased; empty when HEAD is detached otherwise
}

// Worktrees lists the checkouts of the repository that are there, the main one first.
func (g *Git) Worktrees(ctx context.Context) ([]Worktree, error) {
	var out string
	err := patiently(ctx, func() (err error) {
		out, err = g.git(ctx, "worktree", "list", "--porcelain", "-z")
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Worktree
	for field := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(field, " ")
		switch key {
		case "worktree":
			all = append(all, Worktree{Path: value})
		case "HEAD":
			all[len(all)-1].Head = value
		case "branch":
			all[len(all)-1].Branch = strings.TrimPrefix(value, "refs/heads/")
		case "prunable": // somebody has deleted its folder
			all = all[:len(all)-1]
		}
	}
	own := gitDir(g.dir)
	for i, t := range all {
		if t.Path == own { // how git calls the main checkout whose git dir is elsewhere
			all[i].Path = g.dir
		}
		if t.Branch == "" {
			all[i].Branch = rebased(all[i].Path)
		}
	}
	return all, nil
}

// HasWorktree reports whether a path is a checkout of the repository.
func (g *Git) HasWorktree(ctx context.Context, path string) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil // git is not asked: it knows of those whose folder is gone, too
	}
	trees, err := g.Worktrees(ctx)
	return slices.ContainsFunc(trees, func(t Worktree) bool { return t.Path == path }), err
}

// rebased is the branch that is being rebased in a checkout; empty if none is.
func rebased(root string) string {
	dir := gitDir(root)
	for _, by := range []string{"rebase-merge", "rebase-apply"} {
		if name, err := os.ReadFile(filepath.Join(dir, by, "head-name")); err == nil {
			return strings.TrimPrefix(strings.TrimSpace(string(name)), BranchRef(""))
		}
	}
	return ""
}

// Commit is the commit that a revision names, or false if it names none.
func (g *Git) Commit(ctx context.Context, rev string) (sha string, ok bool, err error) {
	sha, err = g.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if exitCode(err) == 1 {
		return "", false, nil
	}
	return sha, err == nil, err
}

// BranchRef is the full name of a branch.
func BranchRef(branch string) string { return "refs/heads/" + branch }

// AddWorktree makes a worktree at path on a new branch that starts at a
// revision, or leaves nothing behind. It refuses a path or branch that exists: whose work is
// on it can't be known. --no-track keeps parallel calls off .git/config.
func (g *Git) AddWorktree(ctx context.Context, path, branch, from string) error {
	if _, err := os.Lstat(path); err == nil {
		return roster.Refusef("worktree %s exists and is not this run's", path).Hinted("look at it, then: git worktree remove %s", path)
	}
	if err := g.FreeBranch(ctx, branch); err != nil {
		return err
	}
	if _, err := g.git(ctx, "worktree", "add", "--quiet", "--no-track", "-b", branch, path, from); err != nil {
		// Another call may have been quicker, and then both are its own: without force
		// git takes away neither a tree with changes nor a branch with commits.
		ctx = proc.Steady(ctx)
		_, _ = g.git(ctx, "worktree", "remove", path)
		_, _ = g.git(ctx, "branch", "-d", branch)
		return err
	}
	return nil
}

// FreeBranch refuses a branch that exists.
func (g *Git) FreeBranch(ctx context.Context, branch string) error {
	_, exists, err := g.Commit(ctx, BranchRef(branch))
	if err != nil {
		return err
	}
	if exists {
		return roster.Refusef("branch %s exists and is not this run's", branch).Hinted("look at it, then: git branch -m %s <other name>", branch)
	}
	return nil
}

// AddScratch makes a worktree of a commit without a branch, in place of an earlier one.
func (g *Git) AddScratch(ctx context.Context, path, commit string) error {
	if err := g.RemoveScratch(ctx, path); err != nil {
		return err
	}
	_, err := g.git(ctx, "worktree", "add", "--quiet", "--detach", path, commit)
	return err
}

// RemoveScratch removes what AddScratch made, with whatever was built in there.
func (g *Git) RemoveScratch(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	_, err := g.git(ctx, "worktree", "remove", "--force", "--force", path)
	if err != nil { // what was being made when its maker was killed is no worktree yet
		err = os.RemoveAll(path)
	}
	return err
}

// RemoveWorktree removes a worktree in which nothing is uncommitted or untracked; git refuses another.
func (g *Git) RemoveWorktree(ctx context.Context, path string) error {
	_, err := g.git(ctx, "worktree", "remove", path)
	return err
}

// IgnoredFiles lists the untracked files that git ignores and that match patterns,
// or a line of a file of patterns at the root, which needn't be there.
func (g *Git) IgnoredFiles(ctx context.Context, patterns []string, file string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	patterns = slices.Concat(patterns, strings.Split(string(text), "\n"))
	args := []string{"ls-files", "--others", "--ignored", "-z"}
	for _, p := range patterns {
		if p = strings.TrimSpace(p); p != "" && !strings.HasPrefix(p, "#") {
			args = append(args, "--exclude="+p)
		}
	}
	if len(args) == 4 {
		return nil, nil
	}
	matching, err := g.git(ctx, args...)
	if err != nil || matching == "" {
		return nil, err
	}
	out, err := g.feed(ctx, []byte(matching), "check-ignore", "--stdin", "-z") // what isn't ignored would be dirt in the worktree
	if exitCode(err) == 1 {
		return nil, nil
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}
