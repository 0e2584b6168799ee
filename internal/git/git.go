// Package git is the only place that runs git.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fleet/internal/proc"
)

// Git runs git in one checkout.
type Git struct {
	run   proc.Runner
	dir   string
	index string // in place of the checkout's own; empty is that
}

// In returns the git of a directory.
func In(run proc.Runner, dir string) *Git { return &Git{run: run, dir: dir} }

// ErrNoRepo says that a directory is in no git repository.
var ErrNoRepo = errors.New("not in a git repository")

// Places are where a repository keeps what, all absolute.
type Places struct {
	Root   string // of the checkout that was asked
	GitDir string // that checkout's own: HEAD, index, a merge in progress
	Common string // what all checkouts share: refs and objects
	Hooks  string // where the repository's hooks are
}

// Places finds the checkout that a directory is in.
func (g *Git) Places(ctx context.Context) (Places, error) {
	out, err := g.git(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "hooks")
	if err != nil {
		if failed, isExit := errors.AsType[*proc.Error](err); isExit && strings.Contains(failed.Stderr, "not a git repository") {
			return Places{}, ErrNoRepo
		}
		return Places{}, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 4 {
		return Places{}, fmt.Errorf("git rev-parse answered %d lines instead of 4: a line break in a path", len(lines))
	}
	return Places{Root: lines[0], GitDir: lines[1], Common: lines[2], Hooks: lines[3]}, nil
}

// gitDir is the git dir of the checkout at a root: what is called .git there, or what that file names.
func gitDir(root string) string {
	dir := filepath.Join(root, ".git")
	text, err := os.ReadFile(dir)
	if err != nil { // it is the directory
		return dir
	}
	dir = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	return dir
}

// MainRoot is the root of the main checkout, also when asked from a linked
// worktree. Where there is no main one, the repository being bare, it is the checkout that was asked.
func (g *Git) MainRoot(ctx context.Context) (string, error) {
	p, err := g.Places(ctx)
	if err != nil {
		return "", err
	}
	main := filepath.Dir(p.Common)
	if main == p.Root || filepath.Base(p.Common) != ".git" { // a submodule, a bare repository or a git dir elsewhere
		return p.Root, nil
	}
	bare, err := g.git(ctx, "--git-dir", p.Common, "rev-parse", "--is-bare-repository")
	if err != nil || bare == "true" {
		return p.Root, err
	}
	return main, nil
}

// Exclude keeps a path out of git's sight in every worktree, by .git/info/exclude, once.
func (p Places) Exclude(pattern string) error {
	path := filepath.Join(p.Common, "info", "exclude")
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

// timeout is for a checkout of a large repository, and for hooks of the user's own.
const timeout = 10 * time.Minute

// git runs one git command and returns what it said, without the line's end.
func (g *Git) git(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, nil, args...)
}

// feed is git with an input.
func (g *Git) feed(ctx context.Context, input []byte, args ...string) (string, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	c := proc.Cmd{Args: append([]string{"git"}, args...), Dir: g.dir, Env: ownEnv(os.Environ()), Stdin: input}
	if g.index != "" {
		c.Env = append(c.Env, "GIT_INDEX_FILE="+g.index)
	}
	out, err := g.run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}

// ownEnv is an environment without the variables by which git's own hooks tell
// their children which repository and index are meant: we say it ourselves. Messages are
// in English, since some of them are understood.
func ownEnv(env []string) []string {
	return append(slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE":
			return true
		}
		return false
	}), "LANGUAGE=en")
}
