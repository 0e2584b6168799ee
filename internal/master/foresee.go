package master

import (
	"context"
	"errors"
	"fmt"

	"fleet/internal/git"
	"fleet/roster"
)

// Foreseen is what landing a workstream would meet, after those before it in the queue have landed.
type Foreseen struct {
	WS        string
	Into      string   // branch
	Commits   int      // that it would bring
	Conflicts []string // files
	Refused   error    // why it can't even be tried
}

func (f Foreseen) String() string {
	switch {
	case f.Refused != nil:
		return fmt.Sprintf("PLAN land %s refused: %v", f.WS, f.Refused)
	case len(f.Conflicts) > 0:
		return fmt.Sprintf("PLAN land %s into=%s commits=%d conflicts=%s", f.WS, f.Into, f.Commits, quoteAll(f.Conflicts))
	}
	return fmt.Sprintf("PLAN land %s into=%s commits=%d", f.WS, f.Into, f.Commits)
}

// Foresee merges workstreams one after the other without touching a branch or a
// checkout, and tells what each would meet.
func (l *Lander) Foresee(ctx context.Context, ids []string) ([]Foreseen, error) {
	base, _, err := l.look(ctx)
	if err != nil {
		return nil, err
	}
	var all []Foreseen
	for _, id := range ids {
		w, refused := l.landable(ctx, id)
		f := Foreseen{WS: id, Into: l.base, Refused: refused}
		if refused == nil && w.Tree != roster.MainTree {
			if base, err = l.join(ctx, &f, &w, base); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// join adds a lane to what the base would be by then.
func (l *Lander) join(ctx context.Context, f *Foreseen, w *roster.Workstream, base string) (joined string, err error) {
	branch := git.BranchRef(w.Branch())
	if _, found, err := l.git.Commit(ctx, branch); err != nil || !found {
		f.Refused = roster.Dataf("it has no branch %s", w.Branch())
		return base, err
	}
	commits, err := l.git.Since(ctx, base, branch)
	if err != nil {
		return base, err
	}
	f.Commits = len(commits)
	joined, err = l.git.Join(ctx, base, branch)
	if conflict, is := errors.AsType[*git.ConflictError](err); is {
		f.Conflicts = conflict.Paths
		return base, nil
	}
	return joined, err
}
