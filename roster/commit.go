package roster

import "slices"

// toolKept stands in a lease for the tool that wrote, when the turn in which it
// did is over and the lease is kept until the file is committed.
const toolKept = "uncommitted"

// Kept reports whether the lease has outlived its turn, until its file is committed.
func (l *Lease) Kept() bool { return l.Tool == toolKept }

// Divide sorts dirty files of a workstream's tree: its own are those that it holds
// or claims; nobody's are those that no workstream does. The rest is others' work. In a
// tree of its own, where its leases end with the turn, it has what nobody claims, and
// what is others', who would not commit it there, counts as nobody's.
func (s *State) Divide(id string, dirty []string) (own, nobodys []string, err error) {
	w, err := s.Workstream(id)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range dirty {
		switch owner := s.owner(w, p); {
		case owner == id || owner == "" && w.ownTree():
			own = append(own, p)
		case owner == "" || w.ownTree():
			nobodys = append(nobodys, p)
		}
	}
	return own, nobodys, nil
}

// owner is the workstream whose work a dirty file is: its holder, else who claims
// it. A live claim counts before those of workstreams that are done with it.
func (s *State) owner(w *Workstream, p string) string {
	if l, held := s.Leases.Get(p); held {
		return l.WS
	}
	covers := func(claim string) bool { return Covers(claim, p) }
	if other, _ := s.claimant(w, covers); other != nil {
		return other.ID
	}
	if slices.ContainsFunc(w.Claims, covers) {
		return w.ID
	}
	for other := range rows(s.Workstreams) {
		if slices.ContainsFunc(other.Claims, covers) {
			return other.ID
		}
	}
	return ""
}

// ownTree reports whether the workstream works in a checkout of its own.
func (w *Workstream) ownTree() bool { return w.Tree != "" && w.Tree != MainTree }

// noteForced is left in the notes of a commit that left files behind which nobody owns.
const noteForced = "forced-commit-unclaimed-left"

// Committed notes a commit of a workstream's files. The leases that were
// taken before it and have not changed since are free. Those whose write is under way
// are by the end of it, if the file is then what it was by its stamp when it was committed.
func (s *State) Committed(id, sha string, paths []string, before []Lease, stamps map[string]string, forced bool) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	w.LandedSHA = sha
	s.touch(w)
	if forced {
		w.Notes = noteForced
	}
	s.Note(CommitMade, id, w.TaskID, map[string]any{"sha": sha, "paths": paths, "forced": forced})
	s.FreeCommitted(before)
	for _, l := range s.Held(id) { // a write that has begun since is another's, such as a subagent's
		if stamp := stamps[l.Path]; l.Stamp == "" && stamp != "" && slices.Contains(paths, l.Path) && slices.Contains(before, l) {
			l.Stamp = stampCommitted + stamp
			s.Leases.Put(l)
		}
	}
	return nil
}

// KeptInMain lists the leases that are kept until files of the main checkout are committed. Those of a
// workstream that is handed over aren't among them: its last agent may still write.
func (s *State) KeptInMain() []Lease {
	var kept []Lease
	for l := range s.Leases.All() {
		if w, err := s.Workstream(l.WS); err == nil && l.Kept() && !w.ownTree() && !s.isBetween(w) {
			kept = append(kept, l)
		}
	}
	return kept
}

// FreeCommitted frees leases whose files are as in the last commit, those that are still as they were seen.
func (s *State) FreeCommitted(seen []Lease) {
	for _, l := range seen {
		now, held := s.Leases.Get(l.Path)
		w, err := s.Workstream(l.WS)
		if held && now == l && err == nil && (l.Kept() || !l.underWay()) {
			s.dropLeases(w, []string{l.Path}, "committed")
		}
	}
}

// endLeases frees what a workstream holds at the end of a turn. Where hunks of two workers
// could mix in one file, it keeps them until they are committed, unless somebody
// whom it waits for waits for it.
func (s *State) endLeases(w *Workstream, why string) {
	if !s.UntilCommit || w.Mode == Headless || w.ownTree() || s.waitsForItself(w) {
		s.releaseLeases(w, why)
		return
	}
	s.keepLeases(w)
}

// keepLeases keeps what a workstream holds, for its present incarnation, until it is committed.
func (s *State) keepLeases(w *Workstream) {
	for _, l := range s.Held(w.ID) {
		l.Tool, l.Epoch = toolKept, w.Epoch
		s.Leases.Put(l)
	}
}

// waitsForItself reports whether the workstream waits for a file, whose holder
// waits for a file, and so on, until the holder is the workstream.
func (s *State) waitsForItself(w *Workstream) bool {
	next := s.waitsFor(w)
	for range s.Workstreams {
		switch {
		case next == nil:
			return false
		case next.ID == w.ID:
			return true
		}
		next = s.waitsFor(next)
	}
	return false
}

// waitsFor is the holder of the file for which a task of the workstream waits.
func (s *State) waitsFor(w *Workstream) *Workstream {
	for t := range rows(s.Tasks) {
		if t.BlockedOn == "" || !t.Open() || t.Workstream != w.ID {
			continue
		}
		if l, held := s.Leases.Get(t.BlockedOn); held && l.WS != w.ID {
			if other, err := s.Workstream(l.WS); err == nil {
				return other
			}
		}
	}
	return nil
}
