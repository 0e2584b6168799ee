package roster

// Wait is somebody, or a task, that goes on when something else has happened.
type Wait struct {
	WS   string `json:"ws_id"`   // that waits; empty for a task in nobody's hands
	Task string `json:"task_id"` // that waits
	For  string `json:"for"`     // "file api.go" or "task T1"
	On   string `json:"on"`      // workstream that has that in hand; empty if none has
}

// Waits says who waits for whom: for files that others hold or claim, and for
// tasks that others depend on, in the order of the tasks.
func (s *State) Waits() []Wait {
	g := s.graph()
	var waits []Wait
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.BlockedOn != "" && t.Open() {
			if on := s.inTheWay(t); on != "" {
				waits = append(waits, Wait{WS: t.Workstream, Task: t.ID, For: "file " + t.BlockedOn, On: on})
			}
		}
		if t.Status != TaskPending && t.Status != TaskBlockedUpstream {
			continue
		}
		for _, id := range t.DependsOn {
			d := g.find(id)
			if d == nil || d.Status == TaskDone {
				continue
			}
			w := Wait{Task: t.ID, For: "task " + id}
			if t.Pinned {
				w.WS = t.Workstream
			}
			if d.InHand() || d.Pinned {
				w.On = d.Workstream
			}
			waits = append(waits, w)
		}
	}
	return waits
}

// waitsForFile reports whether a task waits for a file that another workstream still keeps from it.
func (s *State) waitsForFile(t *Task) bool { return t.BlockedOn != "" && s.inTheWay(t) != "" }

// inTheWay is the workstream that keeps from a task the file that it waits for.
func (s *State) inTheWay(t *Task) string {
	if l, held := s.Leases.Get(t.BlockedOn); held && l.WS != t.Workstream {
		return l.WS
	}
	w, err := s.Workstream(t.Workstream)
	if err != nil {
		return ""
	}
	if other, _ := s.claimant(w, func(c string) bool { return Covers(c, t.BlockedOn) }); other != nil {
		return other.ID
	}
	return ""
}
