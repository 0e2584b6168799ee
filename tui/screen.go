package tui

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"fleet/internal/master"
	"fleet/roster"
)

// mode says who gets the keys.
type mode int

const (
	moving  mode = iota // the screen itself
	typing              // the input line, for an action or a search
	asking              // yes or no
	picking             // the palette
	helping             // the help
)

// focus is the panel that the arrows move in.
type focus int

const (
	onWorkers focus = iota
	onTasks
	onLog
	onWaits
	panels
)

// Options say how a screen begins.
type Options struct {
	Start bool   // start the workers that are missing
	Theme string // "light" or "dark"; empty is what the terminal says
	Mouse bool   // a click selects, the wheel scrolls; selecting text needs shift then
	Now   func() time.Time
}

// Screen is the master screen of one run, a tea.Model.
type Screen struct {
	f       *master.Fleet
	o       Options
	wake    <-chan struct{}
	render  *lipgloss.Renderer
	theme   theme
	keys    keyMap
	actions []action

	width, height int
	snap          *snapshot
	loadedKey     string
	loading       bool // a load is under way
	stale         bool // something changed since it began
	loadErr       error
	degraded      error // why files are not watched
	log           eventLog
	seenAlerts    map[roster.Alert]bool
	peeked        peekMsg
	peeking       bool
	peekPlanned   bool

	mode    mode
	focus   focus
	ws      string // selected
	task    string // selected
	top     [panels]int
	input   line
	pending *action // that asks, or is being typed for
	asked   target  // what it is about, whatever is selected by then
	pick    int     // in the palette; the first line of the help
	said    string  // the last word of an action
	saidBad bool
	busy    int  // actions under way
	leaving bool // although one is
}

// New makes the screen of a run. wake has a value when the run may have changed.
func New(f *master.Fleet, wake <-chan struct{}, r *lipgloss.Renderer, o Options) *Screen {
	if o.Theme != "" {
		r.SetHasDarkBackground(o.Theme == "dark")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{f: f, o: o, wake: wake, render: r, theme: newTheme(r, true), keys: newKeyMap(), actions: actions(), width: 80, height: 24}
	s.log.quiet = true
	return s
}

// framesPerSecond bounds how often the screen is drawn, and how long a key waits for
// its frame; the library wakes up as often while nothing happens.
const framesPerSecond = 33

// Run shows the screen of a run in this terminal until it is left.
func Run(ctx context.Context, f *master.Fleet, o Options) error {
	wake, stop, degraded := f.Dir.Watch("live")
	defer stop()
	// One processor does: with more, each tick of the renderer's clock wakes a second thread to look for work.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, colours := renderer(os.Stdout)
	s := New(f, wake, r, o)
	s.theme = newTheme(r, colours)
	s.degraded = degraded
	s.fault(degraded)
	how := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(framesPerSecond)}
	if o.Mouse {
		how = append(how, tea.WithMouseCellMotion())
	}
	_, err := tea.NewProgram(s, how...).Run()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Init begins to read, to listen, and, where it was asked for, to start workers.
func (s *Screen) Init() tea.Cmd {
	s.loading = true
	cmds := []tea.Cmd{load(s.f, "", -1), s.awaitChange(), s.clock(), tick(s.f, 0)}
	if s.o.Start {
		cmds = append(cmds, s.begin(s.named("start all"), target{}, ""))
	}
	return tea.Batch(cmds...)
}

// clock redraws what the time changes: each second while a time at work is shown.
func (s *Screen) clock() tea.Cmd {
	every := 10 * time.Second
	if s.snap == nil || slices.ContainsFunc(s.snap.rows, func(r row) bool { return r.elapses() }) {
		every = time.Second
	}
	return tea.Tick(every, func(t time.Time) tea.Msg { return clockMsg(t) })
}

// tickEvery is how often the scheduler is asked to look although nothing has changed.
const tickEvery = 10 * time.Second

type tickedMsg struct{ err error }

// tick lets the scheduler look at the run.
func tick(f *master.Fleet, after time.Duration) tea.Cmd {
	return tea.Tick(after, func(time.Time) tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		return tickedMsg{f.Tick(ctx, func(roster.Decision) {})}
	})
}

// Update takes one message. It reads no file and runs no program: those are commands.
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		return s, tea.Batch(s.peek(), s.fillLog()) // there may be room now that wasn't
	case tea.KeyMsg:
		return s, s.key(m)
	case tea.MouseMsg:
		return s, s.mouse(m)
	case changedMsg:
		return s, tea.Batch(s.awaitChange(), s.reload())
	case reloadMsg:
		s.loading = false
		return s, s.reload()
	case loadedMsg:
		return s, s.loaded(m)
	case pageMsg:
		s.log.addOlder(m)
		return s, s.fillLog()
	case peekMsg:
		s.peeking, s.peeked = false, m
		return s, s.peekLater()
	case peekAgain:
		s.peekPlanned = false
		return s, s.peek()
	case tickedMsg:
		s.fault(m.err)
		return s, tick(s.f, tickEvery)
	case backMsg:
		s.named("open").help = openHelp(string(m))
	case clockMsg:
		return s, s.clock()
	case openMsg:
		return s, giveTerminal(m.cmd)
	case saidMsg:
		s.ended(m)
		return s, s.reload()
	}
	return s, nil
}

// reload reads the run again, one reading at a time and not more often than the eye can follow.
func (s *Screen) reload() tea.Cmd {
	if s.loading {
		s.stale = true
		return nil
	}
	s.loading, s.stale = true, false
	after := s.log.last()
	if s.snap == nil {
		after = -1
	}
	return load(s.f, s.loadedKey, after)
}

func (s *Screen) loaded(m loadedMsg) tea.Cmd {
	s.loadErr = m.err
	var cmds []tea.Cmd
	if m.err == nil {
		s.log.add(m.events)
		s.log.trim(s.layout().log.h - 2)
		if m.snap != nil {
			s.snap, s.loadedKey = m.snap, m.key
			cmds = append(cmds, s.notify(), s.settle())
		}
		cmds = append(cmds, s.fillLog())
	}
	if s.stale {
		return tea.Batch(append(cmds, tea.Tick(reloadAfter, func(time.Time) tea.Msg { return reloadMsg{} }))...)
	}
	s.loading = false
	return tea.Batch(cmds...)
}

// settle keeps the selection on what is there, and looks at it.
func (s *Screen) settle() tea.Cmd {
	if s.row(s.ws) == nil {
		s.ws = ""
		if len(s.snap.rows) > 0 {
			s.ws = s.snap.rows[0].ID
		}
	}
	if s.taskView(s.task) == nil {
		s.task = ""
		if len(s.snap.tasks) > 0 {
			s.task = s.snap.tasks[0].ID
		}
	}
	return s.peek()
}

// peek looks at the selected worker from near, where there is room to show it.
func (s *Screen) peek() tea.Cmd {
	r := s.row(s.ws)
	if s.peeking || r == nil || !s.layout().detail {
		return nil
	}
	s.peeking = true
	return peek(s.f, r.ID, r.TaskID)
}

// peekLater looks again after a while, soon if the worker is at work.
func (s *Screen) peekLater() tea.Cmd {
	r := s.row(s.ws)
	if r == nil || !r.alive || s.peekPlanned || !s.layout().detail {
		return nil
	}
	s.peekPlanned = true
	after := 10 * time.Second
	if r.Status == roster.Working {
		after = time.Second
	}
	if s.peeked.ws != s.ws {
		after = 0
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return peekAgain{} })
}

// fillLog reads older events while the log has room for more than it shows.
func (s *Screen) fillLog() tea.Cmd {
	_, short := s.log.lines(s.layout().log.h - 2)
	if !short || s.log.paging || len(s.log.events) == 0 || len(s.log.events) > logDeepest {
		return nil
	}
	s.log.paging = true
	return page(s.f, s.log.first())
}

// notify rings once for each thing that has come to need a person.
func (s *Screen) notify() tea.Cmd {
	first := s.seenAlerts == nil
	seen := make(map[roster.Alert]bool)
	var fresh []string
	for _, a := range s.snap.alerts {
		a.Task = ""
		seen[a] = true
		if !s.seenAlerts[a] && a.Kind != roster.AlertVeto {
			fresh = append(fresh, alertText(a))
		}
	}
	s.seenAlerts = seen
	if first || len(fresh) == 0 {
		return nil
	}
	return ring(s.f.Dir.Config.Notify, strings.Join(fresh, "; "))
}

func (s *Screen) fault(err error) {
	if err != nil {
		s.said, s.saidBad = short(err), true
	}
}

// short is an error as one line with its hint.
func short(err error) string { return strings.TrimSpace(roster.Flat(err.Error())) }

// ended tells what became of an action.
func (s *Screen) ended(m saidMsg) {
	s.busy, s.leaving = max(0, s.busy-1), false
	s.said, s.saidBad = m.text, false
	s.fault(m.err)
}

func (s *Screen) row(ws string) *row {
	if s.snap != nil {
		for i := range s.snap.rows {
			if s.snap.rows[i].ID == ws {
				return &s.snap.rows[i]
			}
		}
	}
	return nil
}

func (s *Screen) taskView(id string) *roster.TaskView {
	if s.snap != nil {
		for i := range s.snap.tasks {
			if s.snap.tasks[i].ID == id {
				return &s.snap.tasks[i]
			}
		}
	}
	return nil
}

// target is what an action would be about now.
func (s *Screen) target() target {
	t := target{ws: s.row(s.ws)}
	switch {
	case s.focus == onTasks:
		t.task = s.taskView(s.task)
		if t.task != nil && s.row(t.task.Workstream) != nil {
			t.ws = s.row(t.task.Workstream)
		}
	case t.ws != nil && t.ws.TaskID != "":
		t.task = s.taskView(t.ws.TaskID)
	case t.ws != nil:
		t.task = s.taskView(t.ws.failedTask)
	}
	return t
}

func (s *Screen) named(name string) *action {
	for i := range s.actions {
		if s.actions[i].name == name {
			return &s.actions[i]
		}
	}
	return nil
}

func (s *Screen) begin(a *action, t target, text string) tea.Cmd {
	s.busy++
	s.said, s.saidBad = a.name+" …", false
	return a.do(s.f, t, text)
}
