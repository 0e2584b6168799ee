package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// WorkDiff is all that a checkout has over where it parted from base, as a patch: what is committed, what is
// not, and new files. If paths are named, of what is not committed only they are in it, even those that git
// ignores. Before the first commit there is no base. The checkout's own index is left alone.
func (g *Git) WorkDiff(ctx context.Context, base string, colour bool, only ...string) (string, error) {
	tmp, err := os.MkdirTemp("", "fleet-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	own := *g
	own.index = filepath.Join(tmp, "index")
	diff := []string{"diff", "--cached", "--no-ext-diff", "--no-renames", "--color=never"}
	if colour {
		diff = append(diff, "--color=always")
	}
	_, born, err := g.Commit(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	if born {
		diff = append(diff, "--merge-base", base)
		if _, err := own.git(ctx, "read-tree", "HEAD"); err != nil {
			return "", err
		}
	}
	if len(only) == 0 {
		_, err = own.git(ctx, "add", "--all")
	} else { // unlike add it doesn't mind a path at which there is nothing
		_, err = own.feed(ctx, []byte(strings.Join(only, "\x00")), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	}
	if err != nil {
		return "", err
	}
	return own.git(ctx, diff...)
}
