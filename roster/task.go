package roster

import "time"

// TaskStatus is where a task stands.
type TaskStatus string

// The closed list of task statuses.
const (
	TaskPending         TaskStatus = "pending"
	TaskAssigned        TaskStatus = "assigned"
	TaskRunning         TaskStatus = "running"
	TaskDone            TaskStatus = "succeeded"
	TaskGivenUp         TaskStatus = "failed"
	TaskBlockedUpstream TaskStatus = "blocked_upstream"
	TaskCancelled       TaskStatus = "cancelled"
)

// TaskStatuses lists every task status.
var TaskStatuses = []TaskStatus{TaskPending, TaskAssigned, TaskRunning, TaskDone, TaskGivenUp, TaskBlockedUpstream, TaskCancelled}

// ErrorKind says why the last attempt at a task didn't succeed.
type ErrorKind string

// The kinds of failed attempts that a worker's life can lead to.
const (
	ErrAgent     ErrorKind = "agent_error"
	ErrVeto      ErrorKind = "veto"
	ErrInfra     ErrorKind = "infra"
	ErrExhausted ErrorKind = "attempts_exhausted"

	notItsFault ErrorKind = "" // the worker was stopped: nothing failed
)

// Limits of a task that doesn't set its own.
const (
	DefaultPriority    = 3
	DefaultMaxAttempts = 3
)

// Task is one row of tasks.tsv: a unit of work.
type Task struct {
	ID           string     `json:"task_id"`
	Title        string     `json:"title"`
	Status       TaskStatus `json:"status"`
	Priority     int        `json:"priority"` // 1 to 5, higher first
	DependsOn    []string   `json:"depends_on"`
	Scope        []string   `json:"scope"` // paths it is expected to touch: a hint, widened by vetoes
	Workstream   string     `json:"workstream"`
	Pinned       bool       `json:"pinned"` // for its workstream alone
	Brain        string     `json:"brain"`
	Attempts     int        `json:"attempts"`
	MaxAttempts  int        `json:"max_attempts"`
	BackoffUntil Time       `json:"backoff_until"`
	Verify       string     `json:"verify"`
	ErrorKind    ErrorKind  `json:"error_kind"`
	BlockedOn    string     `json:"blocked_on"` // the path whose holder it waits for
	AssignedAt   Time       `json:"assigned_at"`
	StartedAt    Time       `json:"started_at"`
	CompletedAt  Time       `json:"completed_at"`
	InputTokens  int64      `json:"input_tokens"`
	OutputTokens int64      `json:"output_tokens"`
	CostUSD      float64    `json:"cost_usd"`
	DurationMS   int64      `json:"duration_ms"`
	SessionID    string     `json:"session_id"`
	CreatedAt    Time       `json:"created_at"`
	UpdatedAt    Time       `json:"updated_at"`
}

func (s *State) addTask(t Task) {
	t.Status, t.Priority, t.MaxAttempts = TaskPending, DefaultPriority, DefaultMaxAttempts
	t.CreatedAt, t.UpdatedAt = Time{s.Now}, Time{s.Now}
	s.Tasks = append(s.Tasks, t)
	s.Note(TaskCreated, t.Workstream, t.ID, map[string]any{"title": t.Title})
}

// nextTask is the first task that is pinned to a workstream and waits, or nil.
func (s *State) nextTask(w *Workstream) *Task {
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Pinned && t.Workstream == w.ID && t.Status == TaskPending {
			return t
		}
	}
	return nil
}

// takeTask puts the next task into the hands of a workstream, unless it has one or none waits.
func (s *State) takeTask(w *Workstream) {
	if w.TaskID != "" {
		return
	}
	if t := s.nextTask(w); t != nil {
		s.startTask(w, t)
	}
}

// letGo takes the task in hand from a workstream and returns it, nil if none runs.
func (s *State) letGo(w *Workstream) *Task {
	t := s.Task(w.TaskID)
	w.TaskID = ""
	if t == nil || t.Status != TaskRunning {
		return nil
	}
	t.UpdatedAt = Time{s.Now}
	return t
}

// startTask puts a waiting task into the hands of a workstream.
func (s *State) startTask(w *Workstream, t *Task) {
	t.Attempts++
	t.Status, t.ErrorKind, t.BlockedOn = TaskRunning, "", ""
	t.AssignedAt, t.StartedAt, t.UpdatedAt = Time{s.Now}, Time{s.Now}, Time{s.Now}
	t.SessionID = w.SessionID
	w.TaskID = t.ID
	s.Note(TaskStarted, w.ID, t.ID, map[string]any{"attempt": t.Attempts})
}

// completeTask ends the task in hand as succeeded.
func (s *State) completeTask(w *Workstream) {
	t := s.letGo(w)
	if t == nil {
		return
	}
	t.Status, t.BlockedOn, t.CompletedAt = TaskDone, "", Time{s.Now}
	t.DurationMS = s.Now.Sub(t.StartedAt.Time).Milliseconds()
	s.Note(TaskSucceeded, w.ID, t.ID, map[string]any{"attempt": t.Attempts})
}

// requeueTask ends the attempt in hand: the task waits again, or has failed when
// its attempts are used up. What isn't the worker's fault, a veto or that somebody
// stopped it, doesn't count as one.
func (s *State) requeueTask(w *Workstream, kind ErrorKind, reason string) {
	t := s.letGo(w)
	if t == nil {
		return
	}
	attempt := t.Attempts
	if kind == ErrVeto || kind == notItsFault {
		t.Attempts--
	} else if attempt >= t.MaxAttempts {
		t.Status, t.ErrorKind, t.CompletedAt = TaskGivenUp, ErrExhausted, Time{s.Now}
		s.Note(TaskFailed, w.ID, t.ID, map[string]any{"error_kind": ErrExhausted, "reason": reason, "attempt": attempt})
		return
	}
	t.Status, t.ErrorKind = TaskPending, kind
	t.BackoffUntil = Time{s.Now.Add(backoff(attempt))}
	s.Note(TaskRequeued, w.ID, t.ID, map[string]any{"error_kind": kind, "reason": reason, "attempt": attempt})
}

const (
	backoffStep = 2 * time.Second
	backoffMax  = 30 * time.Second
)

func backoff(attempts int) time.Duration { return min(backoffStep*time.Duration(attempts), backoffMax) }
