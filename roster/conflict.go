package roster

// Conflict is a denied write, with how it ended. It is no record of its own but
// read from the log, joined with the task that wanted to write.
type Conflict struct {
	Event      int64  `json:"event_id"`
	At         Time   `json:"at"`
	Path       string `json:"path"`
	Reason     string `json:"reason"`
	Requester  string `json:"requester"`
	Task       string `json:"task_id"`
	Holder     string `json:"holder"`
	HolderTask string `json:"holder_task_id"`
	Resolved   bool   `json:"resolved"` // the task that wanted it has succeeded
}

// Conflicts makes conflicts of lease_denied events.
func (s *State) Conflicts(denials []Event) []Conflict {
	g := s.graph()
	conflicts := make([]Conflict, len(denials))
	for i, e := range denials {
		text := func(key string) string { v, _ := e.Data[key].(string); return v }
		c := Conflict{
			Event: e.ID, At: e.At, Path: text("path"), Reason: text("reason"), Requester: e.WS, Task: e.Task,
			Holder: text("holder"), HolderTask: text("holder_task"),
		}
		if t := g.find(e.Task); t != nil {
			c.Resolved = t.Status == TaskDone
		}
		conflicts[i] = c
	}
	return conflicts
}
