package roster

import "testing"

// CFN-83: a task that is handed over is nobody else's, and the next worker begins with it.
func TestKeepTask(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Interactive, Epoch: 1, TaskID: "T1"},
		{ID: "WS02", Status: Started, Mode: Interactive, Epoch: 1},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskRunning, Workstream: "WS01", Priority: 3, Attempts: 1, MaxAttempts: 3, CreatedAt: Time{now}},
		{ID: "WS01", Status: TaskPending, Workstream: "WS01", Pinned: true, Priority: 4, MaxAttempts: 3, CreatedAt: Time{now}},
	}}
	must(t, s.KeepTask("WS01"))
	must(t, s.WorkerExited("WS01", 1, Exit{Stopped: true}))
	must(t, s.Tick(everybody))
	eq(t, "of another that waits for a task", row(t, s, "WS02").TaskID, "")
	epoch, err := s.Launch("WS01", Launch{Brain: "claude", Mode: Interactive, Spare: 2})
	must(t, err)
	eq(t, "call", s.Events()[len(s.Events())-1].Data["spare"], 2)
	must(t, s.SessionUp("WS01", epoch, "s", "startup"))
	eq(t, "of the next worker", row(t, s, "WS01").TaskID, "T1")
	eq(t, "attempts, of which the one that was ended doesn't count", s.Task("T1").Attempts, 1)

	must(t, s.KeepTask("WS02")) // which has none
	refused(t, s.KeepTask("WS09"), Data, "not in the roster")
}
