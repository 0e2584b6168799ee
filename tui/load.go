package tui

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"fleet/internal/master"
	"fleet/roster"
)

// snapshot is what the screen shows of a run, as it stood at one moment.
type snapshot struct {
	rows    []row
	tasks   []roster.TaskView
	waits   []roster.Wait
	alerts  []roster.Alert
	leases  int
	costUSD float64
}

// row is a workstream with what is derived about it.
type row struct {
	roster.Workstream
	alive          bool
	over, all      int // of its tasks
	since          time.Time
	held           []string
	waitsFor       string
	inTok, outTok  int64
	costUSD        float64
	failedTask     string // the last that has used up its attempts
	attemptOf, try int    // of the task in hand
}

// elapses reports whether it is shown how long the task in hand takes.
func (r *row) elapses() bool { return r.Status == roster.Working && !r.since.IsZero() }

// The messages by which the world reaches Update.
type (
	changedMsg struct{} // something in the run dir may have changed
	loadedMsg  struct {
		snap   *snapshot // nil: nothing but the log has changed
		events []told
		key    string // of the files that were read
		err    error
	}
	pageMsg struct { // older events
		events []told
		from   int64
		err    error
	}
	peekMsg struct { // the selected worker from near
		ws, brief, screen string
		err               error
	}
	saidMsg struct { // an action has ended
		text string
		err  error
	}
	backMsg   string // the keys that come back from a pane
	clockMsg  time.Time
	reloadMsg struct{}
	peekAgain struct{}
)

const (
	loadTimeout = 5 * time.Second
	pageSize    = 500
	logMost     = 4 * pageSize   // events kept while the log follows
	logDeepest  = 100 * pageSize // events to look through for what a filter lets by
	reloadAfter = 100 * time.Millisecond
)

// awaitChange waits for the next sign of a change in the run dir. One that turns out
// to be false is not worth a frame.
func (s *Screen) awaitChange() tea.Cmd {
	key, last := s.loadedKey, s.log.last()
	return func() tea.Msg {
		for range s.wake {
			if now, err := s.f.Dir.LastEvent(); err != nil || now != last || version(s.f) != key {
				break
			}
		}
		return changedMsg{}
	}
}

// version changes with what a snapshot shows; ages are shown in minutes.
func version(f *master.Fleet) string { return f.Dir.Version() + time.Now().Format("15:04") }

// load reads the run: its tables where they differ from those of key, and the events after an id.
func load(f *master.Fleet, key string, after int64) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		m := loadedMsg{key: version(f)}
		last, err := f.Dir.LastEvent()
		if after < 0 {
			after = max(0, last-pageSize)
		}
		if err == nil && last > after {
			m.events, err = eventsUpTo(f, after, 1<<62)
		}
		if m.err = err; err != nil {
			return m
		}
		if len(m.events) == 0 && m.key == key {
			return m
		}
		m.err = f.Dir.View(ctx, func(s *roster.State) error {
			m.snap = look(s, f.Dir.Alive)
			return nil
		})
		return m
	}
}

// eventsUpTo are the events after one id and before another.
func eventsUpTo(f *master.Fleet, after, before int64) (events []told, err error) {
	for e, err := range f.Dir.Events(after) {
		if err != nil {
			return events, err
		}
		if e.ID >= before {
			break
		}
		events = append(events, say(e))
	}
	return events, nil
}

// page reads the events that came before one.
func page(f *master.Fleet, before int64) tea.Cmd {
	return func() tea.Msg {
		from := max(0, before-1-pageSize)
		events, err := eventsUpTo(f, from, before)
		return pageMsg{events: events, from: from, err: err}
	}
}

// peek looks at one worker from near: at its brief and at its pane.
func peek(f *master.Fleet, ws, task string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		m := peekMsg{ws: ws}
		if task == "" {
			task = ws
		}
		brief, err := os.ReadFile(f.Dir.Brief(task)) //nolint:gosec // a path of the run dir's own
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			m.err = err
		}
		m.brief = string(brief[:min(len(brief), 4096)])
		if f.Dir.Alive(ws) {
			var text string
			text, m.err = f.Screen(ctx, ws)
			m.screen = ansi.Strip(text)
		}
		return m
	}
}

// backKeys asks by which keys one comes back from a pane.
func backKeys(f *master.Fleet) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		return backMsg(f.BackKeys(ctx))
	}
}

// look makes a snapshot of a run.
func look(s *roster.State, alive func(ws string) bool) *snapshot {
	snap := &snapshot{tasks: s.TaskViews(), waits: s.Waits(), alerts: s.Alerts()}
	at := make(map[string]int)
	for i, w := range s.Workstreams {
		w.Claims = slices.Clone(w.Claims)
		at[w.ID] = i
		snap.rows = append(snap.rows, row{Workstream: w, alive: alive(w.ID)})
	}
	for l := range s.Leases.All() {
		snap.leases++
		if i, ok := at[l.WS]; ok {
			snap.rows[i].held = append(snap.rows[i].held, l.Path)
		}
	}
	for i := range snap.tasks {
		t := &snap.tasks[i].Task
		snap.costUSD += t.CostUSD
		if i, ok := at[t.Workstream]; ok {
			snap.rows[i].count(t)
		}
	}
	for _, w := range snap.waits {
		if i, ok := at[w.WS]; ok && snap.rows[i].waitsFor == "" {
			snap.rows[i].waitsFor = waitText(w)
		}
	}
	return snap
}

// count adds a task of the workstream's to what is shown of it.
func (r *row) count(t *roster.Task) {
	r.all++
	if t.Terminal() {
		r.over++
	}
	r.inTok, r.outTok, r.costUSD = r.inTok+t.InputTokens, r.outTok+t.OutputTokens, r.costUSD+t.CostUSD
	if t.ID == r.TaskID {
		r.since, r.try, r.attemptOf = t.AssignedAt.Time, t.Attempts, t.MaxAttempts
	}
	if t.Status == roster.TaskGivenUp {
		r.failedTask = t.ID
	}
}

func waitText(w roster.Wait) string {
	if w.On == "" {
		return w.For
	}
	return w.For + " of " + w.On
}
