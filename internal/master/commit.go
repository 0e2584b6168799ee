package master

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// CommitOptions say what a commit is to be.
type CommitOptions struct {
	Message   string
	StageOnly bool // put the files into the index, no more
	Force     bool // although there are dirty files that nobody owns; those are left alone
}

// commitTimeout is for the hooks of the repository, which may test and format.
const commitTimeout = 15 * time.Minute

// Commit commits what a workstream has changed: the files that it holds or claims,
// and no others. It returns the new commit's abbreviated name, empty if only the index was asked for.
func (f *Fleet) Commit(ctx context.Context, ws string, o CommitOptions) (sha string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return "", err
	}
	g := git.In(f.Run, f.Dir.Tree(&w))
	places, err := g.Places(ctx)
	if err != nil {
		return "", err
	}
	unlock, err := lockRepository(ctx, places)
	if err != nil {
		return "", err
	}
	defer unlock()
	c := commit{Fleet: f, git: g, places: places, ws: ws, CommitOptions: o}
	if err := c.look(ctx); err != nil {
		return "", err
	}
	if o.StageOnly {
		return "", g.Stage(ctx, git.Paths(c.own))
	}
	return c.make(ctx)
}

// lockRepository keeps the commits and landings of all runs of a repository apart.
func lockRepository(ctx context.Context, p git.Places) (unlock func(), err error) {
	return rundir.LockFile(ctx, filepath.Join(p.Common, "fleet.lock"))
}

// commit is one on its way.
type commit struct {
	*Fleet
	CommitOptions
	git    *git.Git
	places git.Places
	ws     string

	own, others []git.Change
	leases      []roster.Lease    // those of the workstream, as they are before the commit
	stamps      map[string]string // by path, of what they hold
	forced      bool
}

// look finds out what there is to commit, and refuses what can't be.
func (c *commit) look(ctx context.Context) error {
	if err := git.Idle(c.places.Root); err != nil {
		return err
	}
	status, err := c.git.Status(ctx)
	if err != nil {
		return err
	}
	var own, nobodys []string
	err = c.Dir.View(ctx, func(s *roster.State) (err error) {
		c.leases = s.Held(c.ws)
		own, nobodys, err = s.Divide(c.ws, status.Paths())
		return err
	})
	if err != nil {
		return err
	}
	c.stamps = make(map[string]string)
	for _, l := range c.leases {
		c.stamps[l.Path], _ = rundir.Stamp(filepath.Join(c.places.Root, l.Path))
	}
	for _, change := range status.Changes {
		switch {
		case !slices.Contains(own, change.Path):
			c.others = append(c.others, change)
		case change.Kind == git.Nested:
			return roster.Refusef("%s is a repository of its own, which can't be committed in this one", roster.Printable(change.Path)).
				Hinted("add it to .gitignore, or make it a submodule")
		default:
			c.own = append(c.own, change)
		}
	}
	c.forced = len(nobodys) > 0
	if c.forced && !c.Force {
		return &UnownedError{WS: c.ws, Paths: nobodys}
	}
	if len(c.own) == 0 {
		free := c.Dir.Update(ctx, func(s *roster.State) error { s.FreeCommitted(c.leases); return nil })
		return errors.Join(roster.Dataf("%s has nothing to commit: no file that it holds or claims differs from the last commit", c.ws), free)
	}
	return nil
}

// make commits, and looks afterwards whether the commit is what it should be.
func (c *commit) make(ctx context.Context) (string, error) {
	sha, err := c.git.CommitOnly(ctx, subject(c.ws, c.Message), c.own)
	if err != nil {
		return "", err
	}
	ctx = proc.Steady(ctx) // what was begun is settled
	if err := c.verify(ctx, sha); err != nil {
		return "", err
	}
	left := c.afterHooks(ctx) // whatever that is, the commit is made
	return sha, errors.Join(left, c.Dir.Update(ctx, func(s *roster.State) error {
		return s.Committed(c.ws, sha, git.Paths(c.own), c.leases, c.stamps, c.forced)
	}))
}

// subject is the message of a commit of a workstream.
func subject(ws, message string) string { return "fleet " + ws + ": " + message }

// verify takes a commit back that holds what isn't the workstream's: a hook of the
// repository has added it.
func (c *commit) verify(ctx context.Context, sha string) error {
	got, parent, err := c.git.Changed(ctx, sha)
	if err != nil {
		return err
	}
	var extra []string
	for _, p := range got {
		if !slices.ContainsFunc(c.own, func(own git.Change) bool { return own.Path == p }) {
			extra = append(extra, p)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	full, _, err := c.git.Commit(ctx, sha)
	if err == nil {
		err = c.git.TakeBack(ctx, full, parent, git.Paths(c.own))
	}
	refusal := roster.Refusef("the repository's commit hook added %s, which isn't %s's: the commit was taken back", quoteAll(extra), c.ws).
		Hinted("claim it first, if it is: fleet claim %s <path>", c.ws)
	return errors.Join(refusal, err)
}

// afterHooks settles what the commit hooks of the repository have left: files that they
// rewrote are in the commit, and the index must say so, too. Other workers' changes must be where they were.
func (c *commit) afterHooks(ctx context.Context) error {
	if !c.places.HasCommitHooks() {
		return nil
	}
	if err := c.git.Unstage(ctx, git.Paths(c.own)); err != nil {
		return err
	}
	status, err := c.git.Status(ctx)
	if err != nil {
		return err
	}
	var lost []string
	for _, o := range c.others {
		if !slices.Contains(status.Paths(), o.Path) {
			lost = append(lost, o.Path)
		}
	}
	if len(lost) > 0 {
		note := c.Dir.Update(ctx, func(s *roster.State) error {
			s.Note(roster.ForeignWriteFound, c.ws, "", map[string]any{"paths": lost, "tool": "commit hook"})
			return nil
		})
		took := fmt.Errorf("committed, but the repository's commit hook took away the changes of others in %s; look for them in git stash list", quoteAll(lost))
		return errors.Join(took, note)
	}
	dirty := status.Paths()
	c.leases = slices.DeleteFunc(c.leases, func(l roster.Lease) bool { return slices.Contains(dirty, l.Path) })
	return nil
}

// UnownedError says which dirty files keep a workstream's files from being committed or landed: nobody owns them.
type UnownedError struct {
	WS    string
	Paths []string
}

func (e *UnownedError) Error() string {
	return fmt.Sprintf("dirty files that no workstream holds or claims: %s", quoteAll(e.Paths))
}

// quoteAll is a list of paths as a line of text.
func quoteAll(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = roster.Printable(p)
	}
	return strings.Join(quoted, ", ")
}

// freeCommitted frees the leases that were kept for files whose changes are
// committed, or gone. Where git can't tell, they stay.
func (f *Fleet) freeCommitted(ctx context.Context) error {
	var kept []roster.Lease
	err := f.Dir.View(ctx, func(s *roster.State) error {
		kept = s.KeptInMain()
		return nil
	})
	if err != nil || len(kept) == 0 {
		return err
	}
	status, err := git.In(f.Run, f.Dir.Root).Status(ctx)
	if err != nil {
		return nil //nolint:nilerr // doubt keeps the files
	}
	dirty := status.Paths()
	kept = slices.DeleteFunc(kept, func(l roster.Lease) bool { return slices.Contains(dirty, l.Path) })
	if len(kept) == 0 {
		return nil
	}
	return f.Dir.Update(ctx, func(s *roster.State) error { s.FreeCommitted(kept); return nil })
}
