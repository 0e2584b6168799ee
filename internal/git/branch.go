package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fleet/internal/proc"
)

// Diff is what a branch adds to another since they parted.
type Diff struct {
	Paths []string
	Patch string // without lines around the changes
}

// Diff compares a commit with where it parted from base.
func (g *Git) Diff(ctx context.Context, base, head string) (Diff, error) {
	out, err := g.git(ctx, append([]string{"diff", base + "..." + head}, diffFormat...)...)
	if err != nil {
		return Diff{}, err
	}
	return parseDiff(out)
}

// Made is the commit at the checkout's head, and what it adds to its first parent.
func (g *Git) Made(ctx context.Context) (sha string, d Diff, err error) {
	out, err := g.git(ctx, append([]string{"show", "--diff-merges=first-parent", "--format=%H%x00"}, diffFormat...)...)
	if err != nil {
		return "", d, err
	}
	sha, out, _ = strings.Cut(out, "\x00")
	d, err = parseDiff(strings.TrimLeft(out, "\x00\n"))
	return sha, d, err
}

var diffFormat = []string{"--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--raw", "-z", "--patch", "--unified=0"}

func parseDiff(out string) (d Diff, err error) {
	for strings.HasPrefix(out, ":") { // ":modes and blobs" NUL path NUL, then the patch after an empty record
		_, rest, _ := strings.Cut(out, "\x00")
		path, rest, ok := strings.Cut(rest, "\x00")
		if !ok {
			return d, fmt.Errorf("git diff --raw ended in the middle of a record")
		}
		d.Paths = append(d.Paths, path)
		out = rest
	}
	d.Patch = strings.TrimPrefix(out, "\x00")
	return d, nil
}

// Contains reports whether a commit is in the history of another.
func (g *Git) Contains(ctx context.Context, history, commit string) (bool, error) {
	_, err := g.git(ctx, "merge-base", "--is-ancestor", commit, history)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// ConflictError says that changes don't fit together. The checkout is as it was before.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string { return "conflicts in " + strings.Join(e.Paths, ", ") }

// Rebase moves the branch of the checkout onto a commit, or leaves it as it was.
func (g *Git) Rebase(ctx context.Context, onto string) error {
	_, err := g.git(ctx, "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "rebase", "--quiet", onto)
	return g.orBack(ctx, err, "rebase", "--abort")
}

// Merge makes a merge commit of a branch in the checkout, or leaves it as it was.
func (g *Git) Merge(ctx context.Context, commit, message string) error {
	_, err := g.git(ctx, "merge", "--no-ff", "--no-autostash", "--quiet", "--message", message, commit)
	return g.orBack(ctx, err, "merge", "--abort")
}

// Revert makes one commit in the checkout that undoes others, or leaves it as it was.
// They are given newest first; of a merge, what it brought into the branch is undone.
func (g *Git) Revert(ctx context.Context, message string, commits []string) error {
	for _, c := range commits {
		args := []string{"revert", "--no-commit"}
		parents, err := g.git(ctx, "show", "--no-patch", "--format=%P", c)
		if err != nil {
			return err
		}
		if strings.Contains(parents, " ") {
			args = append(args, "--mainline", "1")
		}
		if _, err := g.git(ctx, append(args, c)...); err != nil {
			return g.orBack(ctx, err, "reset", "--quiet", "--hard")
		}
	}
	_, err := g.git(ctx, "commit", "--quiet", "--message", message)
	return err
}

// orBack takes an operation back that has failed, and tells in which files it met a conflict.
func (g *Git) orBack(ctx context.Context, err error, back ...string) error {
	if err == nil {
		return nil
	}
	ctx = proc.Steady(ctx)
	status, statusErr := g.Status(ctx)
	var conflict ConflictError
	for _, c := range status.Changes {
		if c.Kind == Unmerged {
			conflict.Paths = append(conflict.Paths, c.Path)
		}
	}
	if len(conflict.Paths) > 0 {
		err = &conflict
	}
	_, backErr := g.git(ctx, back...)
	if len(conflict.Paths) == 0 {
		backErr = nil // it may not even have begun
	}
	return errors.Join(err, statusErr, backErr)
}

// Since lists the commits that one has and another hasn't, newest first.
func (g *Git) Since(ctx context.Context, from, to string) ([]string, error) {
	out, err := g.git(ctx, "rev-list", "--first-parent", from+".."+to)
	return strings.Fields(out), err
}

// MoveBranch moves a branch that is checked out nowhere, if it still is where it was.
func (g *Git) MoveBranch(ctx context.Context, branch, from, to string) error {
	_, err := g.git(ctx, "update-ref", "-m", "fleet: land", BranchRef(branch), to, from)
	return err
}

// FastForward moves the branch of the checkout, its index and its files from a commit to
// one that descends from it. Files that would be overwritten refuse it, even ignored ones.
func (g *Git) FastForward(ctx context.Context, from, to string) error {
	err := patiently(ctx, func() error {
		_, err := g.git(ctx, "merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", to)
		return err
	})
	if err != nil { // a hook can refuse the branch when the files are there already
		_, back := g.git(ctx, "read-tree", "-m", "-u", to, from)
		err = errors.Join(err, back)
	}
	return err
}

// DeleteBranch deletes a branch, if it still is at a commit.
func (g *Git) DeleteBranch(ctx context.Context, branch, at string) error {
	_, err := g.git(ctx, "update-ref", "-d", BranchRef(branch), at)
	return err
}

// DeleteMerged deletes a branch, if it still is at a commit, and the base branch, which has that, where it was seen.
func (g *Git) DeleteMerged(ctx context.Context, branch, at, base, baseAt string) error {
	input := fmt.Sprintf("verify %s %s\ndelete %s %s\n", BranchRef(base), baseAt, BranchRef(branch), at)
	_, err := g.feed(ctx, []byte(input), "update-ref", "--stdin")
	return err
}

// Join merges two commits without a checkout: the result is a commit that no branch holds.
// The error is a *ConflictError if they don't fit together.
func (g *Git) Join(ctx context.Context, a, b string) (string, error) {
	out, err := g.git(ctx, "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", a, b)
	tree, files, _ := strings.Cut(out, "\x00")
	if exitCode(err) == 1 {
		return "", &ConflictError{strings.FieldsFunc(files, func(r rune) bool { return r == 0 })}
	}
	if err != nil {
		return "", err
	}
	return g.git(ctx, "commit-tree", "-p", a, "-p", b, "-m", "what if", tree)
}

func exitCode(err error) int {
	if failed, isExit := errors.AsType[*proc.Error](err); isExit {
		return failed.Code
	}
	return 0
}
