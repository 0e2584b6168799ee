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

// candidate makes what will be the base branch: of a merge commit, in the scratch worktree.
func (l *Lander) candidate(ctx context.Context, w roster.Workstream) (to rundir.Landing, err error) {
	to = rundir.Landing{WS: w.ID, Branch: w.Branch(), Tree: l.Dir.Tree(&w)}
	if to.Lane, err = l.clean(ctx, to); err != nil {
		return to, err
	}
	from, dirty, err := l.look(ctx)
	if err != nil {
		return to, err
	}
	to.From, to.Base = from, l.base
	var diff git.Diff
	if l.MergeCommit {
		to.To, diff, err = l.merge(ctx, to)
	} else {
		to.Lane, err = l.onto(ctx, to)
		to.To = to.Lane
		if err == nil && (l.forbid != nil || len(dirty) > 0) {
			diff, err = l.git.Diff(ctx, to.From, to.To)
		}
	}
	if err != nil {
		return to, err
	}
	if line := l.forbidden(diff.Patch); line != "" {
		return to, &GateError{WS: w.ID, Reason: fmt.Sprintf("it adds a forbidden line: %.80q", line)}
	}
	return to, l.inTheWay(dirty, diff.Paths)
}

// clean refuses a worktree whose work is not committed whole on its own branch, whose commit it returns.
func (l *Lander) clean(ctx context.Context, to rundir.Landing) (lane string, err error) {
	if _, err := os.Stat(to.Tree); err != nil {
		return "", roster.Dataf("%s has no worktree: %s is gone", to.WS, to.Tree)
	}
	if err := git.Idle(to.Tree); err != nil {
		return "", err
	}
	status, err := git.In(l.Run, to.Tree).Status(ctx)
	switch {
	case err != nil:
		return "", err
	case len(status.Changes) > 0:
		return "", roster.Refusef("%s has changes that are not committed: %s", to.Tree, quoteAll(status.Paths())).
			Hinted("fleet commit %s -m \"…\"", to.WS)
	case status.Branch != to.Branch:
		return "", roster.Refusef("%s is not on its branch %s but on %q", to.Tree, to.Branch, status.Branch).
			Hinted("git switch %s", to.Branch)
	}
	return status.Head, nil
}

// onto makes a lane descend from the base, if it doesn't.
func (l *Lander) onto(ctx context.Context, to rundir.Landing) (lane string, err error) {
	if has, err := l.git.Contains(ctx, to.Lane, to.From); err != nil || has {
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
func (l *Lander) merge(ctx context.Context, to rundir.Landing) (sha string, d git.Diff, err error) {
	if err := l.git.AddScratch(ctx, l.scratch(), to.From); err != nil {
		return "", d, err
	}
	scratch := git.In(l.Run, l.scratch())
	if err := scratch.Merge(ctx, to.Lane, "merge: "+to.Branch); err != nil {
		return "", d, l.gated(to.WS, "merge with "+l.base, err)
	}
	return scratch.Made(ctx)
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
func (l *Lander) inTheWay(dirty, landing []string) error {
	lost := slices.DeleteFunc(dirty, func(dirty string) bool {
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

// test tries what is about to land: whether it can be checked out, then the run's own test.
func (l *Lander) test(ctx context.Context, ws, commit string) error {
	if err := l.git.AddScratch(ctx, l.scratch(), commit); err != nil {
		return err
	}
	return l.runTest(ctx, ws)
}

// testMade is the test of what was made in the scratch worktree. Hooks may leave more in a tree than they commit.
func (l *Lander) testMade(ctx context.Context, ws, commit string) error {
	if l.places.HasCommitHooks() {
		return l.test(ctx, ws, commit)
	}
	return l.runTest(ctx, ws)
}

func (l *Lander) runTest(ctx context.Context, ws string) error {
	if l.Test == "" {
		return nil
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
