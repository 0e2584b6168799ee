package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// LandOptions say how workstreams are brought into the base branch.
type LandOptions struct {
	MergeCommit bool   // make a merge commit, rather than move the base branch forward
	Test        string // shell command that must succeed on what is about to land
	Forbid      string // regular expression that no added line may match
}

// Lander brings the commits of workstreams into the base branch, one at a time: tested
// in a worktree of its own, and the branch moves only to what was tested. What was begun
// and killed is finished, or forgotten, by the next one.
type Lander struct {
	*Fleet
	LandOptions
	Said func(format string, args ...any) // is told what needs no answer

	git    *git.Git // of the main checkout
	places git.Places
	base   string
	forbid *regexp.Regexp
}

// GateError says why something doesn't land. The base branch is where it was.
type GateError struct{ WS, Reason, Log string }

func (e *GateError) Error() string {
	msg := e.WS + " does not land: " + e.Reason
	if e.Log != "" {
		msg += "; see " + e.Log
	}
	return msg
}

// Lander opens the queue, which has one place, and settles what an earlier one left.
func (f *Fleet) Lander(ctx context.Context, o LandOptions, said func(string, ...any)) (l *Lander, done func(), err error) {
	l = &Lander{Fleet: f, LandOptions: o, Said: said, git: git.In(f.Run, f.Dir.Root)}
	if l.places, err = l.git.Places(ctx); err != nil {
		return nil, nil, err
	}
	if o.Forbid != "" {
		if l.forbid, err = regexp.Compile(o.Forbid); err != nil {
			return nil, nil, roster.Usagef("forbidden pattern: %v", err)
		}
	}
	done, err = rundir.LockFile(ctx, filepath.Join(l.places.Common, "fleet-land.lock"))
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(l.findBase(ctx), l.git.Exclude(ctx, "/"+f.Dir.Config.WorktreeRoot+"/")); err != nil {
		done()
		return nil, nil, err
	}
	if err := l.resume(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return l, done, nil
}

// findBase decides which branch is the base.
func (l *Lander) findBase(ctx context.Context) error {
	l.base = l.Dir.Config.Base
	if l.base != "" {
		return nil
	}
	trees, err := l.git.Worktrees(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(trees, func(t git.Worktree) bool { return t.Path == l.Dir.Root })
	if i < 0 || trees[i].Branch == "" {
		return roster.Refusef("no branch is checked out in %s, so there is nothing to land on", l.Dir.Root).
			Hinted("git switch <branch> there, or set FLEET_BASE in fleet.env")
	}
	l.base = trees[i].Branch
	return nil
}

// resume finishes a landing whose branch has moved, and forgets one whose hasn't.
func (l *Lander) resume(ctx context.Context) error {
	if err := l.git.RemoveScratch(ctx, l.scratch()); err != nil {
		return err
	}
	begun, err := l.Dir.Landing()
	if err != nil || begun == nil {
		return err
	}
	moved, err := l.git.Contains(ctx, git.BranchRef(begun.Base), begun.To)
	if err != nil {
		return err
	}
	if !moved {
		return l.Dir.EndLanding()
	}
	l.Said("finishing the landing of %s, which was interrupted", begun.WS)
	return l.settle(ctx, *begun)
}

// scratch is the worktree in which what is about to land is made and tested.
func (l *Lander) scratch() string {
	return filepath.Join(l.Dir.Root, l.Dir.Config.WorktreeRoot, l.Dir.Slug()+"-land")
}

// Land brings one workstream into the base branch and returns the commit at which that is now.
func (l *Lander) Land(ctx context.Context, ws string) (sha string, err error) {
	var w roster.Workstream
	err = l.Dir.View(ctx, func(s *roster.State) error {
		row, err := s.Workstream(ws)
		if err != nil {
			return err
		}
		w = *row
		return s.Landable(ws)
	})
	if err != nil {
		return "", err
	}
	if w.Tree == roster.MainTree || w.Tree == "" {
		if l.Dir.Config.Worktree {
			return "", roster.Dataf("%s has no worktree: no worker has been started for it", ws)
		}
		return l.landInPlace(ctx, w)
	}
	begun, err := l.candidate(ctx, w)
	if err == nil {
		err = l.test(ctx, ws, begun.From, begun.To)
	}
	if err == nil {
		err = l.move(ctx, begun)
	}
	err = errors.Join(err, l.git.RemoveScratch(context.WithoutCancel(ctx), l.scratch()))
	if err != nil {
		return "", l.failed(ctx, ws, err)
	}
	return begun.To, l.settle(context.WithoutCancel(ctx), begun)
}

// failed notes in the roster that a gate was closed. Refusals leave the row as it is.
func (l *Lander) failed(ctx context.Context, ws string, err error) error {
	if gate, closed := errors.AsType[*GateError](err); closed {
		note := l.Dir.Update(context.WithoutCancel(ctx), func(s *roster.State) error { return s.FailToLand(ws, gate.Reason, gate.Log) })
		return errors.Join(err, note)
	}
	return err
}

// landInPlace marks a workstream of the main checkout, whose commits are on the branch already.
func (l *Lander) landInPlace(ctx context.Context, w roster.Workstream) (string, error) {
	status, err := l.git.Status(ctx)
	if err != nil {
		return "", err
	}
	var own, nobodys []string
	err = l.Dir.View(ctx, func(s *roster.State) (err error) {
		own, nobodys, err = s.Divide(w.ID, status.Paths())
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(nobodys) > 0:
		return "", &UnownedError{w.ID, nobodys}
	case status.Head == "":
		return "", roster.Refusef("%s has no commit yet", l.Dir.Root)
	}
	if len(own) > 0 {
		l.Said("note: files of %s are not committed, and don't land: %s", w.ID, quoteAll(own))
	}
	if err := l.testIn(ctx, w.ID, status.Head); err != nil {
		return "", l.failed(ctx, w.ID, err)
	}
	landing := roster.Landing{Base: l.base, From: status.Head, To: status.Head}
	return status.Head, l.Dir.Update(ctx, func(s *roster.State) error { return s.Land(w.ID, landing) })
}

// testIn is a test of one commit, in a scratch worktree for as long as that takes.
func (l *Lander) testIn(ctx context.Context, ws, commit string) error {
	if l.Test == "" {
		return nil
	}
	err := l.git.AddScratch(ctx, l.scratch(), commit)
	if err == nil {
		err = l.runTest(ctx, ws)
	}
	return errors.Join(err, l.git.RemoveScratch(context.WithoutCancel(ctx), l.scratch()))
}

// candidate makes what will be the base branch, in the scratch worktree.
func (l *Lander) candidate(ctx context.Context, w roster.Workstream) (rundir.Landing, error) {
	to := rundir.Landing{WS: w.ID, Base: l.base, Branch: "fleet/" + w.ID, Tree: l.Dir.Tree(&w)}
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
	status, err := tree.Status(ctx)
	switch {
	case err != nil:
		return "", "", err
	case len(status.Changes) > 0:
		return "", "", roster.Refusef("%s has changes that are not committed: %s", to.Tree, quoteAll(status.Paths())).
			Hinted("fleet commit %s -m \"…\"", to.WS)
	case status.Branch != to.Branch:
		return "", "", roster.Refusef("%s is not on its branch %s but on %q", to.Tree, to.Branch, status.Branch).
			Hinted("look for an unfinished rebase there, or: git switch %s", to.Branch)
	}
	base, found, err := l.git.Commit(ctx, git.BranchRef(l.base))
	if err == nil && !found {
		err = roster.Dataf("the base branch %s does not exist", l.base)
	}
	return base, status.Head, err
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

func (l *Lander) gated(ws, what string, err error) error {
	if conflict, is := errors.AsType[*git.ConflictError](err); is {
		return &GateError{WS: ws, Reason: fmt.Sprintf("%s: conflicts in %s", what, quoteAll(conflict.Paths))}
	}
	return err
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
	lost := slices.DeleteFunc(status.Paths(), func(p string) bool { return !slices.Contains(landing, p) })
	if len(lost) > 0 {
		return roster.Refusef("the checkout of %s has changes that landing would overwrite: %s", l.base, quoteAll(lost)).
			Hinted("commit them, or put them away")
	}
	return nil
}

// checkout is the one that has the base branch checked out, nil if none has.
func (l *Lander) checkout(ctx context.Context) (*git.Git, error) {
	trees, err := l.git.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.Branch == l.base {
			return git.In(l.Run, t.Path), nil
		}
	}
	return nil, nil
}

// test tries what is about to land, unless nothing would change.
func (l *Lander) test(ctx context.Context, ws, from, to string) error {
	if l.Test == "" || from == to {
		return nil
	}
	if !l.MergeCommit {
		if err := l.git.AddScratch(ctx, l.scratch(), to); err != nil {
			return err
		}
	}
	return l.runTest(ctx, ws)
}

func (l *Lander) runTest(ctx context.Context, ws string) error {
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

// move moves the base branch to a tested commit, if it is where it was when that was made.
func (l *Lander) move(ctx context.Context, to rundir.Landing) error {
	if to.From == to.To {
		return l.Dir.BeginLanding(to)
	}
	unlock, err := lockRepository(ctx, l.places)
	if err != nil {
		return err
	}
	defer unlock()
	now, _, err := l.git.Commit(ctx, git.BranchRef(l.base))
	if err == nil && !to.Revert { // the test took its time
		err = l.Dir.View(ctx, func(s *roster.State) error { return s.Landable(to.WS) })
	}
	if err != nil {
		return err
	}
	if now != to.From {
		return roster.Refusef("%s has moved since %s was tested", l.base, to.WS).Hinted("land it again")
	}
	checkout, err := l.checkout(ctx)
	if err != nil {
		return err
	}
	if err := l.Dir.BeginLanding(to); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if checkout == nil {
		err = l.git.MoveBranch(ctx, l.base, to.From, to.To)
	} else {
		err = checkout.FastForward(ctx, to.To)
	}
	if err != nil {
		return errors.Join(err, l.Dir.EndLanding())
	}
	return nil
}

// settle does what follows when the base branch has moved. It can be done again from the start.
func (l *Lander) settle(ctx context.Context, done rundir.Landing) error {
	change := (*roster.State).Land
	if done.Revert {
		change = (*roster.State).Unland
	}
	row, err := l.Dir.Workstream(ctx, done.WS)
	if err != nil {
		return err
	}
	if done.Branch != "" {
		if _, err := l.Stop(ctx, done.WS); err != nil {
			return err
		}
	}
	if row.Status == roster.Landed == done.Revert {
		landing := roster.Landing{Base: done.Base, From: done.From, To: done.To}
		if err := l.Dir.Update(ctx, func(s *roster.State) error { return change(s, done.WS, landing) }); err != nil {
			return err
		}
	}
	if err := l.rebaseOthers(ctx, done); err != nil {
		return err
	}
	if err := l.clear(ctx, done); err != nil {
		l.Said("note: %s has landed; %s stays, since %v", done.WS, done.Tree, err)
	}
	return l.Dir.EndLanding()
}

// clear removes the worktree and the branch of what has landed, once it is sure that the base branch has it all.
func (l *Lander) clear(ctx context.Context, done rundir.Landing) error {
	if done.Branch == "" {
		return nil
	}
	has, err := l.git.Contains(ctx, git.BranchRef(done.Base), done.Lane)
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("%s does not contain %s", done.Base, done.Lane)
	}
	if _, err := os.Stat(done.Tree); err == nil {
		if err := l.git.RemoveWorktree(ctx, done.Tree); err != nil {
			return err
		}
	}
	if _, exists, err := l.git.Commit(ctx, git.BranchRef(done.Branch)); err != nil || !exists {
		return err
	}
	return l.git.DeleteBranch(ctx, done.Branch, done.Lane)
}

// rebaseOthers moves the lanes that are still in flight onto the new base. One that
// meets a conflict is marked; one at work, or with changes, waits until it lands.
func (l *Lander) rebaseOthers(ctx context.Context, done rundir.Landing) error {
	var others []roster.Workstream
	err := l.Dir.View(ctx, func(s *roster.State) error {
		for _, w := range s.Workstreams {
			if w.ID != done.WS && w.Tree != roster.MainTree && w.Tree != "" && s.Landable(w.ID) == nil {
				others = append(others, w)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range others {
		err := l.rebase(ctx, w, done.To)
		if gate, closed := errors.AsType[*GateError](err); closed {
			l.Said("%v", gate)
			err = l.Dir.Update(ctx, func(s *roster.State) error { return s.FailToLand(w.ID, gate.Reason, "") })
		}
		if err != nil {
			l.Said("note: %s is not rebased: %v", w.ID, err)
		}
	}
	return nil
}

func (l *Lander) rebase(ctx context.Context, w roster.Workstream, onto string) error {
	tree := git.In(l.Run, l.Dir.Tree(&w))
	status, err := tree.Status(ctx)
	switch {
	case err != nil:
		return err
	case len(status.Changes) > 0 || status.Branch != "fleet/"+w.ID:
		return errors.New("its tree has changes that are not committed, or another branch")
	}
	return l.gated(w.ID, "rebase onto "+l.base, tree.Rebase(ctx, onto))
}
