package roster

import (
	"testing"
	"time"
)

// MW-2: only what needs a person is an alert, and the most urgent comes first.
func TestAlerts(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	fresh := now.Unix()
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Heartbeat: fresh},
		{ID: "WS02", Status: Blocked, Notes: "veto: a.go is held by WS01", TaskID: "T2"},
		{ID: "WS03", Status: Working, Heartbeat: now.Add(-16 * time.Minute).Unix()},
		{ID: "WS04", Status: Dead, Notes: "it exited with code 1"},
		{ID: "WS05", Status: Blocked, Notes: "agent error: 529 overloaded"},
		{ID: "WS06", Status: Blocked, Notes: "blocked: which database?"},
		{ID: "WS07", Status: Blocked, Notes: "asks: the trust dialog"},
		{ID: "WS08", Status: Blocked, Notes: "land: the test failed"},
		{ID: "WS11", Status: Blocked, Notes: "limit: until 2030-01-02T08:00:00.000Z: usage limit reached"},
		{ID: "WS09", Status: Done},
		{ID: "WS10", Status: Pending},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskDone}, {ID: "T9", Status: TaskGivenUp, Workstream: "WS09", ErrorKind: ErrExhausted},
	}}
	eq(t, "alerts", s.Alerts(), []Alert{
		{"WS07", "", AlertDialog, "asks: the trust dialog"},
		{"WS06", "", AlertBlocked, "blocked: which database?"},
		{"WS05", "", AlertError, "agent error: 529 overloaded"},
		{"WS08", "", AlertLanding, "land: the test failed"},
		{"WS04", "", AlertDead, "it exited with code 1"},
		{"WS09", "T9", AlertFailed, "attempts_exhausted"},
		{"WS03", "", AlertStale, ""},
		{"WS11", "", AlertLimit, "limit: until 2030-01-02T08:00:00.000Z: usage limit reached"},
		{"WS02", "T2", AlertVeto, "veto: a.go is held by WS01"},
	})
}
