package roster

import (
	"slices"
	"testing"
)

// CFN-50, CFN-53, CFN-54, PAINS 75: whose a dirty file is.
func TestDivide(t *testing.T) {
	s := race()
	dirty := []string{"lib/one.go", "lib/two.go", "api/new.go", "web/deep/a.css", "later/x", "old/x", "stray"}
	own, nobodys, err := s.Divide("WS01", dirty)
	eq(t, "error", err, nil)
	eq(t, "own", own, []string{"lib/one.go", "api/new.go"})
	eq(t, "nobody's", nobodys, []string{"stray"})

	// A claim that counts goes before one of a workstream that is done.
	s.Workstreams[2].Claims = []string{"old/x"}
	own, _, err = s.Divide("WS04", append(dirty, "old/y"))
	eq(t, "error", err, nil)
	eq(t, "own of the one that is done", own, []string{"old/y"})

	// In a tree of its own nobody else would commit them.
	s.Workstreams[0].Tree = ".claude/worktrees/x"
	_, nobodys, err = s.Divide("WS01", []string{"lib/two.go", "stray"})
	eq(t, "error", err, nil)
	eq(t, "nobody's, in a tree of its own", nobodys, []string{"lib/two.go"})
}

// PAINS 76: a lease outlives its turn until its file is committed, and nobody else writes it meanwhile.
func TestLeasesUntilCommit(t *testing.T) {
	s := race()
	s.UntilCommit = true
	must(t, s.TurnEnded("WS01", 1, "done"))
	l, held := s.Leases.Get("lib/one.go")
	eq(t, "held", held, true)
	eq(t, "kept", l.Kept(), true)
	denied := s.AcquireLeases(ask("WS02", 1, everybody, "lib/one.go"))
	eq(t, "denials", denied, []Denial{{Path: "lib/one.go", Reason: DenyHeld, Holder: "WS01", HolderTask: "T1", Kept: true}})

	// Its holder goes on, and commits while another write is under way: that one stays.
	l.Stamp = "1:1"
	s.Leases.Put(l)
	before := []Lease{l}
	eq(t, "denials of its holder", len(s.AcquireLeases(ask("WS01", 1, everybody, "lib/one.go"))), 0)
	must(t, s.Committed("WS01", "abc1234", []string{"lib/one.go"}, before, nil, false))
	_, held = s.Leases.Get("lib/one.go")
	eq(t, "held while it is being written", held, true)

	// Unchanged since, it is free.
	must(t, s.FileWritten("WS01", 1, "lib/one.go", "Edit", "2:2"))
	l, _ = s.Leases.Get("lib/one.go")
	must(t, s.Committed("WS01", "abc1235", []string{"lib/one.go"}, []Lease{l}, nil, true))
	_, held = s.Leases.Get("lib/one.go")
	eq(t, "held after the commit", held, false)
	w, _ := s.Workstream("WS01")
	eq(t, "row", []string{w.LandedSHA, w.Notes}, []string{"abc1235", "forced-commit-unclaimed-left"})
}

// A command that writes and commits frees the file when it ends, unless it has written it once more.
func TestCommitWithinAWrite(t *testing.T) {
	for stamp, free := range map[string]bool{"1:1": true, "2:2": false} {
		s := race()
		s.UntilCommit = true
		l, _ := s.Leases.Get("lib/one.go")
		must(t, s.Committed("WS01", "abc1234", []string{"lib/one.go"}, []Lease{l}, map[string]string{"lib/one.go": "1:1", "lib/two.go": "1:1"}, false))
		eq(t, "denials before it ends", len(s.AcquireLeases(ask("WS02", 1, everybody, "lib/one.go"))), 1)
		found, err := s.Audit("WS02", 1, Shell{Tool: "Bash", Stamp: disk{}.stamp})
		must(t, err)
		eq(t, "found by another, who can't judge it", len(found), 0)
		_, err = s.ShellRan("WS01", 1, Shell{Tool: "Bash", Stamp: func(string) (string, int64) { return stamp, 0 }})
		must(t, err)
		_, held := s.Leases.Get("lib/one.go")
		eq(t, "held after "+stamp, held, !free)
	}
}

// Another write by the same worker, a subagent's, that began before the commit was noted keeps the file.
func TestCommitBesideAnotherWrite(t *testing.T) {
	s := race()
	l, _ := s.Leases.Get("lib/one.go")
	l.Stamp = "1:1"
	s.Leases.Put(l)
	eq(t, "denials", len(s.AcquireLeases(ask("WS01", 1, everybody, "lib/one.go"))), 0)
	must(t, s.Committed("WS01", "abc1234", []string{"lib/one.go"}, []Lease{l}, map[string]string{"lib/one.go": "1:1"}, false))
	_, err := s.ShellRan("WS01", 1, Shell{Tool: "Bash", Stamp: func(string) (string, int64) { return "1:1", 0 }})
	must(t, err)
	eq(t, "denials of another", len(s.AcquireLeases(ask("WS02", 1, everybody, "lib/one.go"))), 1)
}

// Two that wait for each other's files would wait for ever: whose turn ends last lets go.
func TestLeasesOfThoseWhoWaitForEachOther(t *testing.T) {
	s := race()
	s.UntilCommit = true
	eq(t, "denials", len(s.AcquireLeases(ask("WS01", 1, everybody, "lib/two.go"))), 1)
	must(t, s.TurnEnded("WS01", 1, "vetoed"))
	_, held := s.Leases.Get("lib/one.go")
	eq(t, "held by the first, who waits for one at work", held, true)
	eq(t, "denials", len(s.AcquireLeases(ask("WS02", 1, everybody, "lib/one.go"))), 1)
	must(t, s.TurnEnded("WS02", 1, "vetoed"))
	_, held = s.Leases.Get("lib/two.go")
	eq(t, "held by the second", held, false)
	_, held = s.Leases.Get("lib/one.go")
	eq(t, "held by the first", held, true)
}

// A headless worker, one in a tree of its own and one that dies keep nothing.
func TestLeasesThatEnd(t *testing.T) {
	for name, change := range map[string]func(*State){
		"task":     func(s *State) { s.UntilCommit = false },
		"worktree": func(s *State) { s.Workstreams[0].Tree = "wt" },
	} {
		s := race()
		s.UntilCommit = true
		change(s)
		must(t, s.TurnEnded("WS01", 1, "done"))
		_, held := s.Leases.Get("lib/one.go")
		eq(t, name, held, false)
	}
	s := race()
	s.UntilCommit = true
	must(t, s.TurnEnded("WS01", 1, "done"))
	must(t, s.MarkDead("WS01", 1, "gone"))
	_, held := s.Leases.Get("lib/one.go")
	eq(t, "held by the dead", held, false)
}

// CFN-79, FF-105, FF-106: what may land, in which order, and what becomes of a row.
func TestLandRows(t *testing.T) {
	s := race()
	s.Tasks[0].Pinned, s.Tasks[1].Pinned = true, true
	eq(t, "at work", KindOf(s.Landable("WS01")), Refused)
	must(t, s.TurnEnded("WS02", 1, "done"))
	s.Now = s.Now.Add(1e9)
	must(t, s.TurnEnded("WS01", 1, "done"))
	ready := s.Ready()
	eq(t, "in the order of their ends", slices.Index(ready, "WS02") < slices.Index(ready, "WS01"), true)
	must(t, s.FailToLand("WS02", "conflicts in a.go", "logs/x"))
	w, _ := s.Workstream("WS02")
	eq(t, "blocked", []string{string(w.Status), w.Notes}, []string{"blocked", "land: conflicts in a.go; see logs/x"})
	eq(t, "may try again", slices.Contains(s.Ready(), "WS02"), true)
	eq(t, "can be given a task", w.Waits(), true)
	must(t, s.Tick(nobody)) // its worker may have gone: that is no death to report of one that waits for a person
	w, _ = s.Workstream("WS02")
	eq(t, "still blocked", w.Status, Blocked)

	w.Tree = ".claude/worktrees/x"
	must(t, s.Land("WS02", Landing{Base: "main", From: "a", To: "0123456789abcdef"}))
	eq(t, "row", []string{string(w.Status), w.LandedSHA, w.Tree}, []string{"landed", "012345678", MainTree})
	eq(t, "again", KindOf(s.Landable("WS02")), Refused)
	must(t, s.Unland("WS02", Landing{To: "fedcba9876543210"}))
	eq(t, "row", []string{string(w.Status), w.LandedSHA, w.Notes}, []string{"done", "", "reverted by fedcba987"})
}
