package git

import (
	"context"
	"os"
	"path/filepath"
)

// WorkDiff is all that a checkout has over where it parted from base, as a patch: what is
// committed, what is not, and new files. Its own index is left alone.
func (g *Git) WorkDiff(ctx context.Context, base string) (string, error) {
	tmp, err := os.MkdirTemp("", "fleet-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	own := *g
	own.index = filepath.Join(tmp, "index")
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "--all"}} {
		if _, err := own.git(ctx, args...); err != nil {
			return "", err
		}
	}
	return own.git(ctx, "diff", "--cached", "--merge-base", "--no-ext-diff", "--no-color", "--no-renames", base)
}
