package roster

import "testing"

func TestWaits(t *testing.T) {
	s := &State{Leases: LeaseMap{"a.go": {Path: "a.go", WS: "WS01"}}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working}, {ID: "WS02", Status: Blocked}, {ID: "WS03", Status: Working, Claims: []string{"docs"}},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskRunning, Workstream: "WS01"},
		{ID: "T2", Status: TaskPending, Workstream: "WS02", BlockedOn: "a.go"},
		{ID: "T3", Status: TaskPending, Workstream: "WS02", BlockedOn: "docs/x.md"},
		{ID: "T4", Status: TaskPending, DependsOn: []string{"T1", "T5", "T6"}, Workstream: "WS02"},
		{ID: "T5", Status: TaskDone},
		{ID: "T6", Status: TaskPending},
		{ID: "T7", Status: TaskPending, DependsOn: []string{"T6"}, Workstream: "WS03", Pinned: true},
		{ID: "T8", Status: TaskPending, Workstream: "WS02", BlockedOn: "free.go"},
	}}
	eq(t, "waits", s.Waits(), []Wait{
		{"WS02", "T2", "file a.go", "WS01"},
		{"WS02", "T3", "file docs/x.md", "WS03"},
		{"", "T4", "task T1", "WS01"},
		{"", "T4", "task T6", ""},
		{"WS03", "T7", "task T6", ""},
	})
}
