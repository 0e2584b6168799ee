package master

import (
	"cmp"
	"context"
	"errors"
	"os"

	"fleet/internal/git"
	"fleet/roster"
)

// Diff is what a workstream has changed, as a patch: in a checkout of its own all that the base branch hasn't,
// in the one of all what is not committed of the files that it holds. It refuses where there is nothing.
func (f *Fleet) Diff(ctx context.Context, ws string, colour bool) (string, error) {
	var row Row
	err := f.Dir.View(ctx, func(s *roster.State) error {
		for _, r := range Rows(f.Dir, s) {
			if r.ID == ws {
				row = r
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	tree, base := f.Dir.Tree(&row.Workstream), head
	own := tree != f.Dir.Root
	switch _, err := os.Stat(tree); {
	case errors.Is(err, os.ErrNotExist):
		return "", roster.Refusef("%s has no worktree now: there is no %s", ws, f.Dir.Rel(tree))
	case err != nil:
		return "", err
	case own:
		base, row.Held = f.base(""), nil
	case len(row.Held) == 0:
		return "", roster.Refusef("%s holds no file: there is nothing of its own to show", ws)
	}
	at, _, err := git.In(f.Run, f.Dir.Root).Commit(ctx, base)
	if err != nil {
		return "", err
	}
	patch, err := git.In(f.Run, tree).WorkDiff(ctx, cmp.Or(at, base), colour, row.Held...)
	if err == nil && patch == "" {
		err = roster.Refusef("%s has changed nothing: its files are as they are in the last commit", ws)
		if own {
			err = roster.Refusef("%s has changed nothing in %s that is not in the base branch, too", ws, f.Dir.Rel(tree))
		}
	}
	return patch, err
}
