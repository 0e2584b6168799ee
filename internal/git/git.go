// Package git is the only place that runs git.
package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"fleet/internal/proc"
	"fleet/roster"
)

// Git runs git in one checkout.
type Git struct {
	run proc.Runner
	dir string
}

// In returns the git of a directory.
func In(run proc.Runner, dir string) *Git { return &Git{run: run, dir: dir} }

// ErrNoRepo says that a directory is in no git repository.
var ErrNoRepo = errors.New("not in a git repository")

// MainRoot is the root of the main checkout, also when asked from a linked worktree.
func (g *Git) MainRoot(ctx context.Context) (string, error) {
	out, err := g.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		if proc.Missing(err) {
			return "", err
		}
		return "", ErrNoRepo
	}
	if filepath.Base(out) == ".git" {
		return filepath.Dir(out), nil
	}
	return g.git(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel") // a submodule, or a git dir elsewhere
}

// HasBranch reports whether a local branch exists.
func (g *Git) HasBranch(ctx context.Context, branch string) bool {
	_, err := g.git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	return err == nil
}

// HasWorktree reports whether path is a worktree of this repository.
func (g *Git) HasWorktree(ctx context.Context, path string) bool {
	out, err := g.git(ctx, "worktree", "list", "--porcelain", "-z")
	return err == nil && strings.Contains("\x00"+out+"\x00", "\x00worktree "+path+"\x00")
}

// AddWorktree makes a worktree at path on a new branch that starts at HEAD, or
// leaves nothing behind. It refuses a path or branch that exists: whose work is
// on it can't be known. --no-track keeps parallel calls off .git/config.
func (g *Git) AddWorktree(ctx context.Context, path, branch string) error {
	if _, err := os.Lstat(path); err == nil {
		return roster.Refusef("worktree %s exists and is not this run's", path).Hinted("look at it, then: git worktree remove %s", path)
	}
	if g.HasBranch(ctx, branch) {
		return roster.Refusef("branch %s exists and is not this run's", branch).Hinted("look at it, then: git branch -m %s <other name>", branch)
	}
	if _, err := g.git(ctx, "worktree", "add", "--quiet", "--no-track", "-b", branch, path, "HEAD"); err != nil {
		// Another call may have been quicker, and then both are its own: without force
		// git takes away neither a tree with changes nor a branch with commits.
		ctx = context.WithoutCancel(ctx)
		_, _ = g.git(ctx, "worktree", "remove", path)
		_, _ = g.git(ctx, "branch", "-d", branch)
		return err
	}
	return nil
}

// Exclude keeps a path out of git's sight in every worktree, by .git/info/exclude, once.
func (g *Git) Exclude(ctx context.Context, pattern string) error {
	common, err := g.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	path := filepath.Join(common, "info", "exclude")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if strings.Contains("\n"+string(text), "\n"+pattern+"\n") {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	line := pattern + "\n"
	if len(text) > 0 && text[len(text)-1] != '\n' {
		line = "\n" + line
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

func (g *Git) git(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, proc.Cmd{Args: append([]string{"git"}, args...), Dir: g.dir})
	return strings.TrimRight(string(out), "\n\x00"), err
}
