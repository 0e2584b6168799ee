package roster

import (
	"errors"
	"testing"
	"time"
)

// The whole life of a worker, with what its row, its task and its leases are at each step.
func TestLife(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}}
	must(t, s.Add(NewWorkstream{ID: "WS01", Text: "the API", Brain: "claude"}))
	at := func(what string, status Status, task TaskStatus, held ...string) {
		t.Helper()
		eq(t, what+": status", row(t, s, "WS01").Status, status)
		eq(t, what+": task", s.Task("WS01").Status, task)
		eq(t, what+": holders", holders(s), held)
	}
	at("added", Pending, TaskPending)

	epoch, err := s.Launch("WS01", Launch{Brain: "opus", Mode: Interactive, Tree: ".claude/worktrees/a-ws01"})
	must(t, err)
	eq(t, "epoch", epoch, 1)
	at("launched", Pending, TaskPending)

	must(t, s.SessionUp("WS01", 1, "session-1", "startup"))
	at("up", Working, TaskAssigned)

	s.Now = s.Now.Add(time.Second)
	must(t, s.PromptSubmitted("WS01", 1, "read briefs/WS01.md and start"))
	at("prompted", Working, TaskRunning)
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "a.go")), []Denial(nil))
	at("writing", Working, TaskRunning, "a.go:WS01/WS01")

	// The session is compacted in the middle of the turn.
	must(t, s.SessionUp("WS01", 1, "session-1", "compact"))
	at("compacted", Working, TaskRunning, "a.go:WS01/WS01")

	s.Now = s.Now.Add(1500 * time.Millisecond)
	must(t, s.TurnEnded("WS01", 1, "The API is there.\nAnd more."))
	at("ended", Done, TaskDone)

	must(t, s.PromptSubmitted("WS01", 1, "one more thing"))
	at("prompted again", Working, TaskDone)
	must(t, s.SessionUp("WS01", 1, "session-1", "compact"))
	at("compacted again", Working, TaskDone)
	must(t, s.TurnEnded("WS01", 1, ""))
	at("ended again", Done, TaskDone)

	must(t, s.WorkerExited("WS01", 1, Exit{}))
	at("left", Done, TaskDone)

	eq(t, "row", *row(t, s, "WS01"), Workstream{
		ID: "WS01", Name: "ws01", Task: "the API", Status: Done, Notes: "The API is there.",
		Brain: "opus", Mode: Interactive, Tree: ".claude/worktrees/a-ws01", Epoch: 2, SessionID: "session-1", UpdatedAt: Time{s.Now},
	})
	eq(t, "task", *s.Task("WS01"), Task{
		ID: "WS01", Title: "the API", Status: TaskDone, Priority: 3, Workstream: "WS01", Pinned: true, Brain: "claude",
		Attempts: 1, MaxAttempts: 3, AssignedAt: Time{now}, StartedAt: Time{now.Add(time.Second)},
		CompletedAt: Time{s.Now}, DurationMS: 1500, SessionID: "session-1", CreatedAt: Time{now}, UpdatedAt: Time{s.Now},
	})
	eq(t, "events", said(s), []string{
		"workstream_added WS01 brain=claude name=ws01 task=the API",
		"task_created WS01 WS01 title=the API",
		"worker_spawned WS01 brain=opus epoch=1 mode=interactive tree=.claude/worktrees/a-ws01",
		"worker_up WS01 epoch=1 session_id=session-1 source=startup",
		"status_changed WS01 from=pending to=started",
		"task_assigned WS01 WS01 agent_name=ws01 attempt=1 file_scope=[]",
		"status_changed WS01 WS01 from=started to=working",
		"prompt_submitted WS01 WS01 bytes=29 prompt=read briefs/WS01.md and start",
		"task_started WS01 WS01 attempt=1",
		"lease_acquired WS01 WS01 path=a.go tool=Edit",
		"worker_up WS01 epoch=1 session_id=session-1 source=compact",
		"lease_released WS01 WS01 path=a.go why=task ended",
		"task_succeeded WS01 WS01 attempt=1",
		"status_changed WS01 from=working reason=The API is there. to=done",
		"prompt_submitted WS01 bytes=14 prompt=one more thing",
		"status_changed WS01 from=done to=working",
		"worker_up WS01 epoch=1 session_id=session-1 source=compact",
		"status_changed WS01 from=working to=done",
		"worker_exited WS01 code=0 epoch=1 stopped=false",
	})
}

// working is a worker in the middle of its task's first attempt, with a lease.
func working() *State {
	return &State{
		Now: now,
		Workstreams: []Workstream{
			{ID: "WS01", Status: Working, Epoch: 1, TaskID: "T1", SessionID: "s1", Heartbeat: 7, Notes: "writing"},
			{ID: "WS02", Status: Working, Epoch: 1, TaskID: "T2"},
		},
		Tasks: []Task{
			{ID: "T1", Workstream: "WS01", Pinned: true, Status: TaskRunning, Attempts: 1, MaxAttempts: 3, SessionID: "s1", StartedAt: ago(time.Second)},
			{ID: "T2", Workstream: "WS02", Pinned: true, Status: TaskRunning, Attempts: 1, MaxAttempts: 3},
		},
		Leases: held("a.go:WS01/T1", "b.go:WS02/T2"),
	}
}

// Every way in which a turn or a worker ends: the leases go with the task, in the same transition (CF-65, CF-91, CF-93, CF-146).
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end      func(*State) error
		status   Status
		notes    string
		epoch    int
		task     TaskStatus
		kind     ErrorKind
		attempts int
	}{
		"turn ended": {
			func(s *State) error { return s.TurnEnded("WS01", 1, "there") }, Done, "there", 1, TaskDone, "", 1,
		},
		"turn ended without a word": {
			func(s *State) error { return s.TurnEnded("WS01", 1, "") }, Done, "writing", 1, TaskDone, "", 1,
		},
		"turn ended with a report like a rule's": {
			func(s *State) error { return s.TurnEnded("WS01", 1, "blocked: no") }, Done, "writing", 1, TaskDone, "", 1,
		},
		"turn failed": {
			func(s *State) error { return s.TurnFailed("WS01", 1, "no credit\nmore") },
			Blocked, "agent error: no credit", 1, TaskPending, ErrAgent, 1,
		},
		"crashed": {
			func(s *State) error { return s.WorkerExited("WS01", 1, Exit{Code: 137}) },
			Dead, "worker exited with code 137", 2, TaskPending, ErrInfra, 1,
		},
		"left in the middle of its work": {
			func(s *State) error { return s.WorkerExited("WS01", 1, Exit{}) },
			Dead, "worker exited with code 0", 2, TaskPending, ErrInfra, 1,
		},
		"stopped": { // somebody asked for it, so it isn't an attempt that failed
			func(s *State) error { return s.WorkerExited("WS01", 1, Exit{Code: 143, Stopped: true}) },
			Pending, "stopped", 2, TaskPending, "", 0,
		},
		"marked dead": {
			func(s *State) error { return s.MarkDead("WS01", 1, "its wrapper was killed") },
			Dead, "its wrapper was killed", 2, TaskPending, ErrInfra, 1,
		},
		"replaced": {
			func(s *State) error { _, err := s.Launch("WS01", Launch{}); return err },
			Pending, "", 2, TaskPending, ErrInfra, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := working()
			must(t, c.end(s))
			w, task := row(t, s, "WS01"), s.Task("T1")
			eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
			eq(t, "status", w.Status, c.status)
			eq(t, "notes", w.Notes, c.notes)
			eq(t, "epoch", w.Epoch, c.epoch)
			eq(t, "task in hand", w.TaskID, "")
			eq(t, "task", task.Status, c.task)
			eq(t, "error kind", task.ErrorKind, c.kind)
			eq(t, "attempts", task.Attempts, c.attempts)
			if task.Status == TaskPending {
				eq(t, "backoff", task.BackoffUntil, Time{now.Add(2 * time.Duration(c.attempts) * time.Second)})
			}
			eq(t, "the other's task", s.Task("T2").Status, TaskRunning)
			if s.Events()[0].Type != LeaseReleased && s.Events()[0].Type != WorkerExited {
				t.Errorf("the first event is %s", s.Events()[0].Type)
			}
		})
	}
}

// What has landed or is done stays so when its worker leaves.
func TestEndsOfOneThatIsDone(t *testing.T) {
	for _, c := range []struct {
		was  Status
		exit Exit
		want Status
	}{
		{Done, Exit{}, Done},
		{Done, Exit{Code: 143, Stopped: true}, Done},
		{Done, Exit{Code: 1}, Dead},
		{Landed, Exit{}, Landed},
		{Landed, Exit{Stopped: true}, Landed},
		{Landed, Exit{Code: 1}, Landed},
	} {
		s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: c.was, Epoch: 1}}, Leases: LeaseMap{}}
		must(t, s.WorkerExited("WS01", 1, c.exit))
		eq(t, "status", row(t, s, "WS01").Status, c.want)
		eq(t, "epoch", row(t, s, "WS01").Epoch, 2)
	}
	s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: Landed, Epoch: 1}}, Leases: LeaseMap{}}
	must(t, s.SessionUp("WS01", 1, "s", "compact"))
	eq(t, "status", row(t, s, "WS01").Status, Landed)
	_, err := s.Launch("WS01", Launch{})
	refused(t, err, Refused, "has landed")
	_, err = s.AddTasks([]NewTask{{Title: "more", Workstream: "WS01"}})
	refused(t, err, Refused, "has landed")
	eq(t, "epoch", row(t, s, "WS01").Epoch, 1)
}

// A task is tried max_attempts times (CF-81, CF-82, CF-87, PAINS 102); then it waits for a person.
func TestAttempts(t *testing.T) {
	s := working()
	die := func(epoch int) { t.Helper(); must(t, s.MarkDead("WS01", epoch, "gone")) }
	again := func() int {
		t.Helper()
		epoch, err := s.Launch("WS01", Launch{})
		must(t, err)
		must(t, s.SessionUp("WS01", epoch, "", ""))
		must(t, s.PromptSubmitted("WS01", epoch, "go on"))
		return epoch
	}
	die(1)
	eq(t, "backoff", s.Task("T1").BackoffUntil, Time{now.Add(2 * time.Second)})
	die(again())
	eq(t, "backoff", s.Task("T1").BackoffUntil, Time{now.Add(4 * time.Second)})
	die(again())
	task := s.Task("T1")
	eq(t, "status", task.Status, TaskGivenUp)
	eq(t, "error kind", task.ErrorKind, ErrExhausted)
	eq(t, "attempts", task.Attempts, 3)
	eq(t, "completed", task.CompletedAt, Time{now})
	again()
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "")
	eq(t, "backoff is bounded", backoff(1000), 30*time.Second)

	// Stops by a person use none up.
	s = working()
	epoch := 1
	for range 5 {
		must(t, s.WorkerExited("WS01", epoch, Exit{Stopped: true}))
		epoch = again()
	}
	eq(t, "attempts", s.Task("T1").Attempts, 1)
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "T1")
}

// CF-73, CF-74, CF-75, CF-76: a denial is no wait; a turn that ends under one sends its task back.
func TestVeto(t *testing.T) {
	s := working()
	eq(t, "reason", s.AcquireLeases(ask("WS01", 1, everybody, "free.go", "b.go"))[0].Reason, DenyHeld)
	eq(t, "blocked on", s.Task("T1").BlockedOn, "b.go")
	eq(t, "status in the turn", row(t, s, "WS01").Status, Working)
	must(t, s.TurnEnded("WS01", 1, "I could not write b.go"))
	w, task := row(t, s, "WS01"), s.Task("T1")
	eq(t, "status", w.Status, Blocked)
	eq(t, "notes", w.Notes, "veto: b.go is held by WS02")
	eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
	eq(t, "task", task.Status, TaskPending)
	eq(t, "error kind", task.ErrorKind, ErrVeto)
	eq(t, "blocked on", task.BlockedOn, "b.go")
	eq(t, "attempts", task.Attempts, 1)
	eq(t, "scope", task.Scope, []string{"b.go"})
	eq(t, "backoff", task.BackoffUntil, Time{now.Add(2 * time.Second)})
	eq(t, "told", said(s)[1:], []string{
		"lease_released WS01 T1 path=a.go why=veto",
		"task_requeued WS01 T1 attempt=1 error_kind=veto reason=veto: b.go is held by WS02",
		"status_changed WS01 from=working reason=veto: b.go is held by WS02 to=blocked",
	})

	must(t, s.PromptSubmitted("WS01", 1, "try again"))
	eq(t, "status", w.Status, Working)
	eq(t, "notes", w.Notes, "")
	eq(t, "blocked on", s.Task("T1").BlockedOn, "")
	eq(t, "attempts", s.Task("T1").Attempts, 2)
	must(t, s.TurnEnded("WS01", 1, "done without it"))
	eq(t, "task", s.Task("T1").Status, TaskDone)
}

func TestVetoThatIsOver(t *testing.T) {
	s := working()
	s.AcquireLeases(ask("WS01", 1, everybody, "b.go"))
	must(t, s.TurnEnded("WS02", 1, "there"))
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "b.go")), []Denial(nil))
	must(t, s.TurnEnded("WS01", 1, "there, too"))
	eq(t, "task", s.Task("T1").Status, TaskDone)
	eq(t, "blocked on", s.Task("T1").BlockedOn, "")
	eq(t, "status", row(t, s, "WS01").Status, Done)
	eq(t, "holders", holders(s), []string{})
}

// Of several denials the first that still stands is the veto; a later one doesn't hide it.
func TestVetoOfSeveral(t *testing.T) {
	s := working()
	s.Workstreams[1].Claims = []string{"web"}
	s.AcquireLeases(ask("WS01", 1, everybody, "b.go"))
	s.AcquireLeases(ask("WS01", 1, everybody, "web/x", "/outside"))
	eq(t, "blocked on", s.Task("T1").BlockedOn, "b.go")
	_, _, err := s.Release("WS02", []string{"web", "b.go"})
	must(t, err)
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "web/x")), []Denial(nil))
	must(t, s.TurnEnded("WS01", 1, ""))
	eq(t, "notes", row(t, s, "WS01").Notes, "veto: b.go")
	eq(t, "error kind", s.Task("T1").ErrorKind, ErrVeto)

	// What no holder is the reason of is no veto.
	s = working()
	s.AcquireLeases(ask("WS01", 1, everybody, "/outside", ".git/config"))
	must(t, s.TurnEnded("WS01", 1, "there"))
	eq(t, "task", s.Task("T1").Status, TaskDone)
}

// One that reports itself blocked keeps its task and its files until it is prompted, or reports something else.
func TestReportedBlocked(t *testing.T) {
	blocked := func() *State {
		s := working()
		must(t, s.Block("WS01", "need the password"))
		return s
	}
	kept := func(what string, s *State) {
		t.Helper()
		w := row(t, s, "WS01")
		eq(t, what+": status", w.Status, Blocked)
		eq(t, what+": notes", w.Notes, "blocked: need the password")
		eq(t, what+": task in hand", w.TaskID, "T1")
		eq(t, what+": holders", holders(s), []string{"a.go:WS01/T1", "b.go:WS02/T2"})
	}
	for name, step := range map[string]func(*State) error{
		"its turn ends":          func(s *State) error { return s.TurnEnded("WS01", 1, "I wait for you") },
		"it acts":                func(s *State) error { return s.Activity("WS01", 1) },
		"a dialog comes up":      func(s *State) error { return s.NeedsPerson("WS01", 1, "permission_prompt", "may I?") },
		"its session is resumed": func(s *State) error { return s.SessionUp("WS01", 1, "s", "resume") },
		"it writes": func(s *State) error {
			if len(s.AcquireLeases(ask("WS01", 1, everybody, "a.go"))) > 0 {
				return errors.New("denied")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := blocked()
			must(t, step(s))
			kept(name, s)
			must(t, s.TurnEnded("WS01", 1, ""))
			kept("and its turn ends", s)
			must(t, s.PromptSubmitted("WS01", 1, "it is hunter2"))
			eq(t, "status", row(t, s, "WS01").Status, Working)
			eq(t, "attempt", s.Task("T1").Attempts, 1)
			must(t, s.TurnEnded("WS01", 1, "there"))
			eq(t, "task", s.Task("T1").Status, TaskDone)
			eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
		})
	}
}

// A dialog is over as soon as the worker acts, or is seen to have ended its turn.
func TestNeedsPerson(t *testing.T) {
	asking := func() *State {
		s := working()
		must(t, s.NeedsPerson("WS01", 1, "permission_prompt", "may I?"))
		w := row(t, s, "WS01")
		eq(t, "status", w.Status, Blocked)
		eq(t, "notes", w.Notes, "asks: may I?")
		eq(t, "asks", w.Asks(), true)
		return s
	}
	s := asking()
	must(t, s.Activity("WS01", 1))
	eq(t, "status", row(t, s, "WS01").Status, Working)
	eq(t, "notes", row(t, s, "WS01").Notes, "")
	s = asking()
	must(t, s.SessionUp("WS01", 1, "s", "compact"))
	eq(t, "status", row(t, s, "WS01").Status, Working)
	s = asking()
	must(t, s.PromptSubmitted("WS01", 1, "no"))
	eq(t, "status", row(t, s, "WS01").Status, Working)
	s = asking()
	must(t, s.TurnEnded("WS01", 1, ""))
	eq(t, "status", row(t, s, "WS01").Status, Done)
	eq(t, "notes", row(t, s, "WS01").Notes, "")

	// At the start, before any prompt: the trust dialog.
	s = &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: Pending, Epoch: 1}}, Leases: LeaseMap{}}
	must(t, s.NeedsPerson("WS01", 1, "dialog", "trust this folder?"))
	must(t, s.SessionUp("WS01", 1, "s", "startup"))
	eq(t, "status", row(t, s, "WS01").Status, Started)
	eq(t, "notes", row(t, s, "WS01").Notes, "")
}

func TestNotified(t *testing.T) {
	s := working()
	must(t, s.Notified("WS01", 1, "session_end", "exit"))
	same(t, s, working())
	eq(t, "events", said(s), []string{"notification WS01 T1 kind=session_end message=exit"})
}

// A hook renews the heartbeat only when it is old, so that not every tool call writes the roster.
func TestActivity(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 0, 4 * time.Second: 4 * time.Second, 5 * time.Second: 0, time.Hour: 0,
		-time.Minute: 0, // the clock was set back
	} {
		s := working()
		s.Workstreams[0].Heartbeat = now.Add(-age).Unix()
		must(t, s.Activity("WS01", 1))
		eq(t, "heartbeat", row(t, s, "WS01").Heartbeat, now.Add(-want).Unix())
		eq(t, "updated", row(t, s, "WS01").UpdatedAt, Time{})
		eq(t, "events", said(s), []string{})
	}
}

// A worker that met a limit and goes on by itself is at work again, on its task.
func TestActivityLiftsAnError(t *testing.T) {
	s := working()
	must(t, s.TurnFailed("WS01", 1, "You've hit your limit"))
	eq(t, "status", row(t, s, "WS01").Status, Blocked)
	must(t, s.Activity("WS01", 1))
	eq(t, "status", row(t, s, "WS01").Status, Working)
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "T1")
	eq(t, "notes", row(t, s, "WS01").Notes, "")
}

// A prompt that names a brief starts its task, the first one that is pinned to the workstream and waits;
// any other prompt starts nothing, and so does a second one (PAINS 107).
func TestPromptSubmitted(t *testing.T) {
	s := &State{
		Now:         now,
		Workstreams: []Workstream{{ID: "WS01", Status: Started, Epoch: 1, SessionID: "s", Notes: "agent error: limit"}, {ID: "WS02", Epoch: 1}},
		Tasks: []Task{
			{ID: "T0", Workstream: "WS01", Pinned: true, Status: TaskDone},
			{ID: "T1", Workstream: "WS02", Pinned: true, Status: TaskPending},
			{ID: "T2", Workstream: "WS01", Status: TaskPending},
			{ID: "T3", Workstream: "WS01", Pinned: true, Status: TaskPending, ErrorKind: ErrAgent, BlockedOn: "x", MaxAttempts: 3},
			{ID: "T4", Workstream: "WS01", Pinned: true, Status: TaskPending},
		},
		Leases: LeaseMap{},
	}
	must(t, s.PromptSubmitted("WS01", 1, "secret words\nin a long prompt"))
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "")
	must(t, s.TurnEnded("WS01", 1, ""))
	eq(t, "task", s.Task("T3").Status, TaskPending)
	must(t, s.PromptSubmitted("WS01", 1, "read /run/briefs/T3.md and start"))
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "T3")
	eq(t, "notes", row(t, s, "WS01").Notes, "")
	eq(t, "task", *s.Task("T3"), Task{
		ID: "T3", Workstream: "WS01", Pinned: true, Status: TaskRunning, Attempts: 1, MaxAttempts: 3,
		AssignedAt: Time{now}, StartedAt: Time{now}, UpdatedAt: Time{now}, SessionID: "s",
	})
	// A second prompt in the same turn starts nothing else.
	must(t, s.PromptSubmitted("WS01", 1, "and this"))
	eq(t, "task in hand", row(t, s, "WS01").TaskID, "T3")
	eq(t, "attempts", s.Task("T3").Attempts, 1)
	must(t, s.TurnEnded("WS01", 1, ""))
	eq(t, "status with work left", row(t, s, "WS01").Status, Started)
}

// A task whose row is gone must not stay in hand for ever.
func TestTaskInHandThatIsGone(t *testing.T) {
	for name, end := range map[string]func(*State) error{
		"turn ended":  func(s *State) error { return s.TurnEnded("WS01", 1, "") },
		"turn failed": func(s *State) error { return s.TurnFailed("WS01", 1, "limit") },
		"dead":        func(s *State) error { return s.MarkDead("WS01", 1, "gone") },
	} {
		s := working()
		s.Tasks = s.Tasks[1:]
		must(t, end(s))
		eq(t, name, row(t, s, "WS01").TaskID, "")
	}
}

// CF-27, CF-58, CF-91 by intent: a launch is the registration. A worker that is started again, a dead one too, is a new incarnation in the same row.
func TestLaunch(t *testing.T) {
	s := &State{Now: now, Workstreams: []Workstream{
		{ID: "WS01", Status: Dead, Epoch: 4, Notes: "worker exited with code 1", SessionID: "old"},
		{ID: "WS02", Status: Done, Epoch: 2},
	}, Leases: LeaseMap{}}
	epoch, err := s.Launch("WS01", Launch{Brain: "glm", Mode: Interactive, Tree: "main"})
	must(t, err)
	eq(t, "epoch", epoch, 5)
	eq(t, "row", *row(t, s, "WS01"), Workstream{
		ID: "WS01", Status: Pending, Epoch: 5, Brain: "glm", Mode: Interactive, Tree: "main", Heartbeat: now.Unix(), UpdatedAt: Time{now},
	})
	_, err = s.Launch("WS02", Launch{})
	must(t, err)
	eq(t, "status of one that is done", row(t, s, "WS02").Status, Done)
	_, err = s.Launch("WS09", Launch{})
	refused(t, err, Data, "not in the roster")
}

// A session of a headless worker that was killed may leave a hook behind, which comes late: when its attempt is
// over, and the worker waits for its next task. It gets no lease, and the worker goes on waiting.
func TestHookOfAnEndedSession(t *testing.T) {
	for what, late := range map[string]func(*State) error{
		"write": func(s *State) error {
			eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "a.go")), []Denial{{Path: "a.go", Reason: DenyStale}})
			return nil
		},
		"prompt":       func(s *State) error { return s.PromptSubmitted("WS01", 1, "read briefs/T1.md and start") },
		"session":      func(s *State) error { return s.SessionUp("WS01", 1, "session-1", "startup") },
		"notification": func(s *State) error { return s.NeedsPerson("WS01", 1, "permission_prompt", "may it?") },
		"activity":     func(s *State) error { return s.Activity("WS01", 1) },
		"end":          func(s *State) error { return s.TurnEnded("WS01", 1, "there") },
		"error":        func(s *State) error { return s.TurnFailed("WS01", 1, "no credit") },
	} {
		t.Run(what, func(t *testing.T) {
			s := &State{
				Now: now, Leases: LeaseMap{},
				Workstreams: []Workstream{{ID: "WS01", Status: Started, Mode: Headless, Epoch: 1}},
				Tasks:       []Task{{ID: "T1", Status: TaskPending, Attempts: 1, MaxAttempts: 3, Scope: []string{"a.go"}}},
			}
			must(t, late(s))
			eq(t, "holders", holders(s), []string(nil))
			must(t, s.Tick(everybody))
			eq(t, "T1", s.Task("T1").Status, TaskAssigned)
		})
	}
}
