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
	case w.Status == Working && s.Now.Sub(time.Unix(w.Heartbeat, 0)) > StaleAfter:
		return AlertStale
	}
	return ""
}

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

// inTheWay is the workstream that keeps from a task the file that it waits for.
func (s *State) inTheWay(t *Task) string {
	if l, held := s.Leases.Get(t.BlockedOn); held && l.WS != t.Workstream {
		return l.WS
	}
	for i := range s.Workstreams {
		w := &s.Workstreams[i]
		if w.ID != t.Workstream && w.Live() && slices.ContainsFunc(w.Claims, func(c string) bool { return Covers(c, t.BlockedOn) }) {
			return w.ID
		}
	}
	return ""
}

// Progress is how many of a workstream's tasks are over, and how many it has:
// its own, and those of the graph that it has had in hand.
func (s *State) Progress(ws string) (over, all int) {
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Workstream == ws {
			all++
			if t.Terminal() {
				over++
			}
		}
	}
	return over, all
}
