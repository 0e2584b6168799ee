package roster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CFN-98, CFN-102, CFN-104: each transition is told once: the run's beginning and end, a lane's worker, also the next
// one after a death, and its landing. What lies between them, and STALE and DEAD, are told to nobody.
func TestBenchEvents(t *testing.T) {
	s := State{Workstreams: []Workstream{{ID: "WS01", Name: "API", Status: Pending}, {ID: "WS02", Status: Pending}}}
	event := func(kind, lane string) BenchEvent { return BenchEvent{Type: kind, Lane: lane} }
	begun := BenchEvent{Type: "loop_started", Detail: "fleet run"}
	finished := BenchEvent{Type: "loop_finished", Detail: "all workstreams landed/done"}
	spawned := event("lane_spawned", "api")
	var told Seen
	for i, step := range []struct {
		status Status
		epoch  int
		want   []BenchEvent
	}{
		{Pending, 0, []BenchEvent{begun}},
		{Blocked, 0, nil}, // a person says so; there is no worker
		{Pending, 1, nil}, // it is being started
		{Started, 1, []BenchEvent{spawned}},
		{Working, 1, nil},
		{Blocked, 1, nil},
		{Working, 1, nil},
		{Dead, 2, nil},
		{Working, 3, []BenchEvent{spawned}},
		{Done, 3, nil},
		{Landed, 3, []BenchEvent{event("lane_landed", "api")}},
		{Landed, 3, nil},
	} {
		s.Workstreams[0].Status, s.Workstreams[0].Epoch = step.status, step.epoch
		for again := range 2 {
			events, now := s.BenchEvents(told)
			if again == 1 {
				step.want = nil
			}
			if diff := cmp.Diff(step.want, events); diff != "" {
				t.Errorf("step %d, scan %d: -want +got\n%s", i, again, diff)
			}
			told = now
		}
	}
	s.Workstreams[1].Status, s.Workstreams[1].Epoch = Done, 1
	events, now := s.BenchEvents(told)
	if diff := cmp.Diff([]BenchEvent{event("lane_spawned", "ws02"), finished}, events); diff != "" {
		t.Errorf("the end: -want +got\n%s", diff)
	}
	s.Workstreams[1].Status = Working // it has been given more to do
	if events, now = s.BenchEvents(now); len(events) > 0 {
		t.Errorf("more to do: %v", events)
	}
	s.Workstreams[1].Status = Landed
	events, _ = s.BenchEvents(now)
	if diff := cmp.Diff([]BenchEvent{event("lane_landed", "ws02"), finished}, events); diff != "" {
		t.Errorf("the second end: -want +got\n%s", diff)
	}
}
