package roster

// Which task a worker begins without being asked which.

// takeTask gives a workstream one of its own tasks, unless it has one in hand or there is none.
// A headless one begins none by itself: its wrapper runs what the scheduler gives out.
func (s *State) takeTask(w *Workstream, t *Task) {
	if t != nil && w.TaskID == "" && w.Mode != Headless {
		s.assignTask(w, t)
	}
}

func anyTask(*Task) bool { return true }

// nextTask is the most urgent of those tasks of a workstream's own that wait for nothing else, or nil.
// Its backoff doesn't count, for it is asked for where somebody wants it now.
func (s *State) nextTask(w *Workstream, which func(*Task) bool) (next *Task) {
	find := finder(s.graph().find)
	for t := range rows(s.Tasks) {
		if t.Pinned && t.Workstream == w.ID && which(t) && find.ready(t) && (next == nil || urgency(t, next) < 0) {
			next = t
		}
	}
	return next
}

// FirstTask is the task with which the next worker of a workstream will begin, "" if there is none.
func (s *State) FirstTask(w *Workstream) string {
	if t := s.nextTask(w, anyTask); t != nil {
		return t.ID
	}
	return ""
}

// GoOn gives a worker whose turn has just ended its next task, as begun, since the
// same session goes on with it. It returns "" if there is none.
func (s *State) GoOn(ws string, epoch int, alive func(ws string) bool) (task string, err error) {
	if err := s.Tick(alive); err != nil {
		return "", err
	}
	w, err := s.current(ws, epoch)
	if err != nil {
		return "", err
	}
	if w.Mode == Manual && (w.Status == Started || w.Status == Done) {
		// The scheduler gives it none, since nobody could type it.
		s.takeTask(w, s.nextTask(w, func(t *Task) bool { return !t.backsOff(s.Now) && !s.waitsForFile(t) }))
	}
	t := s.Task(w.TaskID)
	if t == nil || t.Status != TaskAssigned || w.Mode == Headless {
		return "", nil
	}
	s.startTask(w, t)
	return t.ID, nil
}
