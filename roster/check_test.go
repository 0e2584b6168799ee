package roster

import "testing"

// checkedTask is a worker whose task has a check.
func checkedTask() *State {
	s := working()
	s.Task("T1").Verify = "make test"
	return s
}

// A check is due when a turn would end a task that runs, unless what the worker was denied decides already.
func TestCheckDue(t *testing.T) {
	want := Check{Command: "make test", Task: "T1", Attempt: 1}
	for name, c := range map[string]struct {
		change func(*State)
		due    bool
	}{
		"due":                     {func(*State) {}, true},
		"no check":                {func(s *State) { s.Task("T1").Verify = "" }, false},
		"not begun":               {func(s *State) { s.Task("T1").Status = TaskAssigned }, false},
		"no task in hand":         {func(s *State) { s.Workstreams[0].TaskID = "" }, false},
		"reported blocked":        {func(s *State) { s.Workstreams[0].Status, s.Workstreams[0].Notes = Blocked, "blocked: help" }, false},
		"a veto that stands":      {func(s *State) { s.Task("T1").BlockedOn = "b.go" }, false},
		"a veto that is over":     {func(s *State) { s.Task("T1").BlockedOn = "a.go" }, true},
		"asked by an earlier one": {func(s *State) { s.Workstreams[0].Epoch = 2 }, false},
	} {
		s := checkedTask()
		c.change(s)
		before := clone(s)
		got, due := s.CheckDue("WS01", 1)
		eq(t, name, due, c.due)
		if due {
			eq(t, name, got, want)
		}
		same(t, s, before)
	}
}

// A failing check sends its worker back twice; the third time it ends the attempt, whatever the worker says. One that passes wipes that out.
func TestChecked(t *testing.T) {
	fails := func(s *State, want bool) {
		t.Helper()
		c, due := s.CheckDue("WS01", 1)
		eq(t, "due", due, true)
		must(t, s.Checking("WS01", 1, c))
		eq(t, "notes", row(t, s, "WS01").Notes, "checking: make test")
		again, err := s.Checked("WS01", 1, c, false)
		must(t, err)
		eq(t, "again", again, want)
		eq(t, "notes", row(t, s, "WS01").Notes, "")
	}
	s := checkedTask()
	fails(s, true)
	fails(s, true)
	fails(s, false)
	eq(t, "told", said(s), []string{
		"check_failed WS01 T1 attempt=1 checks=1 command=make test", "check_failed WS01 T1 attempt=1 checks=2 command=make test",
		"check_failed WS01 T1 attempt=1 checks=3 command=make test",
	})
	must(t, s.TurnEnded("WS01", 1, "all is well"))
	task := s.Task("T1")
	eq(t, "task", []any{task.Status, task.ErrorKind, task.Attempts}, []any{TaskPending, ErrAgent, 1})
	eq(t, "notes", row(t, s, "WS01").Notes, "T1 agent_error: its check failed: make test")
	s.assignTask(row(t, s, "WS01"), task)
	eq(t, "checks of the next attempt", task.Checks, 0)

	s = checkedTask()
	fails(s, true)
	again, err := s.Checked("WS01", 1, Check{Task: "T1", Attempt: 1}, true)
	must(t, err)
	eq(t, "again", again, false)
	must(t, s.TurnEnded("WS01", 1, "now it is"))
	eq(t, "task", s.Task("T1").Status, TaskDone)
}

// What comes late is nobody's: the check of an attempt, or a worker, that isn't there any more.
func TestCheckedLate(t *testing.T) {
	for name, c := range map[string]Check{"another attempt": {Task: "T1", Attempt: 2}, "another task": {Task: "T2", Attempt: 1}, "no task": {Task: "T9", Attempt: 1}} {
		s := checkedTask()
		again, err := s.Checked("WS01", 1, c, false)
		must(t, err)
		eq(t, name, again, false)
		eq(t, "checks", s.Task("T1").Checks, 0)
		eq(t, "events", said(s), []string{})
	}
	s := checkedTask()
	_, err := s.Checked("WS01", 0, Check{Task: "T1", Attempt: 1}, false)
	eq(t, "an earlier worker", IsStale(err), true)
	eq(t, "an earlier worker", IsStale(s.Checking("WS01", 0, Check{})), true)
}

// A headless worker's check runs in a hook of its session. Where that was killed, the session's own word is no proof.
func TestUncheckedIsNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		verify string
		checks []bool // how the check ended, each time that it ran
		want   []any
	}{
		"it has none":   {"", nil, []any{TaskDone, notItsFault}},
		"it has passed": {"make test", []bool{true}, []any{TaskDone, notItsFault}},
		"in the end":    {"make test", []bool{false, true}, []any{TaskDone, notItsFault}},
		"it has failed": {"make test", []bool{false}, []any{TaskPending, ErrAgent}},
		"it never ran":  {"make test", nil, []any{TaskPending, ErrInfra}},
	} {
		s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{todo("T1")}}
		s.Task("T1").Verify = c.verify
		must(t, s.Tick(everybody))
		must(t, s.StartTask("WS01", 1, "T1", 1, 0))
		for _, passed := range c.checks {
			check, due := s.CheckDue("WS01", 1)
			eq(t, name+": due", due, true)
			_, err := s.Checked("WS01", 1, check, passed)
			must(t, err)
		}
		applied, err := s.Complete("WS01", 1, "T1", 1, Outcome{OK: true})
		must(t, err)
		eq(t, name+": applied", applied, true)
		eq(t, name, []any{s.Task("T1").Status, s.Task("T1").ErrorKind}, c.want)
	}
}
