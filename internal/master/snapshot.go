package master

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fleet/internal/agent"
	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/rundir"
)

// Snapshot is all there is to show of a run, as it stands at one moment.
type Snapshot struct {
	Run         string            `json:"run"`
	RunDir      string            `json:"run_dir"`
	Repo        string            `json:"repo"` // name of the repository's folder
	Now         roster.Time       `json:"now"`
	GeneratedAt roster.Time       `json:"generated_at"` // the same; what monitors of lanes look for
	LastEvent   int64             `json:"last_event_id"`
	Counters    map[string]any    `json:"counters"`
	Workstreams []Row             `json:"workstreams"`
	Tasks       []roster.TaskView `json:"tasks"`
	Leases      []Lease           `json:"leases"`
	Alerts      []roster.Alert    `json:"alerts"` // what needs a person
	Waits       []roster.Wait     `json:"waits"`  // who waits for whom
	Lanes       []Lane            `json:"lanes"`
	Manifest    *Manifest         `json:"manifest"`
}

// Manifest sums up the packets that the lanes of a run were made from.
type Manifest struct {
	PacketCount int      `json:"packet_count"`
	Phases      []string `json:"phases"`
}

// Row is a workstream with what is derived about it.
type Row struct {
	roster.Workstream
	Held  []string `json:"held"`
	Alive bool     `json:"alive"` // its wrapper runs
	Stale bool     `json:"stale"` // it is at work and has given no sign of life for long
}

// Rows are the workstreams of a run. No list in them is nil, for programs that go through it.
func Rows(d *rundir.Dir, s *roster.State) []Row {
	held := make(map[string][]string)
	for l := range s.Leases.All() {
		held[l.WS] = append(held[l.WS], l.Path)
	}
	rows := make([]Row, len(s.Workstreams))
	for i, w := range s.Workstreams {
		w.Claims = append([]string{}, w.Claims...)
		rows[i] = Row{Workstream: w, Held: append([]string{}, held[w.ID]...), Alive: w.Epoch > 0 && d.Alive(w.ID), Stale: s.Stale(&w)}
	}
	return rows
}

// Lease is a file that is held, with how long it has been.
type Lease struct {
	roster.Lease
	Age int64 `json:"age_s"`
}

// Leases are the files that are held, never nil.
func Leases(s *roster.State) []Lease {
	leases := []Lease{}
	for l := range s.Leases.All() {
		leases = append(leases, Lease{l, int64(s.Now.Sub(l.AcquiredAt.Time) / time.Second)})
	}
	return leases
}

// Snapshot looks at the run. What is not in its tables, logs and commits, is read
// after the lock is let go of: hooks wait for that.
func (f *Fleet) Snapshot(ctx context.Context) (snap Snapshot, err error) {
	err = f.Dir.View(ctx, func(s *roster.State) (err error) {
		now := roster.Time{Time: s.Now}
		snap = Snapshot{
			Run: f.Dir.Slug(), RunDir: f.Dir.Path, Repo: filepath.Base(f.Dir.Root), Now: now, GeneratedAt: now,
			Counters: s.Tally(), Workstreams: Rows(f.Dir, s), Tasks: s.TaskViews(), Leases: Leases(s),
			Alerts: append([]roster.Alert{}, s.Alerts()...), Waits: append([]roster.Wait{}, s.Waits()...),
		}
		snap.LastEvent, err = f.Dir.LastEvent()
		return err
	})
	if err != nil {
		return snap, err
	}
	ahead, err := f.ahead(ctx, snap.Workstreams)
	if err != nil {
		return snap, err
	}
	tasks := tasksOf(snap.Tasks)
	snap.Lanes = make([]Lane, len(snap.Workstreams))
	for i := range snap.Workstreams {
		w := &snap.Workstreams[i].Workstream
		snap.Lanes[i] = f.lane(w, tasks[w.ID], ahead[w.Branch()], snap.Now)
	}
	return snap, f.packets(&snap)
}

// maxStream bounds how much of what a lane's agent has said is read to tell how it goes: the end of it.
const maxStream = 8 << 20

// live adds what the agent of a lane that runs has said so far.
func (f *Fleet) live(l *Lane, r lane.Record) {
	b, err := agent.Find(l.Brain)
	if err != nil {
		return
	}
	said, err := os.Open(f.Dir.File(r.File("events.jsonl")))
	if err != nil {
		return
	}
	defer func() { _ = said.Close() }()
	if info, err := said.Stat(); err == nil && info.Size() > maxStream {
		_, _ = said.Seek(-maxStream, io.SeekEnd)
	}
	s, _ := b.ReadSession(said, func(line string) {
		if what, ok := strings.CutPrefix(line, "● "); ok {
			l.Activity = cut(what, commitWidth)
		}
	})
	l.Tools = s.Tools
}

// packets adds what the manifest knows of lanes, and the lanes that were imported.
func (f *Fleet) packets(snap *Snapshot) error {
	m, err := f.Dir.Manifest()
	if err != nil || len(m.Packets) == 0 {
		return err
	}
	snap.Manifest = &Manifest{PacketCount: len(m.Packets), Phases: m.Phases}
	journal, err := f.Dir.Journal()
	for _, p := range m.Packets {
		last, _ := journal.Last(p.ID)
		i := slices.IndexFunc(snap.Lanes, func(l Lane) bool { return l.Name == p.ID })
		if i < 0 {
			i = len(snap.Lanes)
			snap.Lanes = append(snap.Lanes, Lane{Name: p.ID, Brain: p.Brain, State: LanePending, Started: last.At})
		}
		l := &snap.Lanes[i]
		l.Packet, l.Phase, l.Artifact = true, p.Phase, ""
		if last.Artifact != "" {
			l.Artifact = f.Dir.Rel(f.Dir.File(last.Artifact))
		}
		l.Tools = last.Tools
		switch {
		case last.Type == lane.Started && l.State == LaneRunning:
			f.live(l, last)
		case l.State == LaneLanded || last.Type != lane.Result:
		case last.Good():
			l.State = LaneDone
		default:
			l.State, l.Activity = LaneFailed, last.Reason
		}
	}
	return err
}

// ahead is what the branches of those workstreams have that work in trees of their own.
func (f *Fleet) ahead(ctx context.Context, rows []Row) (map[string]git.Ahead, error) {
	var branches []string
	for _, r := range rows {
		if r.Tree != "" && r.Tree != roster.MainTree {
			branches = append(branches, r.Branch())
		}
	}
	if len(branches) == 0 {
		return nil, nil
	}
	return git.In(f.Run, f.Dir.Root).Ahead(ctx, f.base(""), branches)
}

// Lane is a workstream as a monitor shows it. Lanes stand in the order of the roster,
// as everywhere else: one that is tried again doesn't change its place.
type Lane struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Brain      string      `json:"brain"`
	Phase      string      `json:"phase"`
	State      LaneState   `json:"state"`
	Started    roster.Time `json:"started"` // of its last attempt at a task
	Elapsed    int64       `json:"elapsed_s"`
	Commits    int         `json:"commits"` // that are not in the base branch, of a tree of its own
	Tools      int         `json:"tools"`
	Tokens     int64       `json:"tokens"` // that it wrote
	CostUSD    float64     `json:"cost_usd"`
	Activity   string      `json:"activity"`
	LastCommit string      `json:"last_commit"`
	Artifact   string      `json:"artifact"` // what it reported of its last task, relative to the main checkout
	ErrTail    string      `json:"err_tail"`
	Packet     bool        `json:"-"` // it has one: it was asked for by fleet lane
}

// LaneState is where a lane stands, in the words of monitors.
type LaneState string

// The closed list of lane states.
const (
	LanePending LaneState = "pending"
	LaneRunning LaneState = "running"
	LaneBlocked LaneState = "blocked"
	LaneDone    LaneState = "done"
	LaneFailed  LaneState = "failed"
	LaneLanded  LaneState = "landed"
)

// Widths of what a monitor has room for.
const (
	commitWidth = 90
	errorWidth  = 160
)

func (f *Fleet) lane(w *roster.Workstream, mine work, ahead git.Ahead, now roster.Time) Lane {
	l := Lane{
		ID: w.ID, Name: w.Name, Brain: w.Brain, State: mine.state(w), Tokens: mine.tokens, CostUSD: mine.cost,
		Commits: ahead.Commits, LastCommit: cut(ahead.Subject, commitWidth),
	}
	if w.Epoch > 0 { // where no worker has been is nothing to look for, and a run may have many rows
		l.ErrTail = cut(f.Dir.LastSaid(w.ID), errorWidth)
	}
	if t := mine.last; t != nil && !t.AssignedAt.IsZero() {
		l.Started, l.Elapsed = t.AssignedAt, int64(until(t, now).Sub(t.AssignedAt.Time)/time.Second)
		if found := f.Dir.Results(t.ID, t.Attempts); len(found) > 0 {
			l.Artifact = f.Dir.Rel(found[len(found)-1])
		}
	}
	switch l.State {
	case LaneRunning:
		l.Activity = cmp.Or(l.LastCommit, "working")
	case LaneBlocked, LaneFailed:
		l.Activity = cmp.Or(w.Notes, l.LastCommit)
	default:
		l.Activity = l.LastCommit
	}
	return l
}

// until is when an attempt at a task ended, or now.
func until(t *roster.TaskView, now roster.Time) time.Time {
	switch {
	case t.InHand():
		return now.Time
	case t.CompletedAt.IsZero() && t.DurationMS > 0: // it waits to be tried again, maybe since somebody said so much later
		return t.AssignedAt.Add(time.Duration(t.DurationMS) * time.Millisecond)
	case t.CompletedAt.IsZero():
		return t.UpdatedAt.Time
	}
	return t.CompletedAt.Time
}

// work is what the tasks of a workstream come to.
type work struct {
	last   *roster.TaskView // that it was given, or is to be given; nil if there is none
	open   bool             // it has something to do
	tokens int64
	cost   float64
}

func tasksOf(tasks []roster.TaskView) map[string]work {
	all := make(map[string]work)
	for i := range tasks {
		t := &tasks[i]
		m := all[t.Workstream]
		if m.last == nil || m.last.AssignedAt.Before(t.AssignedAt.Time) {
			m.last = t
		}
		m.open = m.open || t.Open()
		m.tokens, m.cost = m.tokens+t.OutputTokens, m.cost+t.CostUSD
		all[t.Workstream] = m
	}
	return all
}

// state is that of the workstream, and between two tasks how the last one ended.
func (m work) state(w *roster.Workstream) LaneState {
	switch w.Status {
	case roster.Working:
		return LaneRunning
	case roster.Blocked:
		return LaneBlocked
	case roster.Done:
		return LaneDone
	case roster.Landed:
		return LaneLanded
	case roster.Dead:
		return LaneFailed
	case roster.Pending, roster.Started:
	}
	switch {
	case m.open || m.last == nil:
		return LanePending
	case m.last.Status == roster.TaskDone:
		return LaneDone
	}
	return LaneFailed
}

// cut is a text on one line of so many characters at most.
func cut(text string, width int) string {
	runes := []rune(roster.Flat(text))
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return string(runes)
}
