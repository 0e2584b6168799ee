package roster

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Alert is something that goes on only when a person does something about it.
type Alert struct {
	WS   string `json:"ws_id"`
	Task string `json:"task_id"`
	Kind string `json:"kind"` // see the constants
	Why  string `json:"why"`
}

// The kinds of alerts, the most urgent first.
const (
	AlertDialog  = "dialog"  // an agent waits at a dialog, or for a permission
	AlertBlocked = "blocked" // a worker, or a person, says that it can't go on
	AlertError   = "error"   // an agent's turn ended in an error
	AlertLanding = "landing" // its commits do not get into the base branch
	AlertDead    = "dead"    // a worker is gone and has left work
	AlertFailed  = "failed"  // a task has used up its attempts
	AlertStale   = "stale"   // a worker at work gave no sign of life for StaleAfter
	AlertLimit   = "limit"   // its service takes no more of it for a while; it goes on by itself
	AlertVeto    = "veto"    // a worker waits for a file that another one holds
)

var alertKinds = []string{AlertDialog, AlertBlocked, AlertError, AlertLanding, AlertDead, AlertFailed, AlertStale, AlertLimit, AlertVeto}

// StaleAfter is how long a worker may be at work without a sign of life.
const StaleAfter = 15 * time.Minute

// Alerts lists what needs a person, the most urgent first.
func (s *State) Alerts() []Alert {
	var alerts []Alert
	for i := range s.Workstreams {
		w := &s.Workstreams[i]
		if kind := s.alertKind(w); kind != "" {
			alerts = append(alerts, Alert{WS: w.ID, Task: w.TaskID, Kind: kind, Why: w.Notes})
		}
	}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Status == TaskGivenUp {
			alerts = append(alerts, Alert{WS: t.Workstream, Task: t.ID, Kind: AlertFailed, Why: string(t.ErrorKind)})
		}
	}
	urgency := func(a Alert) int { return slices.Index(alertKinds, a.Kind) }
	slices.SortStableFunc(alerts, func(a, b Alert) int { return cmp.Compare(urgency(a), urgency(b)) })
	return alerts
}

func (s *State) alertKind(w *Workstream) string {
	starts := func(prefix string) bool { return strings.HasPrefix(w.Notes, prefix) }
	switch {
	case w.Asks():
		return AlertDialog
	case w.failedToLand():
		return AlertLanding
	case w.Parked():
		return AlertLimit
	case w.Status == Blocked && starts(noteVeto):
		return AlertVeto
	case w.Status == Blocked && starts(noteError):
		return AlertError
	case w.Status == Blocked:
		return AlertBlocked
	case w.Status == Dead:
		return AlertDead
	case s.Stale(w):
		return AlertStale
	}
	return ""
}

// Stale reports whether a workstream is at work and its worker has given no sign of life for long.
func (s *State) Stale(w *Workstream) bool {
	return w.Status == Working && s.Now.Sub(time.Unix(w.Heartbeat, 0)) > StaleAfter
}
