package roster

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Status is where a workstream stands.
type Status string

// The closed list of statuses.
const (
	Pending Status = "pending" // registered, no worker yet
	Started Status = "started" // worker up, no task in hand
	Working Status = "working" // a turn is running
	Blocked Status = "blocked" // waits for a person, or for the holder of a file; the reason is in the notes
	Done    Status = "done"    // all its tasks succeeded
	Landed  Status = "landed"  // its commits are in the base branch
	Dead    Status = "dead"    // its worker is gone
)

// Statuses lists every status.
var Statuses = []Status{Pending, Started, Working, Blocked, Done, Landed, Dead}

// Modes of a worker.
const (
	Interactive = "interactive" // a screen; its wrapper types the next task into it
	Manual      = "manual"      // a screen that only a person types into
	Headless    = "headless"    // no screen of its own: its wrapper starts a session for each task
)

// Workstream is one row of roster.tsv: a slot, its stream of work and the worker that serves it.
type Workstream struct {
	ID           string   `json:"ws_id"`
	Name         string   `json:"name"`
	Task         string   `json:"task"` // one line; the whole text is the brief
	Status       Status   `json:"status"`
	Claims       []string `json:"claims"`
	LandedSHA    string   `json:"landed_sha"`
	MigrationNum string   `json:"migration_num"`
	ScratchDB    string   `json:"scratch_db"`
	Heartbeat    int64    `json:"heartbeat"` // Unix seconds; 0 is never
	Notes        string   `json:"notes"`
	Brain        string   `json:"brain"`
	Mode         string   `json:"mode"`
	Tree         string   `json:"tree"`  // "main", or the worktree's path relative to the main checkout
	Epoch        int      `json:"epoch"` // incarnation of the worker; the fencing token
	TaskID       string   `json:"task_id"`
	SessionID    string   `json:"session_id"`
	UpdatedAt    Time     `json:"updated_at"`
	ParkedUntil  Time     `json:"parked_until"` // when the limit of its agent's service is over; zero: there is none
	Lane         string   `json:"lane"`         // empty, Shared or Isolated
}

// What a lane is to the others. The workstream of a lane is headless, and its tasks are packets.
const (
	Shared   = "shared"   // it takes leases, and respects those of others
	Isolated = "isolated" // it competes with other lanes for the same files, each in its own tree: leases are not for it
)

// MainTree is the tree of a workstream that works in the main checkout.
const MainTree = "main"

// isolated reports whether leases are not for the workstream. In the main checkout they are for everybody.
func (w *Workstream) isolated() bool { return w.Lane == Isolated && w.Tree != MainTree }

// lanesRoot has the worktrees of lanes. It is not below .claude, which Claude Code protects from its own tools.
const lanesRoot = ".fleetflow/"

// LaneTree is the worktree of a lane, relative to the main checkout.
func LaneTree(slug, id string) string { return lanesRoot + slug + "/wt-" + id }

// TreeRoot is the folder of worktrees that a tree is in.
func TreeRoot(tree string) string {
	if strings.HasPrefix(tree, lanesRoot) {
		return strings.TrimSuffix(lanesRoot, "/")
	}
	return path.Dir(tree)
}

// Branch is the git branch of a workstream that works in a tree of its own.
func (w *Workstream) Branch() string {
	if tree, ok := strings.CutPrefix(w.Tree, lanesRoot); ok {
		return "fleetflow/" + strings.Replace(tree, "/wt-", "/", 1)
	}
	return "fleet/" + w.ID
}

// Live reports whether the claims of the workstream count against others.
func (w *Workstream) Live() bool {
	return w.Status != Done && w.Status != Landed && w.Status != Dead
}

// Asks reports whether the agent waits at a dialog, where keys would answer it.
func (w *Workstream) Asks() bool {
	return w.Status == Blocked && strings.HasPrefix(w.Notes, noteAsks)
}

// saysBlocked reports whether the workstream was reported blocked, which only a new prompt, or a new report, lifts.
func (w *Workstream) saysBlocked() bool {
	return w.Status == Blocked && strings.HasPrefix(w.Notes, noteBlocked) || w.failedToLand()
}

// manned reports whether a worker should be running: one was seen at work since the last one's end.
func (w *Workstream) manned() bool {
	return w.Epoch > 0 && (w.Status == Started || w.Status == Working || w.TaskID != "" || w.Status == Blocked && !w.saysBlocked() || w.HandedOver())
}

// HandedOver reports whether an incarnation was ended for the next one, whose agent is not up yet.
func (w *Workstream) HandedOver() bool {
	return (w.Status == Pending || w.Status == Done) && w.Notes == noteOver
}

// betweenSessions reports whether no agent is at work for the worker: a headless one
// has a session for each task. What reports all the same is left of one that has ended.
func (w *Workstream) betweenSessions() bool { return w.Mode == Headless && w.TaskID == "" }

// Waits reports whether the worker can be given a task.
func (w *Workstream) Waits() bool {
	if w.Epoch == 0 || w.TaskID != "" || w.Mode == Manual || w.HandedOver() {
		return false
	}
	return w.Status == Started || w.Status == Done || w.Status == Blocked && strings.HasPrefix(w.Notes, noteVeto) || w.failedToLand()
}

// Notes that a rule reads again start with one of these.
const (
	noteBlocked = "blocked:" // reported by the worker or a person; only a new prompt lifts it
	noteAsks    = "asks:"    // a dialog is up; any later activity lifts it
	noteDone    = "done:"
	noteError   = "agent error:" // its turn failed; any later activity lifts it
	noteVeto    = "veto:"        // its turn ended in a denied write; a new prompt lifts it
	noteOver    = "handed over"  // its next worker has yet to start
)

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^WS[0-9]{2,}$`) })

// CheckID reports whether id has the form of a workstream id: WS and two digits or more.
func CheckID(id string) error {
	if !idPattern().MatchString(id) {
		return Dataf("%q is no workstream id: want WS and at least two digits, such as WS01", id)
	}
	return nil
}

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`) })

// NewWorkstream is what Add needs to know.
type NewWorkstream struct {
	ID     string
	Text   string   // the task, whole
	Name   string   // alias; empty means the id in lower case
	Claims []string // as given by the user; blank ones are ignored
	Brain  string
	Lane   string // Shared or Isolated for a lane
	Tree   string // of a lane: where it will work; empty is the main checkout
}

// Add registers a workstream and its first task, which bears the same id.
func (s *State) Add(n NewWorkstream) error {
	if err := CheckID(n.ID); err != nil {
		return err
	}
	if Title(n.Text) == "" {
		return Usagef("%s: the task is empty", n.ID)
	}
	if err := s.AddSlot(n); err != nil {
		return err
	}
	_, err := s.AddTasks([]NewTask{{ID: n.ID, Title: n.Text, Workstream: n.ID, Brain: n.Brain}})
	return err
}

// AddSlot registers a workstream that has no task of its own: its worker serves the graph.
func (s *State) AddSlot(n NewWorkstream) error {
	if err := CheckID(n.ID); err != nil {
		return err
	}
	title := Title(n.Text)
	if n.Name == "" {
		n.Name = strings.ToLower(n.ID)
	}
	if !namePattern().MatchString(n.Name) {
		return Dataf("name %q: want letters, digits, - and _, at most 63", n.Name)
	}
	for w := range rows(s.Workstreams) {
		if w.ID == n.ID {
			return Dataf("%s is in the roster already", n.ID)
		}
		if w.Name == n.Name {
			return Dataf("name %q belongs to %s", n.Name, w.ID)
		}
	}
	w := &Workstream{
		ID: n.ID, Name: n.Name, Task: title, Status: Pending, Brain: n.Brain, Mode: Interactive, Tree: cmp.Or(n.Tree, MainTree),
		UpdatedAt: Time{s.Now}, Lane: n.Lane,
	}
	claims, err := s.newClaims(w, slices.DeleteFunc(slices.Clone(n.Claims), blank))
	if err != nil {
		return err
	}
	s.Note(WorkstreamAdded, n.ID, "", map[string]any{"name": n.Name, "task": title, "brain": n.Brain})
	if len(claims) > 0 {
		s.addClaims(w, claims)
	}
	s.Workstreams = append(s.Workstreams, *w)
	return nil
}

// FreeIDs are the next n ids that no workstream has.
func (s *State) FreeIDs(n int) []string {
	var ids []string
	for i := 1; len(ids) < n; i++ {
		id := fmt.Sprintf("WS%02d", i)
		if !slices.ContainsFunc(s.Workstreams, func(w Workstream) bool { return w.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

const titleRunes = 200

// Title is the first line of a text that says something, cut to what a table can show.
func Title(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(Flat(strings.ToValidUTF8(line, "\uFFFD")))
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > titleRunes {
			line = string([]rune(line)[:titleRunes-1]) + "…"
		}
		return line
	}
	return ""
}

// Printable is a path as a line of text: itself, or in quotes if it has bytes that a line can't show.
func Printable(path string) string {
	if q := strconv.Quote(path); q != `"`+path+`"` {
		return q
	}
	return path
}

// escapes are what sets the colours of a terminal, its title and the like.
var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\a\x1b]*(\a|\x1b\\))`) })

// Flat makes a text fit into one cell: escape sequences go, and control characters, tabs and newlines among them, become spaces.
func Flat(s string) string {
	clean := func(r rune) bool { return r < ' ' || r == 0x7f }
	if strings.IndexFunc(s, clean) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if clean(r) {
			return ' '
		}
		return r
	}, escapes().ReplaceAllString(s, ""))
}

// Several is a number of things in words.
func Several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Heartbeat notes that the workstream is alive; a note replaces the last one.
// A note that starts with "blocked:" reports the workstream blocked, and any
// other one after it that it goes on. One that starts with "done:" ends its task:
// the way of agents that have no hooks, whose task nobody saw begin.
func (s *State) Heartbeat(id, note string) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	switch {
	case strings.HasPrefix(note, noteBlocked):
		s.setStatus(w, Blocked, note)
	case strings.HasPrefix(note, noteDone):
		s.takeTask(w, s.nextTask(w, anyTask))
		if t := s.Task(w.TaskID); t != nil {
			s.startTask(w, t)
		}
		s.endTurn(w, Outcome{OK: true})
		w.Notes = note
	case note != "" && w.Status == Blocked && w.TaskID != "":
		s.setStatus(w, Working, note)
	case note != "":
		w.Notes = note
		s.touch(w)
	}
	return nil
}

// Block asks for a person: the workstream waits until somebody answers it.
func (s *State) Block(id, reason string) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	if blank(reason) {
		return Usagef("block %s: say what it waits for", id)
	}
	s.setStatus(w, Blocked, noteBlocked+" "+reason)
	return nil
}

// IsStale reports whether an error says that its caller was fenced.
func IsStale(err error) bool {
	_, stale := errors.AsType[*StaleEpochError](err)
	return stale
}

// StaleEpochError says that a worker was replaced, or declared dead, since it started.
type StaleEpochError struct {
	WS         string
	Epoch, Now int
}

func (e *StaleEpochError) Error() string {
	return fmt.Sprintf("%s: this worker is incarnation %d, the roster is at %d: it was replaced or declared dead", e.WS, e.Epoch, e.Now)
}
