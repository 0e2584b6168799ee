package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

// CommitOnly commits the present content of some paths, and nothing else that is
// in the index or the tree, as the user has configured commits: hooks and signing included.
// It returns the new commit. One that fails leaves the index as it was.
func (g *Git) CommitOnly(ctx context.Context, message string, changes []Change) (sha string, err error) {
	var fresh []string // git commits by name only what it knows
	for _, c := range changes {
		if c.Kind == Untracked {
			fresh = append(fresh, c.Path)
		}
	}
	if len(fresh) > 0 {
		if err := g.withPaths(ctx, fresh, "add", "--sparse", "--intent-to-add"); err != nil {
			return "", err
		}
	}
	named := nulList(withoutReplaced(changes))
	out := ""
	err = patiently(ctx, func() (err error) {
		out, err = g.feed(ctx, named, "commit", "--only", "--message", message, fromFile, nul)
		return err
	})
	if err == nil {
		return announced(out)
	}
	if len(fresh) > 0 {
		err = errors.Join(err, g.Unstage(proc.Steady(ctx), fresh))
	}
	return "", err
}

// withoutReplaced are the paths without files that a directory has taken the place of: what is in there goes with it.
func withoutReplaced(changes []Change) []string {
	dirs := make(map[string]bool)
	for _, c := range changes {
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return Paths(slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return dirs[c.Path] }))
}

const (
	fromFile = "--pathspec-from-file=-"
	nul      = "--pathspec-file-nul"
)

// announced is the commit that git said it made: "[main 1a2b3c4] subject". HEAD may be another one by now.
func announced(out string) (string, error) {
	// Compiled here, since hooks import this package and have no commit to make.
	summary := regexp.MustCompile(`(?m)^\[.*? ([0-9a-f]{4,64})\] `)
	m := summary.FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("git commit did not say which commit it made: %.200q", out)
	}
	return m[1], nil
}

// Stage puts the present content of paths into the index.
func (g *Git) Stage(ctx context.Context, paths []string) error {
	return g.withPaths(ctx, paths, "add", "--sparse", "--all")
}

// Unstage makes the index say of paths what the last commit says.
func (g *Git) Unstage(ctx context.Context, paths []string) error {
	if _, born, err := g.Commit(ctx, "HEAD"); err != nil || born {
		return errors.Join(err, g.withPaths(ctx, paths, "reset", "--quiet"))
	}
	return g.withPaths(ctx, paths, "rm", "--quiet", "--cached", "--force", "--ignore-unmatch")
}

// Changed are the files that a commit changed, and the commit before it, empty for the first one.
func (g *Git) Changed(ctx context.Context, sha string) (paths []string, parent string, err error) {
	out, err := g.git(ctx, "show", "--no-renames", "--name-only", "-z", "--format=%P%x00", sha)
	if err != nil {
		return nil, "", err
	}
	parent, files, _ := strings.Cut(out, "\x00")
	for p := range strings.SplitSeq(files, "\x00") {
		if p = strings.TrimPrefix(p, "\n"); p != "" { // -z leaves the line's end after the format
			paths = append(paths, p)
		}
	}
	return paths, parent, nil
}

// TakeBack makes the branch forget its last commit, if that still is sha, and the index the
// paths that it took from the tree. The tree stays.
func (g *Git) TakeBack(ctx context.Context, sha, parent string, paths []string) error {
	args := []string{"update-ref", "-m", "fleet: commit taken back", "HEAD", parent, sha}
	if parent == "" {
		args = []string{"update-ref", "-d", "HEAD", sha}
	}
	if _, err := g.git(ctx, args...); err != nil {
		return err
	}
	return g.Unstage(ctx, paths)
}

func (g *Git) withPaths(ctx context.Context, paths []string, args ...string) error {
	return patiently(ctx, func() error {
		_, err := g.feed(ctx, nulList(paths), slices.Concat(args, []string{fromFile, nul})...)
		return err
	})
}

// nulList is a list of paths that mean themselves, never a pattern.
func nulList(paths []string) []byte {
	var b bytes.Buffer
	for _, p := range paths {
		b.WriteString(":(top,literal)" + p + "\x00")
	}
	return b.Bytes()
}

// lockPatience is how long somebody else's git may hold a lock that we need.
const lockPatience = 10 * time.Second

// passing are what git says while another git is at work: it holds a lock, or is
// half-way through making a worktree, which every listing of them stumbles over.
var passing = []string{".lock': File exists", "/commondir: "}

// patiently repeats what fails only since another git is at work.
func patiently(ctx context.Context, do func() error) error {
	for end := time.Now().Add(lockPatience); ; {
		err := do()
		failed, isExit := errors.AsType[*proc.Error](err)
		if !isExit || time.Now().After(end) || !slices.ContainsFunc(passing, func(said string) bool { return strings.Contains(failed.Stderr, said) }) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10*time.Millisecond + rand.N(40*time.Millisecond)):
		}
	}
}

// Idle refuses a checkout, by its root, that is in the middle of an operation, such as a merge or a rebase.
func Idle(root string) error {
	dir := gitDir(root)
	for _, sign := range [][2]string{
		{"MERGE_HEAD", "merge"},
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, sign[0])); err == nil {
			return roster.Refusef("a %s is in progress in %s", sign[1], root).Hinted("end it first: git %s --abort, or --continue", sign[1])
		}
	}
	return nil
}

// HasCommitHooks reports whether the repository runs programs of its own around a commit.
func (p Places) HasCommitHooks() bool {
	for _, name := range []string{"pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-merge"} {
		if info, err := os.Stat(filepath.Join(p.Hooks, name)); err == nil && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
