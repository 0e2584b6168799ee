package roster

import "time"

// EventType names something that happened. The list is closed: rundir refuses to write another.
type EventType string

// Every type of event, in the order of a workstream's life.
const (
	WorkstreamAdded   EventType = "workstream_added"
	StatusChanged     EventType = "status_changed"
	ClaimAdded        EventType = "claim_added"
	ClaimReleased     EventType = "claim_released"
	WorkerSpawned     EventType = "worker_spawned"
	WorkerUp          EventType = "worker_up"
	WorkerExited      EventType = "worker_exited"
	PromptSubmitted   EventType = "prompt_submitted"
	SendUnconfirmed   EventType = "send_unconfirmed"
	Notification      EventType = "notification"
	HandoffWritten    EventType = "handoff_written"
	FleetStarted      EventType = "fleet_started"
	TaskCreated       EventType = "task_created"
	TaskAssignedTo    EventType = "task_assigned"
	TaskStarted       EventType = "task_started"
	CheckFailed       EventType = "check_failed"
	TaskSucceeded     EventType = "task_succeeded"
	TaskUnblocked     EventType = "task_unblocked"
	TaskRequeued      EventType = "task_requeued"
	TaskFailed        EventType = "task_failed"
	TaskIsBlocked     EventType = "task_blocked_upstream"
	TaskIsCancelled   EventType = "task_cancelled"
	FleetIdle         EventType = "fleet_idle"
	RunFinished       EventType = "run_finished"
	MigrationReserved EventType = "migration_reserved"
	ScratchDBReady    EventType = "scratch_db_ready"
	ScratchDBRemoved  EventType = "scratch_db_removed"
	LeaseAcquired     EventType = "lease_acquired"
	LeaseDenied       EventType = "lease_denied"
	LeaseReleased     EventType = "lease_released"
	FileChanged       EventType = "file_changed"
	ShellWriteDenied  EventType = "shell_write_denied"
	ForeignWriteFound EventType = "foreign_write_found"
	CommitMade        EventType = "committed"
	LandingDone       EventType = "landed"
	LandingFailed     EventType = "land_failed"
	LandingReverted   EventType = "reverted"
	EscapeDetected    EventType = "escape_detected"
	LimitReached      EventType = "limit_reached"
)

// EventTypes lists every type that may be written.
var EventTypes = []EventType{
	WorkstreamAdded, StatusChanged, ClaimAdded, ClaimReleased,
	WorkerSpawned, WorkerUp, WorkerExited, PromptSubmitted, SendUnconfirmed, Notification, HandoffWritten,
	FleetStarted, TaskCreated, TaskAssignedTo, TaskStarted, CheckFailed, TaskSucceeded, TaskUnblocked, TaskRequeued, TaskFailed,
	TaskIsBlocked, TaskIsCancelled, FleetIdle, RunFinished,
	MigrationReserved, ScratchDBReady, ScratchDBRemoved,
	LeaseAcquired, LeaseDenied, LeaseReleased, FileChanged, ShellWriteDenied, ForeignWriteFound,
	CommitMade, LandingDone, LandingFailed, LandingReverted, EscapeDetected, LimitReached,
}

// AboutFiles reports whether an event is about who writes which file, the busiest
// part of the log and the one that is worth nothing after a power cut.
func (t EventType) AboutFiles() bool {
	switch t {
	case LeaseAcquired, LeaseDenied, LeaseReleased, FileChanged, ShellWriteDenied, ForeignWriteFound:
		return true
	}
	return false
}

// Event is one line of events.jsonl.
type Event struct {
	ID   int64          `json:"id"` // rises by one; the cursor of every reader
	At   Time           `json:"at"`
	Type EventType      `json:"type"`
	WS   string         `json:"ws,omitempty"`
	Task string         `json:"task,omitempty"`
	Data map[string]any `json:"data,omitempty"`
}

// Time is a moment in the one form that run files use: UTC, milliseconds, Z.
// The zero Time is written as the empty string.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// String is the form in a file.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// ParseTime reads what String wrote.
func ParseTime(s string) (Time, error) {
	if s == "" {
		return Time{}, nil
	}
	t, err := time.Parse(timeLayout, s)
	return Time{t}, err
}

// MarshalJSON writes the form of String.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads the form of String.
func (t *Time) UnmarshalJSON(b []byte) (err error) {
	if len(b) < 2 || b[0] != '"' {
		return Dataf("time %s: want a string", b)
	}
	*t, err = ParseTime(string(b[1 : len(b)-1]))
	return err
}
