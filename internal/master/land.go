package master

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"

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

// LandDefaults is what the run's settings say of landing.
func (f *Fleet) LandDefaults() LandOptions {
	return LandOptions{Test: f.Dir.Config.Test, Forbid: f.Dir.Config.Forbid}
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
	unlock, err := rundir.LockFile(ctx, filepath.Join(l.places.Common, "fleet-land.lock"))
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		if err := l.git.RemoveScratch(proc.Steady(ctx), l.scratch()); err != nil {
			l.Said("note: %v", err)
		}
		unlock()
	}
	if err := errors.Join(l.places.Exclude("/"+f.Dir.Config.WorktreeRoot+"/"), l.resume(ctx)); err != nil {
		done()
		return nil, nil, err
	}
	return l, done, nil
}

// look decides which branch is the base. It tells at which commit that is, and what is not committed where it is checked out.
func (l *Lander) look(ctx context.Context) (base string, dirty []string, err error) {
	status, err := l.git.Status(ctx)
	if err != nil {
		return "", nil, err
	}
	l.base = cmp.Or(l.Dir.Config.Base, status.Branch)
	if l.base == "" || l.base == status.Branch {
		err = git.Idle(l.places.Root)
	} else {
		var at standing
		if at, err = l.standing(ctx); err != nil || at.checkout == "" {
			return at.base, nil, err
		}
		status, err = git.In(l.Run, at.checkout).Status(ctx)
	}
	switch {
	case err != nil:
	case l.base == "":
		err = roster.Refusef("no branch is checked out in %s, so there is nothing to land on", l.Dir.Root).
			Hinted("git switch <branch> there, or set FLEET_BASE in fleet.env")
	case status.Head == "":
		err = roster.Dataf("the base branch %s has no commit", l.base)
	}
	return status.Head, status.Paths(), err
}

// standing is where the base branch is, and every checkout.
type standing struct {
	base     string // commit
	checkout string // the one that has the base branch checked out, empty if none has
	trees    []git.Worktree
}

// standing looks at a base branch that is not in the middle of anything.
func (l *Lander) standing(ctx context.Context) (at standing, err error) {
	if at.trees, err = l.git.Worktrees(ctx); err != nil {
		return at, err
	}
	for _, t := range at.trees {
		if t.Branch == l.base {
			at.base, at.checkout = t.Head, t.Path
			return at, git.Idle(t.Path)
		}
	}
	var found bool
	at.base, found, err = l.git.Commit(ctx, git.BranchRef(l.base))
	if err == nil && !found {
		err = roster.Dataf("the base branch %s has no commit", l.base)
	}
	return at, err
}

// scratch is the worktree in which what is about to land is made and tested.
func (l *Lander) scratch() string {
	return filepath.Join(l.Dir.Root, l.Dir.Config.WorktreeRoot, l.Dir.Slug()+"-land")
}

// Land brings one workstream into the base branch and returns the commit at which that is now.
func (l *Lander) Land(ctx context.Context, ws string) (sha string, err error) {
	w, err := l.landable(ctx, ws)
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
	switch {
	case err != nil || begun.From == begun.To:
	case l.MergeCommit:
		err = l.testMade(ctx, ws, begun.To)
	default:
		err = l.test(ctx, ws, begun.To)
	}
	return begun.To, l.failed(ctx, ws, l.finish(ctx, begun, err))
}

// landable is the row of a workstream that can land now.
func (l *Lander) landable(ctx context.Context, ws string) (w roster.Workstream, err error) {
	err = l.Dir.View(ctx, func(s *roster.State) error {
		if err := s.Landable(ws); err != nil {
			return err
		}
		row, err := s.Workstream(ws)
		w = *row
		return err
	})
	return w, err
}

// finish moves the base branch to what was made and tested, unless there was an error, and does what follows.
func (l *Lander) finish(ctx context.Context, begun rundir.Landing, err error) error {
	var at standing
	if err == nil {
		at, err = l.move(ctx, begun)
	}
	if err != nil {
		return err
	}
	return l.settle(ctx, begun, at)
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
	base, _, err := l.look(ctx)
	if err != nil {
		return "", err
	}
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
	case base != status.Head:
		return "", roster.Refusef("%s is not at the commit of %s, on which it would land", l.Dir.Root, l.base).Hinted("git switch %s there, or see FLEET_BASE in fleet.env", l.base)
	}
	if len(own) > 0 {
		l.Said("note: files of %s are not committed, and don't land: %s", w.ID, quoteAll(own))
	}
	if l.Test != "" {
		if err := l.test(ctx, w.ID, status.Head); err != nil {
			return "", l.failed(ctx, w.ID, err)
		}
	}
	landing := roster.Landing{Base: l.base, From: status.Head, To: status.Head}
	return status.Head, l.Dir.Update(ctx, func(s *roster.State) error { return s.Land(w.ID, landing) })
}
