package roster

import (
	"iter"
	"slices"
	"time"
)

// State is a snapshot of one run.
type State struct {
	Now         time.Time
	Strict      bool          // a write needs a claim of one's own (FLEET_STRICT)
	UntilCommit bool          // a lease outlives its turn until the file is committed (FLEET_LEASE_UNTIL)
	MaxAttempts int           // of a task that sets none; 0 is DefaultMaxAttempts
	TaskTimeout time.Duration // of a headless worker's task; 0 is DefaultTaskTimeout
	Workstreams []Workstream
	Tasks       []Task
	Leases      Leases

	events []Event
	closed bool // a task has ended since the snapshot
	wakes  bool // see Wakes
}

// Events returns what the rules noted since the snapshot was taken, oldest first, without ids.
func (s *State) Events() []Event { return s.events }

// Note records an event of ws that changes no row by itself.
func (s *State) Note(t EventType, ws, task string, data map[string]any) {
	s.events = append(s.events, Event{At: Time{s.Now}, Type: t, WS: ws, Task: task, Data: data})
}

// Workstream returns the row of an id, to be changed in place by the rules.
func (s *State) Workstream(id string) (*Workstream, error) {
	if i := slices.IndexFunc(s.Workstreams, func(w Workstream) bool { return w.ID == id }); i >= 0 {
		return &s.Workstreams[i], nil
	}
	if err := CheckID(id); err != nil {
		return nil, err
	}
	return nil, Dataf("%s is not in the roster", id).Hinted("fleet add %s \"what to do\"", id)
}

// Task returns the row of a task id, or nil.
func (s *State) Task(id string) *Task {
	for t := range rows(s.Tasks) {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// rows goes through a table, whose rows may be changed.
func rows[T any](table []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range table {
			if !yield(&table[i]) {
				return
			}
		}
	}
}

// Fence refuses a caller that is not the present incarnation of a workstream's worker.
func (s *State) Fence(id string, epoch int) error {
	_, err := s.current(id, epoch)
	return err
}

func (s *State) current(id string, epoch int) (*Workstream, error) {
	w, err := s.Workstream(id)
	if err != nil {
		return nil, err
	}
	if w.Epoch != epoch {
		return nil, &StaleEpochError{WS: id, Epoch: epoch, Now: w.Epoch}
	}
	return w, nil
}

// setStatus moves a row to a status, with the reason in its notes; a reason of "" keeps the notes.
func (s *State) setStatus(w *Workstream, to Status, reason string) {
	if reason != "" {
		w.Notes = reason
	}
	s.touch(w)
	if w.Status == to {
		return
	}
	data := map[string]any{"from": w.Status, "to": to}
	if reason != "" {
		data["reason"] = reason
	}
	wasLive := w.Live()
	w.Status = to
	s.Note(StatusChanged, w.ID, w.TaskID, data)
	if !wasLive && w.Live() {
		s.yieldClaims(w)
	}
}

func (s *State) touch(w *Workstream) { w.UpdatedAt = Time{s.Now} }
