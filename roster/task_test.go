package roster

import (
	"fmt"
	"testing"
	"time"
)

// given is a task that a headless worker has just been given, and that of an interactive one, which waits.
func given(t *testing.T) *State {
	t.Helper()
	s := &State{
		Now: now, TaskTimeout: 90 * time.Second, Leases: LeaseMap{},
		Workstreams: []Workstream{lane("WS01"), lane("WS02"), {ID: "WS03", Name: "ws03", Status: Started, Epoch: 1, Mode: Interactive, SessionID: "s3"}},
		Tasks:       []Task{scoped("T1", "api"), pinned("T3", "WS03")},
	}
	s.Workstreams[0].SessionID = "s1"
	s.Tasks[0].ErrorKind, s.Tasks[0].BlockedOn, s.Tasks[0].Checks, s.Tasks[0].Attempts = ErrVeto, "x", 2, 1
	tick(t, s, everybody)
	return s
}

// CF-42, CF-44, CF-81, CF-85: what an assignment writes and tells. Only a headless worker has a deadline, its time and a minute of grace.
func TestAssign(t *testing.T) {
	s := given(t)
	want := scoped("T1", "api")
	want.Status, want.Workstream, want.Attempts = TaskAssigned, "WS01", 2
	want.AssignedAt, want.UpdatedAt, want.Deadline = Time{now}, Time{now}, Time{now.Add(150 * time.Second)}
	eq(t, "task", s.Tasks[0], want)
	eq(t, "its worker", []any{row(t, s, "WS01").Status, row(t, s, "WS01").TaskID}, []any{Working, "T1"})
	eq(t, "a screen's deadline", s.Task("T3").Deadline, Time{})
	eq(t, "events", said(s), []string{
		"task_assigned WS01 T1 agent_name=ws01 attempt=2 deadline=2026-03-04T05:08:37.000Z file_scope=[api]",
		"status_changed WS01 T1 from=started to=working",
		"task_assigned WS03 T3 agent_name=ws03 attempt=1 file_scope=[]",
		"status_changed WS03 T3 from=started to=working",
	})
	s = &State{Now: now, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{todo("T1")}, Leases: LeaseMap{}}
	tick(t, s, everybody)
	eq(t, "deadline by default", s.Tasks[0].Deadline, Time{now.Add(11 * time.Minute)})
}

// CF-95, CF-96, CF-98: only who has a task in hand begins it, and a second time changes nothing.
func TestStartTask(t *testing.T) {
	s := given(t)
	s.Now = now.Add(time.Second)
	must(t, s.StartTask("WS01", 1, "T1", 2, time.Hour))
	must(t, s.StartTask("WS01", 1, "T1", 2, time.Hour)) // once is enough
	task := s.Task("T1")
	eq(t, "status", task.Status, TaskRunning)
	eq(t, "started", task.StartedAt, Time{s.Now})
	eq(t, "session", task.SessionID, "s1")
	eq(t, "deadline", task.Deadline, Time{s.Now.Add(time.Hour + time.Minute)})
	eq(t, "told", said(s)[4:], []string{"task_started WS01 T1 attempt=2"})
	before := clone(s)
	for _, err := range []error{
		s.StartTask("WS01", 1, "T1", 1, time.Hour),
		s.StartTask("WS02", 1, "T1", 2, time.Hour),
		s.StartTask("WS01", 1, "T9", 2, time.Hour),
		s.StartTask("WS01", 1, "T3", 1, time.Hour),
	} {
		refused(t, err, Refused, "in hand")
		same(t, s, before)
	}
	eq(t, "an earlier worker", IsStale(s.StartTask("WS01", 0, "T1", 2, time.Hour)), true)
	same(t, s, before)
}

// running is a headless worker in the middle of a task's second attempt, with a lease, and another one beside it.
func running() *State {
	s := &State{Now: now, Leases: held("a.go:WS01/T1", "b.go:WS02/T2"), Workstreams: []Workstream{lane("WS01"), lane("WS02")}}
	for i, ws := range []string{"WS01", "WS02"} {
		w := &s.Workstreams[i]
		w.Status, w.TaskID = Working, fmt.Sprintf("T%d", i+1)
		task := doing(w.TaskID, ws)
		task.Attempts, task.Deadline = 2, Time{now.Add(time.Minute)}
		s.Tasks = append(s.Tasks, task)
	}
	return s
}

// CF-73, CF-74, CF-75, CF-80, CF-82, CF-83, CF-84, CF-87: how an attempt ends by what was reported and what the rules know.
func TestComplete(t *testing.T) {
	failed := func(k ErrorKind) Outcome { return Outcome{Kind: k, Reason: "why"} }
	vetoed := func(task *Task) { task.BlockedOn = "b.go" }
	gone := func(task *Task) { task.BlockedOn = "gone.go" }
	over := func(task *Task) { task.BlockedOn = "a.go" }
	last := func(task *Task) { task.MaxAttempts = 2 }
	checked := func(task *Task) { task.Checks, task.Verify = 1, "make" }
	for name, c := range map[string]struct {
		o      Outcome
		before []func(*Task)
		status TaskStatus
		kind   ErrorKind
		scope  []string
		reason string
	}{
		"well":                           {Outcome{OK: true}, nil, TaskDone, "", nil, ""},
		"its own error":                  {failed(ErrAgent), nil, TaskPending, ErrAgent, nil, "why"},
		"no time left":                   {failed(ErrTimeout), nil, TaskPending, ErrTimeout, nil, "why"},
		"no result":                      {failed(ErrInfra), nil, TaskPending, ErrInfra, nil, "why"},
		"a veto of its own account":      {failed(ErrVeto), nil, TaskPending, ErrVeto, nil, "why"},
		"budget fails at once":           {failed(ErrBudget), nil, TaskGivenUp, ErrBudget, nil, "why"},
		"well, but vetoed":               {Outcome{OK: true}, []func(*Task){vetoed}, TaskPending, ErrVeto, []string{"b.go"}, "veto: b.go is held by WS02"},
		"well, but vetoed by a claim":    {Outcome{OK: true}, []func(*Task){gone}, TaskPending, ErrVeto, []string{"gone.go"}, "veto: gone.go"},
		"well, and the veto is over":     {Outcome{OK: true}, []func(*Task){over}, TaskDone, "", nil, ""},
		"veto before its own error":      {failed(ErrAgent), []func(*Task){vetoed}, TaskPending, ErrVeto, []string{"b.go"}, "veto: b.go is held by WS02"},
		"veto before the budget":         {failed(ErrBudget), []func(*Task){vetoed}, TaskPending, ErrVeto, []string{"b.go"}, "veto: b.go is held by WS02"},
		"no result before a veto":        {failed(ErrInfra), []func(*Task){vetoed}, TaskPending, ErrInfra, nil, "why"},
		"well, but its check fails":      {Outcome{OK: true}, []func(*Task){checked}, TaskPending, ErrAgent, nil, "its check failed: make"},
		"veto before its check":          {Outcome{OK: true}, []func(*Task){checked, vetoed}, TaskPending, ErrVeto, []string{"b.go"}, "veto: b.go is held by WS02"},
		"its own error before the check": {failed(ErrTimeout), []func(*Task){checked}, TaskPending, ErrTimeout, nil, "why"},
		"the last attempt":               {failed(ErrAgent), []func(*Task){last}, TaskGivenUp, ErrExhausted, nil, "why"},
		"the last one, well":             {Outcome{OK: true}, []func(*Task){last}, TaskDone, "", nil, ""},
		"the last one, vetoed":           {Outcome{OK: true}, []func(*Task){last, vetoed}, TaskGivenUp, ErrExhausted, []string{"b.go"}, "veto: b.go is held by WS02"},
		"the last one, no money":         {failed(ErrBudget), []func(*Task){last}, TaskGivenUp, ErrBudget, nil, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			s := running()
			for _, change := range c.before {
				change(s.Task("T1"))
			}
			blockedOn := s.Task("T1").BlockedOn
			applied, err := s.Complete("WS01", 1, "T1", 2, c.o)
			must(t, err)
			eq(t, "applied", applied, true)
			task, w := s.Task("T1"), row(t, s, "WS01")
			eq(t, "status", task.Status, c.status)
			eq(t, "error kind", task.ErrorKind, c.kind)
			eq(t, "attempts", task.Attempts, 2)
			eq(t, "scope", task.Scope, c.scope)
			eq(t, "deadline", task.Deadline, Time{})
			eq(t, "task in hand", w.TaskID, "")
			eq(t, "its worker", w.Status, Started)                 // free for the next one, whatever it was
			eq(t, "holders", holders(s), []string{"b.go:WS02/T2"}) // CF-65
			eq(t, "heartbeat", w.Heartbeat, now.Unix())
			if c.status == TaskDone {
				blockedOn = ""
			}
			eq(t, "blocked on", task.BlockedOn, blockedOn)
			if c.status == TaskPending {
				eq(t, "backoff", task.BackoffUntil, Time{now.Add(4 * time.Second)})
				eq(t, "completed", task.CompletedAt, Time{})
			} else {
				eq(t, "backoff", task.BackoffUntil, Time{})
				eq(t, "completed", task.CompletedAt, Time{now})
			}
			told := s.Events()[1]
			eq(t, "told", told.Type, map[TaskStatus]EventType{TaskDone: TaskSucceeded, TaskPending: TaskRequeued, TaskGivenUp: TaskFailed}[c.status])
			eq(t, "attempt that was told", told.Data["attempt"], any(2))
			if c.status != TaskDone {
				eq(t, "reason", told.Data["reason"], any(c.reason))
				eq(t, "kind that was told", told.Data["error_kind"], any(c.kind))
			}
			eq(t, "the other's task", *s.Task("T2"), *running().Task("T2"))
		})
	}
}

// CF-57, CF-101, CF-151: at most once, by its owner, of the attempt in hand. Whatever else comes changes nothing.
func TestCompleteIsFenced(t *testing.T) {
	well := Outcome{OK: true}
	isStale := func(t *testing.T, err error) { t.Helper(); eq(t, "stale", IsStale(err), true) }
	says := func(k Kind, text string) func(*testing.T, error) {
		return func(t *testing.T, err error) { t.Helper(); refused(t, err, k, text) }
	}
	for name, c := range map[string]struct {
		ws             string
		epoch, attempt int
		task           string
		status         TaskStatus // of T1, when it isn't running
		o              Outcome
		wrong          func(*testing.T, error)
	}{
		"an earlier attempt":         {"WS01", 1, 1, "T1", "", well, nil},
		"a later one":                {"WS01", 1, 3, "T1", "", well, nil},
		"succeeded already":          {"WS01", 1, 2, "T1", TaskDone, well, nil},
		"failed already":             {"WS01", 1, 2, "T1", TaskGivenUp, well, nil},
		"cancelled already":          {"WS01", 1, 2, "T1", TaskCancelled, well, nil},
		"waits again":                {"WS01", 1, 2, "T1", TaskPending, well, nil},
		"blocked":                    {"WS01", 1, 2, "T1", TaskBlockedUpstream, well, nil},
		"late, by an earlier worker": {"WS01", 0, 1, "T1", "", well, nil},
		"an earlier worker":          {"WS01", 0, 2, "T1", "", well, isStale},
		"somebody else": {"WS02", 1, 2, "T1", "", well, func(t *testing.T, err error) {
			t.Helper()
			refused(t, err, Refused, "T1 is in the hands of WS01, not of WS02")
		}},
		"nobody":                         {"WS09", 1, 2, "T1", "", well, says(Data, "WS09 is not in the roster")},
		"an unknown task":                {"WS01", 1, 2, "T9", "", well, says(Data, "T9 is not in the graph")},
		"without a kind":                 {"WS01", 1, 2, "T1", "", Outcome{}, says(Usage, `error kind ""`)},
		"with a kind of nobody's":        {"WS01", 1, 2, "T1", "", Outcome{Kind: "tired"}, says(Usage, `error kind "tired"`)},
		"with a kind that is the rules'": {"WS01", 1, 2, "T1", "", Outcome{Kind: ErrExhausted}, says(Usage, "attempts_exhausted")},
	} {
		t.Run(name, func(t *testing.T) {
			s := running()
			if c.status != "" {
				s.Task("T1").Status = c.status
			}
			before := clone(s)
			applied, err := s.Complete(c.ws, c.epoch, c.task, c.attempt, c.o)
			eq(t, "applied", applied, false)
			if c.wrong == nil {
				must(t, err)
			} else {
				c.wrong(t, err)
			}
			same(t, s, before)
			eq(t, "events", said(s), []string{})
		})
	}
	s := running()
	for i := range 3 {
		applied, err := s.Complete("WS01", 1, "T1", 2, Outcome{OK: true, CostUSD: 1})
		must(t, err)
		eq(t, "applied", applied, i == 0)
	}
	eq(t, "cost", s.Task("T1").CostUSD, 1.0)
	eq(t, "told", count(s, TaskSucceeded), 1)
}

// What an attempt used is added up over all of them (CF-89's tally); how long it took, and in which session, is the last one's.
func TestCompleteAddsUp(t *testing.T) {
	s := running()
	use := func(attempt int, o Outcome) {
		t.Helper()
		applied, err := s.Complete("WS01", 1, "T1", attempt, o)
		must(t, err)
		eq(t, "applied", applied, true)
	}
	use(2, Outcome{Kind: ErrAgent, InputTokens: 100, OutputTokens: 10, CostUSD: 0.25, DurationMS: 9000, SessionID: "one"})
	s.Now = s.Now.Add(time.Minute)
	tick(t, s, everybody)
	use(3, Outcome{OK: true, InputTokens: 11, OutputTokens: 1, CostUSD: 0.5, DurationMS: 70, SessionID: "two"})
	task := s.Task("T1")
	eq(t, "tokens", []int64{task.InputTokens, task.OutputTokens, task.DurationMS}, []int64{111, 11, 70})
	eq(t, "cost", task.CostUSD, 0.75)
	eq(t, "session", task.SessionID, "two")
}

// CF-82.
func TestBackoff(t *testing.T) {
	for attempts, want := range map[int]time.Duration{0: 0, 1: 2 * time.Second, 2: 4 * time.Second, 14: 28 * time.Second, 15: 30 * time.Second, 16: 30 * time.Second, 1 << 20: 30 * time.Second} {
		eq(t, fmt.Sprint(attempts), backoff(attempts), want)
	}
}

// CF-59, CF-61, CF-85: a worker that has missed its deadline is fenced and parked, and its task waits again, all at once.
func TestTakeAway(t *testing.T) {
	for name, c := range map[string]struct {
		late time.Duration
		want []string
	}{"in time": {-1, nil}, "just in time": {0, nil}, "late": {1, []string{"take_away WS01 T1"}}} {
		s := running()
		s.Task("T1").Deadline = Time{now.Add(-c.late)}
		eq(t, name, plan(s, everybody), c.want)
	}
	s := running()
	s.Task("T1").Deadline = ago(time.Second)
	tick(t, s, everybody)
	w, task := row(t, s, "WS01"), s.Task("T1")
	eq(t, "its worker", []any{w.Status, w.Epoch, w.TaskID, w.Notes}, []any{Dead, 2, "", "T1 missed its deadline"})
	eq(t, "task", []any{task.Status, task.ErrorKind, task.Attempts, task.BackoffUntil, task.Deadline}, []any{TaskPending, ErrTimeout, 2, Time{now.Add(4 * time.Second)}, Time{}})
	eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
	applied, err := s.Complete("WS01", 1, "T1", 2, Outcome{OK: true})
	must(t, err)
	eq(t, "its report", applied, false)
	s.Now = now.Add(time.Hour)
	s.Task("T2").Deadline = Time{}
	eq(t, "no deadline is never missed, and the parked one gets nothing", plan(s, everybody), []string(nil))
	s.Workstreams = append(s.Workstreams, lane("WS03"))
	tick(t, s, everybody)
	eq(t, "the next attempt", []any{s.Task("T1").Workstream, s.Task("T1").Attempts}, []any{"WS03", 3})
}

// CF-55, CF-56, CF-146: death frees the leases, sends back the task, assigned or running, and fences, all in one transaction.
func TestDeathInTick(t *testing.T) {
	for _, status := range []TaskStatus{TaskAssigned, TaskRunning} {
		for attempts, want := range map[int]TaskStatus{2: TaskPending, 3: TaskGivenUp} {
			s := running()
			s.Task("T1").Status, s.Task("T1").Attempts = status, attempts
			tick(t, s, func(ws string) bool { return ws != "WS01" })
			w := row(t, s, "WS01")
			eq(t, "its worker", []any{w.Status, w.Epoch, w.TaskID}, []any{Dead, 2, ""})
			eq(t, "task", s.Task("T1").Status, want)
			eq(t, "error kind", s.Task("T1").ErrorKind, map[TaskStatus]ErrorKind{TaskPending: ErrInfra, TaskGivenUp: ErrExhausted}[want])
			eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
			eq(t, "first events", said(s)[:2], []string{
				"worker_exited WS01 T1 code=-1 epoch=1 reason=its worker is gone", "lease_released WS01 T1 path=a.go why=its worker is gone",
			})
		}
	}
}

// CF-147, CF-148, CF-87: a task that is vetoed isn't given out while the holder has the file, and with its last attempt it is given up.
func TestVetoedTask(t *testing.T) {
	s := running()
	refuse := func(attempt int) {
		t.Helper()
		eq(t, "reason", s.AcquireLeases(ask("WS01", 1, everybody, "b.go"))[0].Reason, DenyHeld)
		_, err := s.Complete("WS01", 1, "T1", attempt, Outcome{OK: true})
		must(t, err)
	}
	below := todo("below")
	below.DependsOn = []string{"T1"}
	s.Tasks = append(s.Tasks, below)
	refuse(2)
	s.Now = s.Now.Add(time.Hour)
	s.Task("T2").Deadline = Time{}
	tick(t, s, everybody)
	eq(t, "while it is held", s.Task("T1").Status, TaskPending)
	_, _, err := s.Release("WS02", []string{"b.go"})
	must(t, err)
	tick(t, s, everybody)
	eq(t, "once it is free", []any{s.Task("T1").Status, s.Task("T1").Attempts, s.Task("T1").BlockedOn}, []any{TaskAssigned, 3, ""})
	eq(t, "denials", s.AcquireLeases(ask("WS02", 1, everybody, "b.go")), []Denial(nil))
	refuse(3)
	tick(t, s, everybody)
	eq(t, "tasks", statuses(s), []string{"T1:failed", "T2:running", "below:blocked_upstream"})
	eq(t, "error kind", s.Task("T1").ErrorKind, ErrExhausted)
	eq(t, "blocked on", s.Task("T1").BlockedOn, "b.go")
	eq(t, "scope", s.Task("T1").Scope, []string{"b.go"})
}

// A task that was denied a file for a claim waits until that is given up, unless it is given to who claims it.
func TestVetoedByAClaim(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Interactive, Epoch: 1, Claims: []string{"lib"}, TaskID: "T1"},
		{ID: "WS02", Status: Working, Mode: Interactive, Epoch: 1, TaskID: "T2"},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskRunning, Workstream: "WS01", Pinned: true, Attempts: 1, MaxAttempts: 3},
		{ID: "T2", Status: TaskRunning, Workstream: "WS02", Attempts: 1, MaxAttempts: 3},
	}}
	eq(t, "reason", s.AcquireLeases(ask("WS02", 1, everybody, "lib/b.txt"))[0].Reason, DenyClaimed)
	must(t, s.TurnEnded("WS02", 1, ""))
	eq(t, "note", row(t, s, "WS02").Notes, "veto: lib/b.txt is claimed by WS01")
	s.Now = s.Now.Add(time.Minute)
	tick(t, s, everybody)
	eq(t, "while it is claimed", s.Task("T2").Status, TaskPending)
	must(t, s.TurnEnded("WS01", 1, ""))
	tick(t, s, everybody)
	eq(t, "when who claims it is done", s.Task("T2").Status, TaskAssigned)
}

// A worker that has done another task meanwhile still waits for the file, and says so.
func TestVetoOutlastsAnotherTask(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{"b.go": {Path: "b.go", WS: "WS02"}}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Interactive, Epoch: 1, TaskID: "T2"},
		{ID: "WS02", Status: Working, Mode: Interactive, Epoch: 1, Heartbeat: now.Unix()},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskPending, Workstream: "WS01", Pinned: true, Attempts: 1, MaxAttempts: 3, BlockedOn: "b.go", Scope: []string{"b.go"}},
		{ID: "T2", Status: TaskRunning, Workstream: "WS01", Pinned: true, Attempts: 1, MaxAttempts: 3},
	}}
	must(t, s.TurnEnded("WS01", 1, "nothing more to do"))
	eq(t, "note", row(t, s, "WS01").Notes, "veto: b.go is held by WS02")
	eq(t, "alerts", len(s.Alerts()), 1)
	must(t, s.TurnEnded("WS01", 1, "nothing more to do"))
	eq(t, "note after one more turn", row(t, s, "WS01").Notes, "veto: b.go is held by WS02")
	_, _, err := s.Release("WS02", []string{"b.go"})
	must(t, err)
	tick(t, s, everybody)
	eq(t, "once it is free", row(t, s, "WS01").TaskID, "T1")
}

// One in a terminal of the user's isn't called when the file is free, and goes on with what it can do.
func TestVetoKeepsNoManualWorkerFromTheNext(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{"b.go": {Path: "b.go", WS: "WS02"}}, Workstreams: []Workstream{
		{ID: "WS01", Status: Working, Mode: Manual, Epoch: 1, TaskID: "T2"}, {ID: "WS02", Status: Working, Mode: Interactive, Epoch: 1},
	}, Tasks: []Task{
		{ID: "T1", Status: TaskPending, Workstream: "WS01", Pinned: true, Attempts: 1, MaxAttempts: 3, BlockedOn: "b.go", Scope: []string{"b.go"}, Priority: 4},
		{ID: "T2", Status: TaskRunning, Workstream: "WS01", Pinned: true, Attempts: 1, MaxAttempts: 3},
		{ID: "T3", Status: TaskPending, Workstream: "WS01", Pinned: true, MaxAttempts: 3, Priority: 1},
	}}
	must(t, s.TurnEnded("WS01", 1, "done"))
	next, err := s.GoOn("WS01", 1, everybody)
	must(t, err)
	eq(t, "next", next, "T3")
}

// A packet has one attempt, and is asked again for nothing but a file that it had to wait for: twice.
func TestVetoedLane(t *testing.T) {
	s := running()
	w, err := s.Workstream("WS01")
	must(t, err)
	w.Lane, s.Task("T1").MaxAttempts, s.Task("T1").Attempts = Shared, 1, 1
	veto := func() TaskStatus {
		t.Helper()
		w.TaskID, s.Task("T1").Status, s.Task("T1").BlockedOn = "T1", TaskRunning, "b.go"
		_, err := s.Complete("WS01", 1, "T1", s.Task("T1").Attempts, Outcome{OK: true})
		must(t, err)
		s.Task("T1").Attempts++
		return s.Task("T1").Status
	}
	eq(t, "statuses", []TaskStatus{veto(), veto(), veto()}, []TaskStatus{TaskPending, TaskPending, TaskGivenUp})
}

// MW-25, MW-30, MW-32, MW-33: the end of a turn ends the task and the next of the queue comes at once; what is added to one
// that is idle starts at once, too, and what is added to one at work waits for its end.
func TestQueue(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}}
	must(t, s.Add(NewWorkstream{ID: "WS01", Text: "first"}))
	add := func() {
		t.Helper()
		_, err := s.AddTasks([]NewTask{{Title: "more", Workstream: "WS01"}})
		must(t, err)
		tick(t, s, everybody)
	}
	does := func(what string, status Status, tasks ...string) {
		t.Helper()
		eq(t, what, row(t, s, "WS01").Status, status)
		eq(t, what, statuses(s), tasks)
	}
	end := func(task string) {
		t.Helper()
		must(t, s.PromptSubmitted("WS01", 1, "read briefs/"+task+".md"))
		must(t, s.TurnEnded("WS01", 1, "there"))
		tick(t, s, everybody)
	}
	_, err := s.Launch("WS01", Launch{Mode: Interactive})
	must(t, err)
	add()
	does("before it is up", Pending, "WS01:pending", "WS01.2:pending")
	must(t, s.SessionUp("WS01", 1, "s", "startup"))
	tick(t, s, everybody)
	does("up", Working, "WS01:assigned", "WS01.2:pending")
	end("WS01")
	does("the first is over", Working, "WS01:succeeded", "WS01.2:assigned")
	add()
	does("more, while it works", Working, "WS01:succeeded", "WS01.2:assigned", "WS01.3:pending")
	end("WS01.2")
	end("WS01.3")
	does("idle", Done, "WS01:succeeded", "WS01.2:succeeded", "WS01.3:succeeded")
	add()
	does("more, while it is idle", Working, "WS01:succeeded", "WS01.2:succeeded", "WS01.3:succeeded", "WS01.4:assigned")
	_, err = s.AddTasks([]NewTask{{Title: "more", Workstream: "WS09"}})
	refused(t, err, Data, "WS09 is not in the roster")
}

// A session that comes up begins with the most urgent of its own tasks that waits for nothing else, its backoff or not.
func TestFirstTask(t *testing.T) {
	mine := func(id string, change func(*Task)) Task {
		task := pinned(id, "WS01")
		change(&task)
		return task
	}
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{{ID: "WS01", Status: Pending, Epoch: 1}}, Tasks: []Task{
		pinned("WS02", "WS02"), todo("T1"),
		mine("WS01", func(t *Task) { t.Status = TaskDone }),
		mine("WS01.2", func(t *Task) { t.Priority = 1 }),
		mine("WS01.3", func(t *Task) { t.Priority, t.DependsOn = 5, []string{"T1"} }),
		mine("WS01.4", func(t *Task) { t.Priority, t.Attempts = 5, 3 }),
		mine("WS01.5", func(t *Task) { t.BackoffUntil = Time{now.Add(time.Hour)} }),
		mine("WS01.6", func(*Task) {}),
	}}
	eq(t, "first", s.FirstTask(row(t, s, "WS01")), "WS01.5")
	must(t, s.SessionUp("WS01", 1, "s", "startup"))
	eq(t, "in hand", row(t, s, "WS01").TaskID, "WS01.5")
}

// A prompt is about the task whose brief it names, or that its session has had before, even if another is more urgent.
func TestPromptMeansATask(t *testing.T) {
	state := func() *State {
		s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{{ID: "WS01", Status: Started, Epoch: 1, SessionID: "s"}}}
		s.Tasks = []Task{pinned("WS01", "WS01"), pinned("WS01.2", "WS01"), pinned("WS01.3", "WS01"), pinned("WS02", "WS02")}
		return s
	}
	for prompt, want := range map[string]string{
		"read briefs/WS01.2.md": "WS01.2", "read x/briefs/WS01.md, now": "WS01", "go": "", "WS01.2": "", "read briefs/WS02.md": "", "read briefs/WS01.4.md": "",
	} {
		s := state()
		must(t, s.PromptSubmitted("WS01", 1, prompt))
		eq(t, prompt, row(t, s, "WS01").TaskID, want)
	}
	s := state()
	s.Task("WS01.3").SessionID = "s"
	must(t, s.PromptSubmitted("WS01", 1, "go on"))
	eq(t, "in hand", row(t, s, "WS01").TaskID, "WS01.3")
	eq(t, "status", s.Task("WS01.3").Status, TaskRunning)
}

// A headless worker's turn doesn't end its task, and it begins none by itself: both are its wrapper's to say.
func TestHeadlessTurn(t *testing.T) {
	s := running()
	for _, step := range []func() error{
		func() error { return s.TurnEnded("WS01", 1, "there") },
		func() error { return s.TurnFailed("WS01", 1, "limit") },
		func() error { return s.Heartbeat("WS01", "done: all of it") },
	} {
		must(t, step())
		eq(t, "task", s.Task("T1").Status, TaskRunning)
		eq(t, "holders", holders(s), []string{"a.go:WS01/T1", "b.go:WS02/T2"})
	}
	s = &State{Now: now, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{pinned("WS01", "WS01")}, Leases: LeaseMap{}}
	must(t, s.SessionUp("WS01", 1, "s", "startup"))
	must(t, s.PromptSubmitted("WS01", 1, "read briefs/WS01.md"))
	must(t, s.Heartbeat("WS01", "done: all of it"))
	eq(t, "task", statuses(s), []string{"WS01:pending"})
}
