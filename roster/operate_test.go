package roster

import (
	"testing"
	"time"
)

// CF-52, CF-53, CF-151: a failed task gets further attempts, with numbers that no old report bears, and those behind it their chance; any other is refused.
func TestRetryTask(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Tasks: []Task{
		{ID: "F", Status: TaskGivenUp, ErrorKind: ErrExhausted, Attempts: 3, MaxAttempts: 3, CompletedAt: ago(time.Hour), Workstream: "WS01"},
		{ID: "A", Status: TaskBlockedUpstream, DependsOn: []string{"F"}, CompletedAt: ago(time.Hour)},
		{ID: "B", Status: TaskBlockedUpstream, DependsOn: []string{"A"}},
		{ID: "C", Status: TaskBlockedUpstream, DependsOn: []string{"X"}},
		{ID: "D", Status: TaskCancelled, DependsOn: []string{"F"}},
		{ID: "E", Status: TaskBlockedUpstream, DependsOn: []string{"D"}},
	}}
	must(t, s.RetryTask("F"))
	eq(t, "tasks", statuses(s), []string{"F:pending", "A:pending", "B:pending", "C:blocked_upstream", "D:cancelled", "E:blocked_upstream"})
	eq(t, "task", s.Tasks[0], Task{ID: "F", Status: TaskPending, Attempts: 3, MaxAttempts: 6, Workstream: "WS01", UpdatedAt: Time{now}})
	eq(t, "completed", s.Task("A").CompletedAt, Time{})
	eq(t, "events", said(s), []string{"task_requeued WS01 F reason=operator_retry", "task_unblocked  A by=F", "task_unblocked  B by=F"})
	eq(t, "wakes", s.Wakes(), true)
	for _, id := range []string{"F", "C", "D"} {
		before := clone(s)
		refused(t, s.RetryTask(id), Refused, id+" has not failed: its status is "+string(s.Task(id).Status))
		same(t, s, before)
	}
	refused(t, s.RetryTask("nix"), Data, "nix is not in the graph")
}

// A task that is skipped counts as done, so that those behind it go on. What a worker has in hand isn't skipped under it.
func TestSkipTask(t *testing.T) {
	for _, status := range []TaskStatus{TaskPending, TaskGivenUp, TaskBlockedUpstream, TaskCancelled} {
		s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{{ID: "WS01", Status: Started, Epoch: 1}}, Tasks: []Task{
			{ID: "WS01", Status: status, ErrorKind: ErrAgent, BlockedOn: "x", BackoffUntil: Time{now.Add(time.Hour)}, Workstream: "WS01", Pinned: true, MaxAttempts: 3},
			{ID: "A", Status: TaskBlockedUpstream, DependsOn: []string{"WS01"}, MaxAttempts: 3},
			{ID: "B", Status: TaskPending, DependsOn: []string{"WS01"}, MaxAttempts: 3},
		}}
		must(t, s.SkipTask("WS01"))
		eq(t, "tasks", statuses(s), []string{"WS01:succeeded", "A:pending", "B:pending"})
		eq(t, "task", s.Tasks[0], Task{
			ID: "WS01", Status: TaskDone, Workstream: "WS01", Pinned: true, MaxAttempts: 3, CompletedAt: Time{now}, UpdatedAt: Time{now},
		})
		eq(t, "its owner has nothing left to do", row(t, s, "WS01").Status, Done)
		eq(t, "events", said(s), []string{
			"task_succeeded WS01 WS01 skipped=true", "task_unblocked  B by=WS01", "task_unblocked  A by=WS01", "status_changed WS01 from=started to=done",
		})
		refused(t, s.SkipTask("WS01"), Refused, "WS01 has succeeded already")
	}
	s := running()
	before := clone(s)
	refused(t, s.SkipTask("T1"), Refused, "T1 is in the hands of WS01")
	refused(t, s.SkipTask("nix"), Data, "nix is not in the graph")
	same(t, s, before)
}

// CF-50, CF-59: a task that is cancelled ends, and who has it in hand is fenced and parked, its leases gone.
func TestCancelTask(t *testing.T) {
	for _, status := range []TaskStatus{TaskAssigned, TaskRunning} {
		s := running()
		s.Task("T1").Status = status
		must(t, s.CancelTask("T1"))
		w, task := row(t, s, "WS01"), s.Task("T1")
		eq(t, "task", []any{task.Status, task.ErrorKind, task.CompletedAt, task.Deadline}, []any{TaskCancelled, ErrCancelled, Time{now}, Time{}})
		eq(t, "its worker", []any{w.Status, w.Epoch, w.TaskID, w.Notes}, []any{Pending, 2, "", "stopped: T1 was cancelled"})
		eq(t, "holders", holders(s), []string{"b.go:WS02/T2"})
		eq(t, "events", said(s), []string{
			"lease_released WS01 T1 path=a.go why=T1 was cancelled",
			"status_changed WS01 from=working reason=stopped: T1 was cancelled to=pending",
			"task_cancelled WS01 T1 attempt=2",
		})
		eq(t, "what it still writes", s.AcquireLeases(ask("WS01", 1, everybody, "c.go"))[0].Reason, DenyStale)
		applied, err := s.Complete("WS01", 1, "T1", 2, Outcome{OK: true})
		must(t, err)
		eq(t, "what it still reports", applied, false)
		s.Tasks = append(s.Tasks, todo("next"))
		eq(t, "what it is given", plan(s, everybody), []string(nil))
		eq(t, "the other", *row(t, s, "WS02"), *row(t, running(), "WS02"))
	}
	for _, status := range []TaskStatus{TaskPending, TaskBlockedUpstream} {
		s := running()
		s.Tasks = append(s.Tasks, Task{ID: "T3", Status: status, Workstream: "WS01"}) // had it once
		must(t, s.CancelTask("T3"))
		eq(t, "task", s.Task("T3").Status, TaskCancelled)
		eq(t, "epoch", row(t, s, "WS01").Epoch, 1)
		eq(t, "events", said(s), []string{"task_cancelled WS01 T3 attempt=0"})
	}
	for _, status := range []TaskStatus{TaskDone, TaskGivenUp, TaskCancelled} {
		s := running()
		s.Task("T1").Status = status
		before := clone(s)
		refused(t, s.CancelTask("T1"), Refused, "T1 is over: "+string(status))
		same(t, s, before)
	}
	refused(t, running().CancelTask("nix"), Data, "nix is not in the graph")

	// The last open task of a workstream, cancelled while its worker waits.
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{pinned("WS01", "WS01"), pinned("WS01.2", "WS01")}}
	s.Tasks[0].Status = TaskDone
	must(t, s.CancelTask("WS01.2"))
	eq(t, "its owner", row(t, s, "WS01").Status, Done)
}

func TestRunEvents(t *testing.T) {
	s := running()
	s.Tasks = append(s.Tasks, Task{ID: "T3", Status: TaskDone, CostUSD: 0.5, InputTokens: 3, OutputTokens: 2})
	s.RunStarted(3)
	s.RunEnded()
	eq(t, "events", said(s), []string{
		"fleet_started  open=2 runners=3 tasks=3", "run_finished  cost_usd=0.5 input_tokens=3 output_tokens=2 running=2 succeeded=1",
	})
}
