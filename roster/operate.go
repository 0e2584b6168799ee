package roster

import "cmp"

// What people do to tasks.

// CancelTask ends a task that isn't over, and fences the worker that has it in
// hand: whatever that still writes or reports is refused.
func (s *State) CancelTask(id string) error {
	t, err := s.task(id)
	if err != nil {
		return err
	}
	if t.Terminal() {
		return Refusef("%s is over: %s", id, t.Status)
	}
	if w, err := s.Workstream(t.Workstream); err == nil && t.InHand() && w.TaskID == id {
		s.releaseLeases(w, id+" was cancelled")
		s.letGo(w)
		s.setStatus(w, Pending, "stopped: "+id+" was cancelled")
		w.Epoch++
	}
	s.close(t, TaskCancelled, ErrCancelled)
	s.Note(TaskIsCancelled, t.Workstream, id, map[string]any{"attempt": t.Attempts})
	s.restAgain(t)
	return nil
}

// Supersede ends the tasks of a workstream that haven't succeeded, to make room for another that takes their place.
func (s *State) Supersede(ws string) error {
	for t := range rows(s.Tasks) {
		if t.Workstream != ws || !t.Pinned {
			continue
		}
		if t.Status == TaskGivenUp {
			s.close(t, TaskCancelled, t.ErrorKind)
			s.Note(TaskIsCancelled, ws, t.ID, map[string]any{"attempt": t.Attempts})
		}
		if !t.Terminal() {
			if err := s.CancelTask(t.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// RetryTask gives a failed task its attempts again, and those that wait for it their chance.
func (s *State) RetryTask(id string) error {
	t, err := s.task(id)
	if err != nil {
		return err
	}
	if t.Status != TaskGivenUp {
		return Refusef("%s has not failed: its status is %s", id, t.Status)
	}
	// The attempts go on counting, since a report about an old one must not fit a new one.
	t.MaxAttempts = t.Attempts + cmp.Or(s.MaxAttempts, DefaultMaxAttempts)
	s.wait(t)
	s.Note(TaskRequeued, t.Workstream, id, map[string]any{"reason": "operator_retry"})
	s.unblock(t)
	return nil
}

// SkipTask lets a task count as done although nobody did it, so that those that wait for it go on.
func (s *State) SkipTask(id string) error {
	t, err := s.task(id)
	if err != nil {
		return err
	}
	if t.Status == TaskDone {
		return Refusef("%s has succeeded already", id)
	}
	if t.InHand() {
		return Refusef("%s is in the hands of %s", id, t.Workstream).Hinted("cancel it first: fleet task cancel %s", id)
	}
	s.succeed(&Workstream{}, t, map[string]any{"skipped": true})
	s.unblock(t)
	s.restAgain(t)
	return nil
}

// restAgain looks whether the owner of a task that ended outside of its hands has nothing left to do.
func (s *State) restAgain(t *Task) {
	if w, err := s.Workstream(t.Workstream); err == nil && t.Pinned && w.Status == Started {
		s.setStatus(w, s.restStatus(w), "")
	}
}

func (s *State) task(id string) (*Task, error) {
	if t := s.Task(id); t != nil {
		return t, nil
	}
	return nil, Dataf("%s is not in the graph", id).Hinted("see: fleet tasks")
}

// wait puts a task back among those that wait.
func (s *State) wait(t *Task) {
	t.Status, t.ErrorKind, t.CompletedAt, t.BackoffUntil, t.UpdatedAt = TaskPending, "", Time{}, Time{}, Time{s.Now}
	s.wakes = true
}

// unblock frees what a task had blocked, however far down. What another failure blocks as well, the next tick blocks again.
func (s *State) unblock(t *Task) {
	dependents := s.graph().downstream().dependents
	for next := []string{t.ID}; len(next) > 0; next = next[1:] {
		for _, d := range dependents[next[0]] {
			if d.Status == TaskBlockedUpstream {
				s.wait(d)
				s.Note(TaskUnblocked, d.Workstream, d.ID, map[string]any{"by": t.ID})
				next = append(next, d.ID)
			}
		}
	}
}

// RunStarted notes that somebody lets the graph run to its end.
func (s *State) RunStarted(runners int) {
	s.Note(FleetStarted, "", "", map[string]any{"runners": runners, "tasks": len(s.Tasks), "open": s.openTasks()})
}

// RunEnded notes that the graph has been run to its end, with what it came to.
func (s *State) RunEnded() { s.Note(RunFinished, "", "", s.Tally()) }

// Forget takes all tasks and leases from the run, and leaves the workstreams with nothing to do.
func (s *State) Forget() {
	s.Tasks, s.Leases = nil, LeaseMap{}
	for w := range rows(s.Workstreams) {
		w.Task, w.TaskID, w.Status, w.Notes = "", "", Pending, ""
		s.touch(w)
	}
}
