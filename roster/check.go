package roster

// unchecked are the Checks of a task whose check has yet to run.
const unchecked = -1

// sendBacks is how often a failing check sends its worker back to work in one attempt.
const sendBacks = 2

// Check is a command that must succeed before an attempt at a task counts as done.
type Check struct {
	Command string
	Task    string
	Attempt int
}

// CheckDue returns the check that is due before a worker's turn may end its task,
// false if there is none: it has none, or what it was denied decides already.
func (s *State) CheckDue(ws string, epoch int) (Check, bool) {
	w, err := s.current(ws, epoch)
	if err != nil || w.saysBlocked() {
		return Check{}, false
	}
	t := s.Task(w.TaskID)
	if t == nil || t.Status != TaskRunning || t.Verify == "" || t.BlockedOn != "" && !s.holds(w, t.BlockedOn) {
		return Check{}, false
	}
	return Check{Command: t.Verify, Task: t.ID, Attempt: t.Attempts}, true
}

// Checking notes that a worker's check runs, for whoever looks.
func (s *State) Checking(ws string, epoch int, c Check) error {
	w, err := s.current(ws, epoch)
	if err != nil {
		return err
	}
	w.Notes = "checking: " + c.Command
	s.touch(w)
	return nil
}

// Checked notes how a check ended. again says that the worker should be told, and go on.
func (s *State) Checked(ws string, epoch int, c Check, passed bool) (again bool, err error) {
	w, err := s.current(ws, epoch)
	if err != nil {
		return false, err
	}
	w.Notes = ""
	t := s.Task(c.Task)
	if t == nil || w.TaskID != t.ID || t.Attempts != c.Attempt || t.Status != TaskRunning {
		return false, nil
	}
	if passed {
		t.Checks = 0
		return false, nil
	}
	t.Checks = max(t.Checks, 0) + 1
	s.Note(CheckFailed, ws, t.ID, map[string]any{"attempt": t.Attempts, "checks": t.Checks, "command": c.Command})
	return t.Checks <= sendBacks, nil
}
