package roster

import (
	"cmp"
	"slices"
	"time"
)

// TaskStatus is where a task stands.
type TaskStatus string

// The closed list of task statuses.
const (
	TaskPending         TaskStatus = "pending"  // waits: for others, for a worker, or for its backoff to pass
	TaskAssigned        TaskStatus = "assigned" // given to a worker, which has not begun
	TaskRunning         TaskStatus = "running"
	TaskDone            TaskStatus = "succeeded"
	TaskGivenUp         TaskStatus = "failed"
	TaskBlockedUpstream TaskStatus = "blocked_upstream" // something that it depends on failed or was cancelled
	TaskCancelled       TaskStatus = "cancelled"
)

// TaskStatuses lists every task status.
var TaskStatuses = []TaskStatus{TaskPending, TaskAssigned, TaskRunning, TaskDone, TaskGivenUp, TaskBlockedUpstream, TaskCancelled}

// ErrorKind says why the last attempt at a task didn't succeed.
type ErrorKind string

// The closed list of error kinds.
const (
	ErrAgent     ErrorKind = "agent_error"
	ErrVeto      ErrorKind = "veto"
	ErrTimeout   ErrorKind = "timeout"
	ErrBudget    ErrorKind = "budget"
	ErrInfra     ErrorKind = "infra"
	ErrExhausted ErrorKind = "attempts_exhausted"
	ErrCancelled ErrorKind = "cancelled"

	notItsFault ErrorKind = "" // the worker was stopped: nothing failed
)

// ErrorKinds lists every kind, the empty one of a task that nothing went wrong with among them.
var ErrorKinds = []ErrorKind{notItsFault, ErrAgent, ErrVeto, ErrTimeout, ErrBudget, ErrInfra, ErrExhausted, ErrCancelled}

// Limits of a task that doesn't set its own, in a run that doesn't either.
const (
	DefaultPriority    = 3
	maxPriority        = 5
	DefaultMaxAttempts = 3
	DefaultTaskTimeout = 10 * time.Minute
)

// graceAfter is how long after its time a worker may still report by itself.
const graceAfter = time.Minute

// Task is one row of tasks.tsv: a unit of work.
type Task struct {
	ID           string     `json:"task_id"`
	Title        string     `json:"title"`
	Status       TaskStatus `json:"status"`
	Priority     int        `json:"priority"` // 1 to 5, higher first
	DependsOn    []string   `json:"depends_on"`
	Scope        []string   `json:"scope"`      // paths it is expected to touch: a hint, widened by vetoes
	Workstream   string     `json:"workstream"` // that has it in hand, or had it last
	Pinned       bool       `json:"pinned"`     // for its workstream alone
	Brain        string     `json:"brain"`      // for workers of this brain alone; empty is any
	Attempts     int        `json:"attempts"`   // assignments so far: the token that fences a report
	MaxAttempts  int        `json:"max_attempts"`
	BackoffUntil Time       `json:"backoff_until"`
	Verify       string     `json:"verify"` // shell command that must succeed before it counts as done
	ErrorKind    ErrorKind  `json:"error_kind"`
	BlockedOn    string     `json:"blocked_on"` // the path whose holder it waits for
	AssignedAt   Time       `json:"assigned_at"`
	StartedAt    Time       `json:"started_at"`
	CompletedAt  Time       `json:"completed_at"`
	InputTokens  int64      `json:"input_tokens"`  // of all attempts, cached ones included
	OutputTokens int64      `json:"output_tokens"` // of all attempts
	CostUSD      float64    `json:"cost_usd"`      // of all attempts
	DurationMS   int64      `json:"duration_ms"`   // of the last attempt
	SessionID    string     `json:"session_id"`    // of the last attempt
	CreatedAt    Time       `json:"created_at"`
	UpdatedAt    Time       `json:"updated_at"`
	Deadline     Time       `json:"deadline"` // of the attempt in hand; it is taken away then. Zero is never
	Checks       int        `json:"checks"`   // how often verify has failed in the attempt in hand
}

// BriefName is the file of a task's prompt, relative to the run dir.
func BriefName(task string) string { return "briefs/" + task + ".md" }

// Open reports whether somebody still has to do something about the task.
func (t *Task) Open() bool {
	return t.Status == TaskPending || t.InHand()
}

// InHand reports whether a worker has the task.
func (t *Task) InHand() bool { return t.Status == TaskAssigned || t.Status == TaskRunning }

// Terminal reports whether the task is over for good, unless a person asks for it again.
func (t *Task) Terminal() bool {
	return t.Status == TaskDone || t.lost()
}

// lost reports whether what depends on the task can't run.
func (t *Task) lost() bool { return t.Status == TaskGivenUp || t.Status == TaskCancelled }

// assignTask gives a waiting task to a workstream. The assignment is the claim,
// and its number fences whatever is reported about it.
func (s *State) assignTask(w *Workstream, t *Task) {
	t.Attempts++
	t.Status, t.ErrorKind, t.BlockedOn, t.Checks = TaskAssigned, "", "", 0
	t.Workstream = w.ID
	t.AssignedAt, t.StartedAt, t.CompletedAt, t.UpdatedAt = Time{s.Now}, Time{}, Time{}, Time{s.Now}
	data := map[string]any{"agent_name": w.Name, "attempt": t.Attempts, "file_scope": t.Scope}
	if w.Mode == Headless {
		t.Deadline = s.deadline(s.TaskTimeout)
		data["deadline"] = t.Deadline
		if t.Verify != "" {
			t.Checks = unchecked
		}
	}
	w.TaskID = t.ID
	s.Note(TaskAssignedTo, w.ID, t.ID, data)
	s.setStatus(w, Working, "")
}

func (s *State) deadline(timeout time.Duration) Time {
	if timeout <= 0 {
		timeout = DefaultTaskTimeout
	}
	return Time{s.Now.Add(timeout + graceAfter)}
}

// startTask notes that the worker has begun what it was given. A second time changes nothing.
func (s *State) startTask(w *Workstream, t *Task) {
	if t.Status != TaskAssigned {
		return
	}
	t.Status, t.StartedAt, t.UpdatedAt = TaskRunning, Time{s.Now}, Time{s.Now}
	t.SessionID = w.SessionID
	s.Note(TaskStarted, w.ID, t.ID, map[string]any{"attempt": t.Attempts})
}

// StartTask notes that a worker begins a task that it was given, with so much time for it.
func (s *State) StartTask(ws string, epoch int, task string, attempt int, timeout time.Duration) error {
	w, err := s.current(ws, epoch)
	if err != nil {
		return err
	}
	t := s.Task(task)
	if t == nil || w.TaskID != task || t.Attempts != attempt || !t.InHand() {
		return Refusef("%s doesn't have %s (attempt %d) in hand", ws, task, attempt)
	}
	s.startTask(w, t)
	t.Deadline = s.deadline(timeout)
	return nil
}

// Outcome is how an attempt at a task ended.
type Outcome struct {
	OK           bool
	Kind         ErrorKind // when it isn't OK
	Summary      string    // what the worker said last
	Reason       string    // why it isn't OK
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
	DurationMS   int64
	SessionID    string
}

// reported are the kinds of errors with which a worker's attempt may end. The
// others are the rules' own, and an attempt that counts needs one.
var reported = []ErrorKind{ErrAgent, ErrVeto, ErrTimeout, ErrBudget, ErrInfra}

// Complete ends an attempt, at most once. What is late, comes twice or names an
// earlier attempt changes nothing, and false says so.
func (s *State) Complete(ws string, epoch int, task string, attempt int, o Outcome) (applied bool, err error) {
	t := s.Task(task)
	switch {
	case t == nil:
		return false, Dataf("%s is not in the graph", task)
	case !o.OK && !slices.Contains(reported, o.Kind):
		return false, Usagef("error kind %q: want one of %v", o.Kind, reported)
	}
	if !t.InHand() || t.Attempts != attempt {
		return false, nil
	}
	w, err := s.current(ws, epoch)
	if err != nil {
		return false, err
	}
	if t.Workstream != ws || w.TaskID != task {
		return false, Refusef("%s is in the hands of %s, not of %s", task, t.Workstream, ws)
	}
	w.Heartbeat = s.Now.Unix()
	s.endAttempt(w, t, o)
	return true, nil
}

// Judge is how an attempt in hand counts whose worker reports so. A veto that
// still stands outweighs what the worker says, and so does a check that fails.
func (s *State) Judge(ws, task string, o Outcome) Outcome {
	w, err := s.Workstream(ws)
	t := s.Task(task)
	if err != nil || t == nil {
		return o
	}
	switch {
	case o.Kind != ErrInfra && t.BlockedOn != "" && !s.holds(w, t.BlockedOn):
		o.OK, o.Kind, o.Reason = false, ErrVeto, s.vetoReason(w, t.BlockedOn)
	case o.OK && t.Checks > 0:
		o.OK, o.Kind, o.Reason = false, ErrAgent, "its check failed: "+t.Verify
	case o.OK && t.Checks == unchecked: // the hook that runs it was killed, or could not
		o.OK, o.Kind, o.Reason = false, ErrInfra, "its check has not run: "+t.Verify
	}
	return o
}

// endAttempt settles how the attempt in hand ended, frees what it held, and puts
// the workstream to rest.
func (s *State) endAttempt(w *Workstream, t *Task, o Outcome) {
	o = s.Judge(w.ID, t.ID, o)
	t.InputTokens += o.InputTokens
	t.OutputTokens += o.OutputTokens
	t.CostUSD += o.CostUSD
	t.DurationMS, t.SessionID = o.DurationMS, cmp.Or(o.SessionID, t.SessionID)
	if o.OK {
		s.endLeases(w, "task ended")
		s.succeed(w, t, map[string]any{"attempt": t.Attempts})
		s.toRest(w, clearedNote(Title(o.Summary)))
		return
	}
	until, limited := s.limited(t, o)
	if limited {
		o.Kind = ErrInfra
	}
	if w.Lane != "" && o.Kind == ErrVeto && t.Attempts < DefaultMaxAttempts { // it has one attempt, and may wait for a file
		t.MaxAttempts = max(t.MaxAttempts, t.Attempts+1)
	}
	s.endLeases(w, string(o.Kind))
	s.requeue(w, t, o.Kind, o.Reason)
	if limited {
		s.park(w, until, o.Reason)
		return
	}
	s.rest(w, t, o)
}

// toRest puts a workstream to rest that has done what it was at. Where another task of its own waits for a file, that is what it waits for.
func (s *State) toRest(w *Workstream, note string) {
	to := s.restStatus(w)
	if to == Started && w.Mode == Interactive { // the others are not called when it is free
		for t := range rows(s.Tasks) {
			if t.Pinned && t.Workstream == w.ID && t.Open() && s.waitsForFile(t) {
				to, note = Blocked, s.vetoReason(w, t.BlockedOn)
			}
		}
	}
	s.setStatus(w, to, note)
}

// rest is where a workstream stands after an attempt that didn't succeed.
func (s *State) rest(w *Workstream, t *Task, o Outcome) {
	if w.Mode != Headless && o.Kind == ErrVeto {
		s.setStatus(w, Blocked, o.Reason)
		return
	}
	what := string(t.ErrorKind)
	if t.Status == TaskGivenUp {
		what = string(t.Status)
	}
	s.setStatus(w, s.restStatus(w), t.ID+" "+what+": "+Title(o.Reason))
}

func (s *State) vetoReason(w *Workstream, path string) string {
	reason := noteVeto + " " + path
	if l, held := s.Leases.Get(path); held {
		reason += " is held by " + l.WS
		if l.Kept() {
			reason += ", uncommitted"
		}
	} else if other, _ := s.claimant(w, func(c string) bool { return Covers(c, path) }); other != nil {
		reason += " is claimed by " + other.ID
	}
	return reason
}

// letGo takes the task in hand from a workstream.
func (s *State) letGo(w *Workstream) {
	if t := s.Task(w.TaskID); t != nil && t.InHand() {
		t.UpdatedAt, t.Deadline = Time{s.Now}, Time{}
	}
	w.TaskID = ""
}

// succeed ends a task well, and tells which others may go on for it.
func (s *State) succeed(w *Workstream, t *Task, data map[string]any) {
	s.letGo(w)
	s.close(t, TaskDone, "")
	t.BlockedOn = ""
	s.Note(TaskSucceeded, t.Workstream, t.ID, data)
	find := finder(s.graph().find)
	for d := range rows(s.Tasks) {
		if d.Status == TaskPending && slices.Contains(d.DependsOn, t.ID) && !slices.ContainsFunc(d.DependsOn, find.unmet) {
			s.Note(TaskUnblocked, "", d.ID, map[string]any{"by": t.ID})
		}
	}
}

// close gives a task a status that is its last. Only the end of an open one can make the fleet idle.
func (s *State) close(t *Task, as TaskStatus, kind ErrorKind) {
	s.closed, s.wakes = s.closed || t.Open(), true
	t.Status, t.ErrorKind, t.CompletedAt, t.UpdatedAt, t.BackoffUntil = as, kind, Time{s.Now}, Time{s.Now}, Time{}
}

// requeue ends the attempt in hand without success: the task waits again, or has
// failed, when its attempts are used up or trying again would not help. A veto
// leaves the file that was in the way in the task's scope, so that it isn't given
// out again while that is held. Only an attempt that somebody stopped doesn't count.
func (s *State) requeue(w *Workstream, t *Task, kind ErrorKind, reason string) {
	s.letGo(w)
	s.wakes = true
	if kind == ErrVeto && t.BlockedOn != "" && !slices.Contains(t.Scope, t.BlockedOn) {
		t.Scope = slices.Concat(t.Scope, []string{t.BlockedOn})
	}
	data := map[string]any{"error_kind": kind, "reason": reason, "attempt": t.Attempts}
	if kind == notItsFault {
		t.Attempts-- // its epoch ends with it, which fences what it may still report
	}
	switch {
	case kind == ErrBudget:
		s.fail(t, kind, data)
	case t.Attempts >= t.MaxAttempts:
		s.fail(t, ErrExhausted, data)
	default:
		t.Status, t.ErrorKind, t.UpdatedAt = TaskPending, kind, Time{s.Now}
		t.BackoffUntil = Time{s.Now.Add(backoff(t.Attempts))}
		s.Note(TaskRequeued, w.ID, t.ID, data)
	}
}

func (s *State) fail(t *Task, kind ErrorKind, data map[string]any) {
	data["error_kind"] = kind
	s.close(t, TaskGivenUp, kind)
	s.Note(TaskFailed, t.Workstream, t.ID, data)
}

const (
	backoffStep = 2 * time.Second
	backoffMax  = 30 * time.Second
)

// backsOff reports whether a task waits for its backoff to pass. None is longer than
// backoffMax: what is further away was written before somebody set the clock back.
func (t *Task) backsOff(now time.Time) bool {
	wait := t.BackoffUntil.Sub(now)
	return wait > 0 && wait <= backoffMax
}

func backoff(attempts int) time.Duration { return min(backoffStep*time.Duration(attempts), backoffMax) }
