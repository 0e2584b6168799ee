package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// candidate makes what will be the base branch, in the scratch worktree.
func (l *Lander) candidate(ctx context.Context, w roster.Workstream) (rundir.Landing, error) {
	to := rundir.Landing{WS: w.ID, Base: l.base, Branch: w.Branch(), Tree: l.Dir.Tree(&w)}
	var err error
	if to.From, to.Lane, err = l.clean(ctx, to); err != nil {
		return to, err
	}
	if !l.MergeCommit {
		if to.Lane, err = l.onto(ctx, to); err != nil {
			return to, err
		}
	}
	diff, err := l.git.Diff(ctx, to.From, to.Lane)
	if err != nil {
		return to, err
	}
	if line := l.forbidden(diff.Patch); line != "" {
		return to, &GateError{WS: w.ID, Reason: fmt.Sprintf("it adds a forbidden line: %.80q", line)}
	}
	if err := l.inTheWay(ctx, diff.Paths); err != nil {
		return to, err
	}
	if !l.MergeCommit {
		to.To = to.Lane
		return to, nil
	}
	to.To, err = l.merge(ctx, to)
	return to, err
}

// clean refuses a worktree whose work is not committed whole on its own branch.
func (l *Lander) clean(ctx context.Context, to rundir.Landing) (base, lane string, err error) {
	if _, err := os.Stat(to.Tree); err != nil {
		return "", "", roster.Dataf("%s has no worktree: %s is gone", to.WS, to.Tree)
	}
	tree := git.In(l.Run, to.Tree)
	if err := tree.Idle(ctx); err != nil {
		return "", "", err
	}
	status, err := tree.Status(ctx)
	switch {
	case err != nil:
		return "", "", err
	case len(status.Changes) > 0:
		return "", "", roster.Refusef("%s has changes that are not committed: %s", to.Tree, quoteAll(status.Paths())).
			Hinted("fleet commit %s -m \"…\"", to.WS)
	case status.Branch != to.Branch:
		return "", "", roster.Refusef("%s is not on its branch %s but on %q", to.Tree, to.Branch, status.Branch).
			Hinted("git switch %s", to.Branch)
	}
	base, err = l.tip(ctx)
	return base, status.Head, err
}

// tip is the commit of the base branch, which may not be in the middle of anything.
func (l *Lander) tip(ctx context.Context) (string, error) {
	checkout, err := l.checkout(ctx)
	if err == nil && checkout != nil {
		err = checkout.Idle(ctx)
	}
	if err != nil {
		return "", err
	}
	sha, found, err := l.git.Commit(ctx, git.BranchRef(l.base))
	if err == nil && !found {
		err = roster.Dataf("the base branch %s has no commit", l.base)
	}
	return sha, err
}

// onto makes a lane descend from the base, if it doesn't.
func (l *Lander) onto(ctx context.Context, to rundir.Landing) (lane string, err error) {
	parted, err := l.git.MergeBase(ctx, to.From, to.Lane)
	if err != nil || parted == to.From {
		return to.Lane, err
	}
	tree := git.In(l.Run, to.Tree)
	if err := tree.Rebase(ctx, to.From); err != nil {
		return "", l.gated(to.WS, "rebase onto "+l.base, err)
	}
	lane, _, err = tree.Commit(ctx, "HEAD")
	return lane, err
}

// merge makes the merge commit of a lane in the scratch worktree.
func (l *Lander) merge(ctx context.Context, to rundir.Landing) (string, error) {
	if err := l.git.AddScratch(ctx, l.scratch(), to.From); err != nil {
		return "", err
	}
	scratch := git.In(l.Run, l.scratch())
	if err := scratch.Merge(ctx, to.Lane, "merge: "+to.Branch); err != nil {
		return "", l.gated(to.WS, "merge with "+l.base, err)
	}
	sha, _, err := scratch.Commit(ctx, "HEAD")
	return sha, err
}

func (l *Lander) gated(ws, what string, err error) error {
	if conflict, is := errors.AsType[*git.ConflictError](err); is {
		return &GateError{WS: ws, Reason: fmt.Sprintf("%s: conflicts in %s", what, quoteAll(conflict.Paths))}
	}
	return err
}

// forbidden is the first line of a patch that is added and may not be.
func (l *Lander) forbidden(patch string) string {
	if l.forbid == nil {
		return ""
	}
	for line := range strings.Lines(patch) {
		added, is := strings.CutPrefix(line, "+")
		if is && !strings.HasPrefix(line, "+++ ") && l.forbid.MatchString(strings.TrimSuffix(added, "\n")) {
			return added
		}
	}
	return ""
}

// inTheWay refuses a landing that would overwrite changes in the checkout of the base branch.
func (l *Lander) inTheWay(ctx context.Context, landing []string) error {
	checkout, err := l.checkout(ctx)
	if err != nil || checkout == nil {
		return err
	}
	status, err := checkout.Status(ctx)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(status.Paths(), func(dirty string) bool {
		return !slices.ContainsFunc(landing, func(p string) bool {
			return p == dirty || strings.HasPrefix(p, dirty+"/") || strings.HasPrefix(dirty, p+"/")
		})
	})
	if len(lost) > 0 {
		return roster.Refusef("the checkout of %s has changes that landing would overwrite: %s", l.base, quoteAll(lost)).
			Hinted("commit them, or put them away")
	}
	return nil
}

// test tries what is about to land: whether it can be checked out, then the run's own test. The checkout
// is a fresh one, since hooks may leave more in a tree than they commit.
func (l *Lander) test(ctx context.Context, ws, commit string) error {
	if err := l.git.AddScratch(ctx, l.scratch(), commit); err != nil || l.Test == "" {
		return err
	}
	if err := l.furnish(ctx, l.scratch()); err != nil {
		return err
	}
	path := l.Dir.Log("land-" + ws)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	failure := proc.ShellTo(ctx, l.scratch(), l.Test, l.Dir.Config.VerifyTimeout, log)
	if err := errors.Join(ctx.Err(), log.Close()); err != nil {
		return err
	}
	if failure != nil {
		return &GateError{ws, fmt.Sprintf("its test failed (%v): %s", failure, l.Test), l.Dir.Rel(path)}
	}
	return nil
}
