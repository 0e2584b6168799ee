package roster

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// CFN-89, CFN-91, CFN-92: the order is the rows', and only who should be at work is stale.
func TestAlarms(t *testing.T) {
	beat := func(d time.Duration) int64 { return now.Add(-d).Unix() }
	s := &State{Now: now, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Heartbeat: beat(16 * time.Minute)},
		{ID: "WS02", Status: Started, Heartbeat: beat(16*time.Minute - time.Second)},
		{ID: "WS03", Status: Dead, Heartbeat: beat(0)},
		{ID: "WS04", Status: Started, Heartbeat: beat(3 * time.Hour)},
		{ID: "WS05", Status: Pending, Heartbeat: 0},
		{ID: "WS06", Status: Blocked, Heartbeat: beat(time.Hour)},
		{ID: "WS07", Status: Done, Heartbeat: beat(time.Hour)},
		{ID: "WS08", Status: Landed, Heartbeat: beat(time.Hour)},
		{ID: "WS09", Status: Working, Heartbeat: beat(-time.Hour)},
	}}
	eq(t, "alarms", s.Alarms(15), []string{"STALE WS01 16", "DEAD WS03", "STALE WS04 180"})
	eq(t, "at once", s.Alarms(0), []string{"STALE WS01 16", "STALE WS02 15", "DEAD WS03", "STALE WS04 180"})
	eq(t, "again", s.Alarms(15), []string{"STALE WS01 16", "DEAD WS03", "STALE WS04 180"})
}

// CFN-94.
func TestChanges(t *testing.T) {
	s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Name: "api", Status: Pending, Claims: []string{"a", "b"}, Notes: "x\ty"}}}
	lines, seen := s.Changes(nil)
	eq(t, "the first scan", lines, []string{})
	eq(t, "a cell", seen["WS01|claims"], "a,b")
	eq(t, "a flat cell", seen["WS01|notes"], "x y")

	lines, again := s.Changes(seen)
	eq(t, "nothing new", lines, []string{})
	eq(t, "seen", again, seen)

	w := &s.Workstreams[0]
	w.Heartbeat, w.UpdatedAt = 5, Time{now} // no change that is told
	w.Status, w.Notes, w.Epoch = Started, "", 1
	lines, seen = s.Changes(seen)
	eq(t, "changes", lines, []string{"CHANGE WS01 status", "CHANGE WS01 notes", "CHANGE WS01 epoch"})

	s.Workstreams = append(s.Workstreams, Workstream{ID: "WS02"})
	lines, seen = s.Changes(seen)
	var fields []string
	for _, f := range watchedFields(&Workstream{}) {
		fields = append(fields, "CHANGE WS02 "+f[0])
	}
	eq(t, "a new row", lines, fields)

	s.Workstreams = s.Workstreams[1:]
	lines, seen = s.Changes(seen)
	eq(t, "a row that is gone", lines, []string{})
	for _, key := range slices.Collect(maps.Keys(seen)) {
		if !strings.HasPrefix(key, "WS02|") {
			t.Errorf("still seen: %s", key)
		}
	}
	lines, _ = s.Changes(Seen{})
	eq(t, "an empty roster was seen before", len(lines), len(fields))
}

// CFN-93.
func TestAllDone(t *testing.T) {
	for _, c := range []struct {
		rows []Status
		want bool
	}{
		{nil, false},
		{[]Status{Done}, true},
		{[]Status{Landed}, true},
		{[]Status{Done, Landed, Done}, true},
		{[]Status{Done, Dead}, false},
		{[]Status{Pending, Done}, false},
		{[]Status{Done, Working}, false},
		{[]Status{Blocked}, false},
		{[]Status{Started}, false},
	} {
		s := &State{}
		for _, st := range c.rows {
			s.Workstreams = append(s.Workstreams, Workstream{Status: st})
		}
		if got := s.AllDone(); got != c.want {
			t.Errorf("AllDone of %v = %v", c.rows, got)
		}
	}
}

// CFN-93, CF-88: with a graph, its tasks count as well; a workstream without tasks of its own is only a pair of hands.
func TestAllDoneWithTasks(t *testing.T) {
	for name, c := range map[string]struct {
		slot, owner Status
		own, other  TaskStatus
		want        bool
	}{
		"all of it":                 {Started, Done, TaskDone, TaskDone, true},
		"one was cancelled":         {Started, Done, TaskDone, TaskCancelled, true},
		"hands that are dead":       {Dead, Landed, TaskDone, TaskDone, true},
		"hands that are full":       {Working, Done, TaskDone, TaskRunning, false},
		"one waits":                 {Started, Done, TaskDone, TaskPending, false},
		"one failed":                {Started, Done, TaskDone, TaskGivenUp, false},
		"one can't run":             {Started, Done, TaskDone, TaskBlockedUpstream, false},
		"its owner has more to say": {Started, Working, TaskDone, TaskDone, false},
		"its owner is dead":         {Started, Dead, TaskDone, TaskDone, false},
	} {
		s := &State{
			Workstreams: []Workstream{{ID: "WS01", Status: c.slot}, {ID: "WS02", Status: c.owner}},
			Tasks:       []Task{{ID: "WS02", Workstream: "WS02", Pinned: true, Status: c.own}, {ID: "T1", Workstream: "WS01", Status: c.other}},
		}
		eq(t, name, s.AllDone(), c.want)
	}
}
