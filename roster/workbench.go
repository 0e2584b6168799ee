package roster

import (
	"cmp"
	"strings"
)

// A workbench draws the lanes of a plan and follows their events. A run is to it a
// plan of one phase, in which each workstream is a lane.

// BenchEvent is what a workbench is told.
type BenchEvent struct {
	Type   string // of the workbench's own closed list
	Lane   string // empty: it is about the run
	Detail string
}

// LaneID is what a workbench calls a workstream.
func (w *Workstream) LaneID() string {
	return strings.ReplaceAll(strings.ToLower(cmp.Or(w.Name, w.ID)), " ", "_")
}

// benchState is how far a lane has come: empty before it has a worker, and again when that is gone.
func (w *Workstream) benchState() string {
	switch w.Status {
	case Landed:
		return "lane_landed"
	case Started, Working, Blocked, Done:
		if w.Epoch > 0 {
			return "lane_spawned"
		}
	case Pending, Dead:
	}
	return ""
}

// BenchEvents are what a workbench has to be told after what it was told before, and what it has
// been told then: nothing twice, whoever asks and however often.
func (s *State) BenchEvents(told Seen) (events []BenchEvent, now Seen) {
	const run = "run"
	now = Seen{run: "loop_started"}
	if told[run] == "" {
		events = append(events, BenchEvent{Type: "loop_started", Detail: "fleet run"})
	}
	for w := range rows(s.Workstreams) {
		state := w.benchState()
		if now[w.ID] = state; state != "" && state != told[w.ID] {
			events = append(events, BenchEvent{Type: state, Lane: w.LaneID()})
		}
	}
	if s.AllDone() {
		now[run] = "loop_finished"
		if told[run] != now[run] {
			events = append(events, BenchEvent{Type: now[run], Detail: "all workstreams landed/done"})
		}
	}
	return events, now
}
