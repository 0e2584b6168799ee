package roster

import "testing"

// CFN-83: a task that is handed over is nobody else's, the next worker begins with it, and holds what the last one held.
func TestHandOver(t *testing.T) {
	held := Lease{Path: "a.go", WS: "WS01", Task: "T1", Epoch: 1, Tool: "Write", Stamp: "1"}
	s := &State{Now: now, Leases: LeaseMap{"a.go": held}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Interactive, Epoch: 1, TaskID: "T1"},
		{ID: "WS02", Status: Started, Mode: Interactive, Epoch: 1},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskRunning, Workstream: "WS01", Priority: 3, Attempts: 1, MaxAttempts: 3, CreatedAt: Time{now}},
		{ID: "WS01", Status: TaskPending, Workstream: "WS01", Pinned: true, Priority: 4, MaxAttempts: 3, CreatedAt: Time{now}},
		{ID: "T3", Status: TaskPending, Workstream: "WS02", Pinned: true, Scope: []string{"a.go"}, MaxAttempts: 3, CreatedAt: Time{now}},
	}}
	must(t, s.HandOver("WS01"))
	eq(t, "what the ended one reports is stale", IsStale(s.WorkerExited("WS01", 1, Exit{Stopped: true})), true)
	none := func(id string) bool { return id != "WS01" }
	denied := func() []Denial {
		return s.AcquireLeases(WriteRequest{WS: "WS02", Epoch: 1, Paths: []string{"a.go"}, Alive: none})
	}
	must(t, s.Tick(none))
	eq(t, "of another that waits for the task, or the file", row(t, s, "WS02").TaskID, "")
	eq(t, "denials", len(denied()), 1)
	epoch, err := s.Launch("WS01", Launch{Brain: "claude", Mode: Interactive, Spare: 2, Over: true})
	must(t, err)
	eq(t, "call", s.Events()[len(s.Events())-1].Data["spare"], 2)
	must(t, s.Tick(none))
	eq(t, "denials before it is up", len(denied()), 1)
	must(t, s.SessionUp("WS01", epoch, "s", "startup"))
	eq(t, "of the next worker", row(t, s, "WS01").TaskID, "T1")
	eq(t, "note", row(t, s, "WS01").Notes, "")
	eq(t, "attempts, of which the one that was ended doesn't count", s.Task("T1").Attempts, 1)
	held.Epoch, held.Tool = epoch, toolKept
	eq(t, "held", s.Held("WS01"), []Lease{held})

	must(t, s.HandOver("WS02")) // which has none
	refused(t, s.HandOver("WS09"), Data, "not in the roster")
}

// What is between two workers is given no task, doesn't land, and can't be written: its last agent may run yet.
func TestBetweenTwoWorkers(t *testing.T) {
	s := &State{Now: now, UntilCommit: true, Leases: LeaseMap{}, Workstreams: []Workstream{
		{ID: "WS01", Status: Done, Mode: Interactive, Epoch: 1, Tree: MainTree},
		{ID: "WS02", Status: Working, Mode: Interactive, Epoch: 1, Tree: MainTree, TaskID: "T2"},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskPending, Priority: 3, MaxAttempts: 3, CreatedAt: Time{now}},
		{ID: "T2", Status: TaskRunning, Workstream: "WS02", Attempts: 1, MaxAttempts: 3, CreatedAt: Time{now}},
	}}
	s.Leases.Put(Lease{Path: "a.go", WS: "WS01", Epoch: 1, Tool: "Bash"}) // a command that has yet to write
	eq(t, "lands", s.Landable("WS01"), nil)
	must(t, s.HandOver("WS01"))
	eq(t, "kept, as git would tell", len(s.KeptInMain()), 0)
	tick(t, s, everybody) // the last agent is being ended
	tick(t, s, nobody)    // it has ended
	eq(t, "row", []any{row(t, s, "WS01").Status, row(t, s, "WS01").TaskID}, []any{Done, ""})
	eq(t, "denials of the operator", len(s.CheckWrite([]string{"a.go"}, []string{"."}, nobody)), 2)
	refused(t, s.Landable("WS01"), Refused, "is at work")
	_, err := s.Launch("WS01", Launch{Brain: "claude", Mode: Interactive, Over: true})
	must(t, err)
	must(t, s.SessionUp("WS01", 2, "s", "startup"))
	eq(t, "kept in the main checkout", len(s.KeptInMain()), 1)
	row(t, s, "WS01").Tree = ".claude/worktrees/x"
	eq(t, "kept in a tree of its own", len(s.KeptInMain()), 0)
}

// Files stay held only for as long as the next worker takes to start.
func TestHandOverToNobody(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{"a.go": {Path: "a.go", WS: "WS01", Epoch: 1}}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Interactive, Epoch: 1},
	}}
	must(t, s.HandOver("WS01"))
	s.Now = now.Add(overTime)
	must(t, s.Tick(func(string) bool { return false }))
	eq(t, "status", row(t, s, "WS01").Status, Dead)
	eq(t, "held", len(s.Held("WS01")), 0)
}
