package roster

import (
	"testing"
	"time"
)

// The clock jumps back by an hour in the middle of a graph: nobody waits an hour for what was a
// matter of seconds, and nothing gets a time that can't be.
func TestClockJumpsBack(t *testing.T) {
	for _, mode := range []string{Headless, Interactive} {
		t.Run(mode, func(t *testing.T) {
			s := &State{Now: now, Leases: LeaseMap{}}
			must(t, s.AddSlot(NewWorkstream{ID: "WS01", Brain: "scripted"}))
			_, err := s.AddTasks([]NewTask{{ID: "T1", Title: "be tried twice", Workstream: "WS01", Scope: []string{"a.go"}}, {ID: "T2", Title: "come after it", DependsOn: []string{"T1"}}})
			must(t, err)
			epoch, err := s.Launch("WS01", Launch{Brain: "scripted", Mode: mode})
			must(t, err)
			must(t, s.SessionUp("WS01", epoch, "session-1", "startup"))
			must(t, s.Tick(everybody))
			must(t, s.StartTask("WS01", epoch, "T1", 1, time.Minute))
			eq(t, "denials", s.AcquireLeases(ask("WS01", epoch, everybody, "a.go")), []Denial(nil))
			_, err = s.Complete("WS01", epoch, "T1", 1, Outcome{Kind: ErrAgent, Reason: "it gave up"})
			must(t, err)
			must(t, s.Tick(everybody))
			eq(t, "T1 in its backoff", s.Task("T1").Status, TaskPending)

			s.Now = s.Now.Add(-time.Hour)
			must(t, s.Tick(everybody))
			eq(t, "T1 after the jump", s.Task("T1").Status, TaskAssigned)
			must(t, s.StartTask("WS01", epoch, "T1", 2, time.Minute))

			s.Now = s.Now.Add(-time.Hour) // and in the middle of the attempt
			must(t, s.Tick(everybody))
			eq(t, "T1 is nobody else's", s.Task("T1").Status, TaskRunning)
			must(t, s.Activity("WS01", epoch))
			eq(t, "heartbeat", row(t, s, "WS01").Heartbeat, s.Now.Unix())
			eq(t, "alarms", s.Alarms(15), []string{})
			eq(t, "denials", s.AcquireLeases(ask("WS01", epoch, everybody, "a.go")), []Denial(nil))
			if mode == Interactive {
				must(t, s.TurnEnded("WS01", epoch, "there"))
			} else {
				_, err = s.Complete("WS01", epoch, "T1", 2, Outcome{OK: true})
				must(t, err)
			}
			eq(t, "T1 at the end", s.Task("T1").Status, TaskDone)
			eq(t, "its duration", s.Task("T1").DurationMS, int64(0))
			eq(t, "leases", holders(s), []string(nil))
			must(t, s.Tick(everybody))
			eq(t, "T2", s.Task("T2").Status, TaskAssigned)
		})
	}
}
