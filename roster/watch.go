package roster

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Watch is what fleet watch says about a roster, and what it compares the next one with.

// Seen is a roster as it was seen, field by field: "WS01|status" → "working".
type Seen map[string]string

// watchedFields are the fields whose change is told. The heartbeat isn't one:
// that it stands still is what STALE is for.
func watchedFields(w *Workstream) [][2]string {
	return [][2]string{
		{"name", w.Name},
		{"task", w.Task},
		{"status", string(w.Status)},
		{"claims", strings.Join(w.Claims, ",")},
		{"landed_sha", w.LandedSHA},
		{"migration_num", w.MigrationNum},
		{"scratch_db", w.ScratchDB},
		{"notes", w.Notes},
		{"brain", w.Brain},
		{"mode", w.Mode},
		{"tree", w.Tree},
		{"epoch", strconv.Itoa(w.Epoch)},
		{"task_id", w.TaskID},
		{"session_id", w.SessionID},
	}
}

// Alarms are the lines about workstreams in trouble, in row order: STALE for one
// that should be at work and gave no sign of life for more than staleMin whole
// minutes, DEAD for one whose worker is gone.
func (s *State) Alarms(staleMin int) []string {
	var lines []string
	for w := range rows(s.Workstreams) {
		switch w.Status {
		case Started, Working:
			if age := int(s.Now.Sub(time.Unix(w.Heartbeat, 0)).Minutes()); age > staleMin {
				lines = append(lines, fmt.Sprintf("STALE %s %d", w.ID, age))
			}
		case Dead:
			lines = append(lines, "DEAD "+w.ID)
		case Blocked:
			if w.Parked() {
				lines = append(lines, fmt.Sprintf("LIMIT %s %s", w.ID, w.ParkedUntil))
			}
		case Pending, Done, Landed:
		}
	}
	return lines
}

// Changes are the lines about fields that differ from what was seen before, and
// what is seen now. Nothing was seen before the first time, so nothing has changed.
func (s *State) Changes(before Seen) (lines []string, now Seen) {
	now = make(Seen)
	for w := range rows(s.Workstreams) {
		for _, f := range watchedFields(w) {
			key, value := w.ID+"|"+f[0], Flat(f[1])
			now[key] = value
			if old, known := before[key]; before != nil && (!known || old != value) {
				lines = append(lines, fmt.Sprintf("CHANGE %s %s", w.ID, f[0]))
			}
		}
	}
	return lines, now
}

// AllDone reports whether there is work and all of it is done: every workstream
// with tasks of its own is done or landed, and every other task has succeeded or was cancelled.
func (s *State) AllDone() bool {
	owners := make(map[string]bool)
	for t := range rows(s.Tasks) {
		if !t.Pinned && t.Status != TaskDone && t.Status != TaskCancelled {
			return false
		}
		owners[t.Workstream] = owners[t.Workstream] || t.Pinned
	}
	for w := range rows(s.Workstreams) {
		slot := len(s.Tasks) > 0 && !owners[w.ID]
		if !slot && w.Status != Done && w.Status != Landed {
			return false
		}
	}
	return len(s.Workstreams) > 0
}
