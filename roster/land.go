package roster

import (
	"cmp"
	"slices"
	"strings"
)

// noteLand starts the note of a workstream that could not land; a new prompt or task lifts it.
const noteLand = "land:"

// Landable refuses to land a workstream that has landed or is at work.
func (s *State) Landable(id string) error {
	w, err := s.Workstream(id)
	switch {
	case err != nil:
		return err
	case w.Status == Landed:
		return Refusef("%s has landed already, as %s", id, w.LandedSHA)
	case w.TaskID != "" || w.Status == Working || s.isBetween(w):
		return Refusef("%s is at work", id).Hinted("wait for the end of its task, or: fleet stop %s", id)
	}
	return nil
}

// Ready lists the workstreams that can land, the one whose last task ended first ahead.
func (s *State) Ready() []string {
	var ready []string
	ended := make(map[string]string)
	for _, w := range s.Workstreams {
		if w.Status != Done && !w.failedToLand() {
			continue
		}
		ready = append(ready, w.ID)
		for _, t := range s.Tasks {
			if t.Workstream == w.ID {
				ended[w.ID] = max(ended[w.ID], t.CompletedAt.String())
			}
		}
	}
	slices.SortStableFunc(ready, func(a, b string) int { return cmp.Compare(ended[a], ended[b]) })
	return ready
}

func (w *Workstream) failedToLand() bool {
	return w.Status == Blocked && strings.HasPrefix(w.Notes, noteLand)
}

// Landing is what came of an attempt to move the base branch.
type Landing struct {
	Base     string // branch
	From, To string // where it was, and the commit that it is at now
}

// Land notes that a workstream's commits are in the base branch, and frees what it held.
func (s *State) Land(id string, l Landing) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	s.endWork(w, notItsFault, "landed")
	w.LandedSHA, w.Tree = ShortSHA(l.To), MainTree
	w.Notes = ""
	s.setStatus(w, Landed, "")
	s.Note(LandingDone, id, "", map[string]any{"base": l.Base, "from": l.From, "to": l.To})
	return nil
}

// FailToLand notes why a workstream can't land. Its worker, or a person, has to do something about it.
func (s *State) FailToLand(id, reason, log string) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	s.Note(LandingFailed, id, "", map[string]any{"reason": reason, "log": log})
	if log != "" {
		reason += "; see " + log
	}
	s.setStatus(w, Blocked, noteLand+" "+reason)
	return nil
}

// Unland notes that what a workstream had landed is undone by a later commit.
func (s *State) Unland(id string, l Landing) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	w.LandedSHA = ""
	s.setStatus(w, Done, "reverted by "+ShortSHA(l.To))
	s.Note(LandingReverted, id, "", map[string]any{"base": l.Base, "from": l.From, "to": l.To})
	return nil
}

const shortLength = 9

// ShortSHA is a commit's name as people see it.
func ShortSHA(sha string) string { return sha[:min(len(sha), shortLength)] }
