package roster

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Lease is one row of leases.tsv, the proof of a write: one file, held by one workstream for one task.
type Lease struct {
	Path       string `json:"path"` // relative to the repository, POSIX, symlinks resolved; the key
	WS         string `json:"ws_id"`
	Task       string `json:"task_id"`
	Epoch      int    `json:"epoch"`
	Tool       string `json:"tool"` // the tool that wrote first, or "uncommitted": see Kept
	AcquiredAt Time   `json:"acquired_at"`
	Stamp      string `json:"stamp"` // the file after the holder's last write, see FileStamp; empty while a write is under way, see also stampCommitted
}

// stampCommitted stands before the stamp of a file that was committed by the very command whose write is under way:
// if it is the same file when that ends, the lease is free.
const stampCommitted = "committed:"

func (l *Lease) underWay() bool { return l.Stamp == "" || strings.HasPrefix(l.Stamp, stampCommitted) }

// Leases is the table of held files. The key is the exclusion: a path has one row or none.
// It is an interface since the write check, on every edit, asks for one path of
// perhaps thousands; rundir answers that without reading the rest.
type Leases interface {
	Get(path string) (Lease, bool)
	All() iter.Seq[Lease] // in a stable order
	Put(Lease)
	Delete(path string)
}

// LeaseMap is a Leases in memory.
type LeaseMap map[string]Lease

// Get returns the lease on a path.
func (m LeaseMap) Get(path string) (Lease, bool) { l, ok := m[path]; return l, ok }

// All returns the leases by path.
func (m LeaseMap) All() iter.Seq[Lease] {
	return func(yield func(Lease) bool) {
		for _, p := range slices.Sorted(maps.Keys(m)) {
			if l, ok := m[p]; ok && !yield(l) {
				return
			}
		}
	}
}

// Put sets the lease on its path.
func (m LeaseMap) Put(l Lease) { m[l.Path] = l }

// Delete removes the lease on a path, if there is one.
func (m LeaseMap) Delete(path string) { delete(m, path) }

// DenyReason says why a path may not be written.
type DenyReason string

// The reasons of a denial.
const (
	DenyHeld      DenyReason = "held"            // leased by another workstream
	DenyClaimed   DenyReason = "claimed"         // inside another live workstream's claims
	DenyUnclaimed DenyReason = "unclaimed"       // strict mode, and not inside one's own claims
	DenyOutside   DenyReason = "outside_workdir" // not in the tree
	DenyProtected DenyReason = "protected"       // run files, agent settings, git's own files
	DenyStale     DenyReason = "stale_epoch"     // asked by an earlier incarnation, or by an earlier session of a headless one
)

// Denial tells why one path was refused.
type Denial struct {
	Path       string     `json:"path"`
	Reason     DenyReason `json:"reason"`
	Holder     string     `json:"holder,omitempty"` // workstream that holds or claims it
	HolderTask string     `json:"holder_task,omitempty"`
	Claim      string     `json:"claim,omitempty"` // the claim that covers it
	Kept       bool       `json:"kept,omitempty"`  // held until it is committed, and not being written
}

func (l *Lease) denial() Denial {
	return Denial{Path: l.Path, Reason: DenyHeld, Holder: l.WS, HolderTask: l.Task, Kept: l.Kept()}
}

// WriteRequest asks for leases.
type WriteRequest struct {
	WS    string
	Epoch int
	Paths []string // relative to the tree, POSIX, clean; a path outside it is given absolute
	Trees []string // directories below which everything would change, "." for all; checked, not leased
	Tool  string
	// Alive reports whether the worker of a workstream runs. The leases and claims
	// of one that doesn't are freed on the spot; it is asked only where they stand in the way.
	Alive func(ws string) bool
}

// AcquireLeases is the write check: all paths are leased to the workstream, or none is and the denials say why.
func (s *State) AcquireLeases(r WriteRequest) []Denial {
	w, err := s.current(r.WS, r.Epoch)
	if err != nil || w.betweenSessions() {
		return s.denied(r, "", []Denial{{Path: cmp.Or(slices.Concat(r.Paths, r.Trees)...), Reason: DenyStale}})
	}
	var denials []Denial
	for _, p := range r.Paths {
		if d, no := s.checkWrite(w, p, r.Alive); no {
			denials = append(denials, d)
		}
	}
	for _, dir := range r.Trees {
		if d, no := s.checkTree(w, dir, r.Alive); no {
			denials = append(denials, d)
		}
	}
	if len(denials) > 0 {
		s.block(w, denials)
		return s.denied(r, w.TaskID, denials)
	}
	for _, p := range r.Paths {
		s.lease(w, p, r.Tool)
	}
	return nil
}

// CheckWrite answers for a session of the operator's, which takes no leases: only what a worker holds is denied.
func (s *State) CheckWrite(paths, trees []string, alive func(ws string) bool) []Denial {
	counts := func(ws string) bool {
		w, err := s.Workstream(ws)
		return alive(ws) || err == nil && s.isBetween(w)
	}
	var denials []Denial
	for _, p := range paths {
		if l, held := s.Leases.Get(p); held && counts(l.WS) {
			denials = append(denials, l.denial())
		}
	}
	if len(trees) == 0 {
		return denials
	}
	for l := range s.Leases.All() {
		if slices.ContainsFunc(trees, func(dir string) bool { return under(dir, l.Path) }) && counts(l.WS) {
			denials = append(denials, l.denial())
		}
	}
	return denials
}

// block makes the task in hand wait for a path that another worker keeps from it,
// and its attempt a veto if it ends without the lease. Of several, the first that still stands counts.
func (s *State) block(w *Workstream, denials []Denial) {
	t := s.Task(w.TaskID)
	if t == nil || t.BlockedOn != "" && !s.holds(w, t.BlockedOn) {
		return
	}
	i := slices.IndexFunc(denials, func(d Denial) bool { return d.Reason == DenyHeld || d.Reason == DenyClaimed })
	if i >= 0 {
		t.BlockedOn, t.UpdatedAt = denials[i].Path, Time{s.Now}
	}
}

func (s *State) denied(r WriteRequest, task string, denials []Denial) []Denial {
	for _, d := range denials {
		s.Note(LeaseDenied, r.WS, task, map[string]any{
			"path": d.Path, "reason": d.Reason, "holder": d.Holder, "holder_task": d.HolderTask, "requester": r.WS, "tool": r.Tool,
		})
	}
	return denials
}

// checkWrite looks for what forbids w to write p.
func (s *State) checkWrite(w *Workstream, p string, alive func(string) bool) (Denial, bool) {
	if !isKey(p) {
		return Denial{Path: p, Reason: DenyOutside}, true
	}
	if protected(w, p) {
		return Denial{Path: p, Reason: DenyProtected}, true
	}
	l, held := s.Leases.Get(p)
	if held && l.WS == w.ID || w.isolated() {
		return Denial{}, false
	}
	if held && !s.gone(l.WS, alive) {
		return l.denial(), true
	}
	if d, claimed := s.claimedByOther(w, p, alive, func(c string) bool { return Covers(c, p) }); claimed {
		return d, true
	}
	if s.Strict && !slices.ContainsFunc(w.Claims, func(c string) bool { return Covers(c, p) }) && !ownNotes(w, p) {
		return Denial{Path: p, Reason: DenyUnclaimed}, true
	}
	return Denial{}, false
}

// checkTree looks for what forbids w to change everything below dir.
func (s *State) checkTree(w *Workstream, dir string, alive func(string) bool) (Denial, bool) {
	if dir != "." && !IsLocal(dir) {
		return Denial{}, false
	}
	if protectedBelow(w, dir) {
		return Denial{Path: dir, Reason: DenyProtected}, true
	}
	if w.isolated() {
		return Denial{}, false
	}
	for l := range s.Leases.All() {
		if l.WS != w.ID && under(dir, l.Path) && !s.gone(l.WS, alive) {
			return l.denial(), true
		}
	}
	return s.claimedByOther(w, dir, alive, func(c string) bool { return Overlap(c, dir) })
}

func (s *State) claimedByOther(w *Workstream, p string, alive func(string) bool, meets func(claim string) bool) (Denial, bool) {
	for {
		other, claim := s.claimant(w, meets)
		if other == nil {
			return Denial{}, false
		}
		if !other.manned() || !s.gone(other.ID, alive) {
			return Denial{Path: p, Reason: DenyClaimed, Holder: other.ID, HolderTask: other.TaskID, Claim: claim}, true
		}
	}
}

// gone declares the worker of ws dead if it no longer runs, which frees its leases and its claims.
func (s *State) gone(ws string, alive func(string) bool) bool {
	if alive(ws) {
		return false
	}
	w, err := s.Workstream(ws)
	switch {
	case err != nil:
		s.releaseLeases(&Workstream{ID: ws}, "its row is gone")
	case s.isBetween(w):
		return false
	default:
		s.markDead(w, "its worker is gone")
	}
	return true
}

// lease gives w a file that nobody else holds, and notes that a write is under
// way. Whoever writes is at work, even if no prompt announced it.
func (s *State) lease(w *Workstream, p, tool string) {
	if w.Status != Working && w.Status != Blocked {
		s.setStatus(w, Working, "")
	}
	if w.isolated() {
		return
	}
	l, mine := s.Leases.Get(p)
	if mine && l.Stamp == "" && !l.Kept() {
		return
	}
	if mine && l.Kept() {
		l.Tool, l.Task, l.Epoch = tool, w.TaskID, w.Epoch
	}
	if !mine {
		l = Lease{Path: p, WS: w.ID, Task: w.TaskID, Epoch: w.Epoch, Tool: tool, AcquiredAt: Time{s.Now}}
		s.Note(LeaseAcquired, w.ID, w.TaskID, map[string]any{"path": p, "tool": tool})
	}
	l.Stamp = ""
	s.Leases.Put(l)
}

// Held lists the leases of a workstream. It is a copy, so they may be changed meanwhile.
func (s *State) Held(ws string) []Lease {
	var held []Lease
	for l := range s.Leases.All() {
		if l.WS == ws {
			held = append(held, l)
		}
	}
	return held
}

// releaseLeases drops every lease of a workstream and returns their paths.
func (s *State) releaseLeases(w *Workstream, why string) []string {
	var paths []string
	for _, l := range s.Held(w.ID) {
		paths = append(paths, l.Path)
	}
	s.dropLeases(w, paths, why)
	return paths
}

func (s *State) dropLeases(w *Workstream, paths []string, why string) {
	s.wakes = s.wakes || len(paths) > 0 // somebody may wait for them
	for _, p := range paths {
		s.Leases.Delete(p)
		s.Note(LeaseReleased, w.ID, w.TaskID, map[string]any{"path": p, "why": why})
	}
}
