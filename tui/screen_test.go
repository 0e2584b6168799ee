package tui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

var update = flag.Bool("update", false, "write the screens anew")

var now = time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)

// run is a run with everything that a screen can show.
func run() *roster.State {
	at := func(ago time.Duration) roster.Time { return roster.Time{Time: now.Add(-ago)} }
	s := &roster.State{Now: now, Leases: roster.LeaseMap{}}
	s.Workstreams = []roster.Workstream{
		{ID: "WS01", Name: "api", Task: "add the order API", Status: roster.Working, TaskID: "WS01.2", Claims: []string{"api"}, Heartbeat: now.Unix(), Brain: "claude", Mode: "interactive", Tree: "main", Epoch: 1},
		{ID: "WS02", Name: "docs", Task: "write the docs", Status: roster.Blocked, TaskID: "", Notes: "veto: api/order.go is held by WS01", Heartbeat: now.Unix(), Brain: "codex", Mode: "interactive", Tree: "main", Epoch: 3},
		{ID: "WS03", Name: "ws03", Task: "翻訳を直す 🚢 and the rest of a long title that does not fit into any column", Status: roster.Started, Heartbeat: now.Unix(), Brain: "claude", Mode: "interactive", Tree: "main", Epoch: 1},
		{ID: "WS04", Name: "db", Task: "migrate", Status: roster.Dead, Notes: "it exited with code 1", Brain: "claude", Mode: "headless", Tree: ".claude/worktrees/shop-ws04", Epoch: 2},
		{ID: "WS05", Name: "ui", Task: "draw it", Status: roster.Blocked, Notes: "asks: the trust dialog: is this folder trusted?", Brain: "claude", Mode: "interactive", Tree: "main", Epoch: 1},
		{ID: "WS06", Name: "late", Task: "later", Status: roster.Pending, Brain: "claude", Mode: "interactive", Tree: "main"},
		{ID: "WS07", Name: "old", Task: "first of all", Status: roster.Landed, LandedSHA: "abc1234", Brain: "claude", Mode: "interactive", Tree: "main", Epoch: 1},
	}
	s.Tasks = []roster.Task{
		{ID: "WS01", Title: "add the order API", Status: roster.TaskDone, Workstream: "WS01", Pinned: true, InputTokens: 1200, OutputTokens: 340, CostUSD: 0.5},
		{ID: "WS01.2", Title: "now write the changelog", Status: roster.TaskRunning, Workstream: "WS01", Pinned: true, AssignedAt: at(75 * time.Second), Attempts: 1, MaxAttempts: 3},
		{ID: "WS02", Title: "write the docs", Status: roster.TaskPending, Workstream: "WS02", Pinned: true, BlockedOn: "api/order.go", Attempts: 1, MaxAttempts: 3},
		{ID: "WS03", Title: "翻訳を直す", Status: roster.TaskDone, Workstream: "WS03", Pinned: true},
		{ID: "WS04", Title: "migrate", Status: roster.TaskGivenUp, Workstream: "WS04", Pinned: true, ErrorKind: roster.ErrExhausted, Attempts: 3, MaxAttempts: 3},
		{ID: "T1", Title: "ship it", Status: roster.TaskPending, DependsOn: []string{"WS01", "WS01.2"}, MaxAttempts: 3},
		{ID: "T2", Title: "announce it", Status: roster.TaskPending, DependsOn: []string{"T1"}, MaxAttempts: 3},
	}
	s.Leases.Put(roster.Lease{Path: "api/order.go", WS: "WS01"})
	s.Leases.Put(roster.Lease{Path: "api/item.go", WS: "WS01"})
	return s
}

// log is what has happened in it.
func happened() []told {
	data := func(kv ...string) map[string]any {
		m := make(map[string]any)
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	events := []roster.Event{
		{Type: roster.WorkerSpawned, WS: "WS01", Data: data("epoch", "1")},
		{Type: roster.LeaseAcquired, WS: "WS01", Task: "WS01", Data: data("path", "api/order.go", "tool", "Write")},
		{Type: roster.FileChanged, WS: "WS01", Task: "WS01", Data: data("path", "api/order.go", "tool", "Write")},
		{Type: roster.LeaseDenied, WS: "WS02", Task: "WS02", Data: data("path", "api/order.go", "reason", "held", "holder", "WS01")},
		{Type: roster.TaskRequeued, WS: "WS02", Task: "WS02", Data: data("error_kind", "veto", "reason", "veto: api/order.go is held by WS01")},
		{Type: roster.TaskSucceeded, WS: "WS01", Task: "WS01"},
		{Type: roster.Notification, WS: "WS05", Data: data("kind", "dialog", "message", "the trust dialog")},
		{Type: roster.TaskFailed, WS: "WS04", Task: "WS04", Data: data("error_kind", "attempts_exhausted", "reason", "exit 1\x1b[2J")},
	}
	for i := range events {
		events[i].ID, events[i].At = int64(i+1), roster.Time{Time: now.Add(time.Duration(i-60) * time.Second)}
	}
	return said(events...)
}

func said(events ...roster.Event) (list []told) {
	for _, e := range events {
		list = append(list, say(e))
	}
	return list
}

// screenAt is a screen of that run with so much room.
func screenAt(t testing.TB, w, h int) *Screen {
	t.Helper()
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	r := lipgloss.NewRenderer(os.Stdout)
	r.SetColorProfile(termenv.Ascii)
	dir := &rundir.Dir{Path: filepath.Join(t.TempDir(), "planning", "fleet-shop")}
	s := New(&master.Fleet{Dir: dir}, nil, r, Options{Theme: "dark", Now: func() time.Time { return now }})
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.Update(loadedMsg{snap: look(run(), func(ws string) bool { return ws == "WS01" || ws == "WS02" || ws == "WS05" }), events: happened(), key: "1"})
	s.Update(backMsg("ctrl-b ctrl-b d"))
	s.Update(peekMsg{ws: "WS01", screen: "● I add a line to the changelog.\n\n❯ "})
	return s
}

// press gives keys to a screen and returns the command of the last one.
func press(s *Screen, keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		for _, special := range []tea.KeyType{tea.KeyEnter, tea.KeyEsc, tea.KeyTab, tea.KeyUp, tea.KeyDown, tea.KeyCtrlP, tea.KeyCtrlC, tea.KeyPgUp, tea.KeyPgDown} {
			if (tea.Key{Type: special}).String() == k {
				msg = tea.KeyMsg{Type: special}
			}
		}
		_, cmd = s.Update(msg)
	}
	return cmd
}

// golden compares a screen with the one in testdata. Every line of it must fit.
func golden(t *testing.T, name, got string, w, h int) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if h > 0 && len(lines) != h {
		t.Errorf("%s has %d lines, want %d", name, len(lines), h)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > w {
			t.Errorf("%s: line %d has %d columns, want at most %d: %q", name, i+1, n, w, line)
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // a test's own
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// MW-12, MW-13, MW-14, MW-15, MW-18, MW-19, MW-29, MW-31, CF-135: the whole screen, from the smallest to a large one.
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 60}} {
		s := screenAt(t, size[0], size[1])
		golden(t, fmt.Sprintf("screen_%dx%d", size[0], size[1]), s.View(), size[0], size[1])
		for _, what := range []struct{ name, key string }{{"help", "?"}, {"palette", ":"}} {
			press(s, what.key)
			golden(t, fmt.Sprintf("%s_%dx%d", what.name, size[0], size[1]), s.View(), size[0], size[1])
			press(s, "esc")
		}
	}
}

// Every panel where there is room for one, with something in focus.
func TestPanels(t *testing.T) {
	s := screenAt(t, 100, 30)
	press(s, "tab")
	golden(t, "panel_tasks", s.View(), 100, 30)
	press(s, "tab", "v")
	golden(t, "panel_log", s.View(), 100, 30)
	press(s, "tab")
	golden(t, "panel_waits", s.View(), 100, 30)
}

// No size breaks a line or makes one too many, down to nothing at all.
func TestEverySizeFits(t *testing.T) {
	s := screenAt(t, 80, 24)
	for w := 1; w <= 260; w += 7 {
		for h := 1; h <= 90; h += 4 {
			press(s, "esc")
			s.Update(tea.WindowSizeMsg{Width: w, Height: h})
			for _, k := range []string{"", "tab", "tab", "tab", "?", "esc", ":"} {
				if k != "" {
					press(s, k)
				}
				lines := strings.Split(s.View(), "\n")
				for _, line := range lines {
					if ansi.StringWidth(line) > w {
						t.Fatalf("%dx%d after %q: %q", w, h, k, line)
					}
				}
				if len(lines) > h {
					t.Fatalf("%dx%d after %q: %d lines", w, h, k, len(lines))
				}
			}
		}
	}
}

// One styled screen a theme; under NO_COLOR there is no colour at all, and the selection is seen.
func TestThemes(t *testing.T) {
	for _, theme := range []string{"dark", "light"} {
		s := screenAt(t, 80, 24)
		s.render.SetColorProfile(termenv.TrueColor)
		s.render.SetHasDarkBackground(theme == "dark")
		golden(t, "theme_"+theme, s.View(), 80, 24)
	}
	colours := func(styled string) (n int) {
		for _, code := range regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindAllStringSubmatch(styled, -1) {
			if !slices.Contains([]string{"", "0", "1", "7"}, code[1]) {
				n++
			}
		}
		return n
	}
	s := screenAt(t, 80, 24)
	t.Setenv("TERM", "screen")
	s.theme = newTheme(renderer(os.Stdout))
	if bad, wait := s.theme.bad.Render("x"), s.theme.wait.Render("x"); colours(s.View()) == 0 || bad == wait {
		t.Errorf("of sixteen colours, what is bad is %q, and what waits %q", bad, wait)
	}
	t.Setenv("NO_COLOR", "1")
	s.theme = newTheme(renderer(os.Stdout))
	plain := s.View()
	if colours(plain) != 0 || !strings.Contains(plain, "\x1b[7m● WS01") {
		t.Errorf("without colours: %q", plain)
	}
	plain = ansi.Strip(plain)
	if !strings.Contains(plain, "fleet shop") || strings.Contains(plain, "\x1b[2J") {
		t.Errorf("an event's control characters reach the terminal: %q", plain)
	}
}

// MW-16: no key means two things, every action can be reached, and the help has all.
func TestKeymap(t *testing.T) {
	s := screenAt(t, 200, 60)
	taken := make(map[string]string)
	take := func(key, what string) {
		if other, dup := taken[key]; dup {
			t.Errorf("%q means both %s and %s", key, other, what)
		}
		taken[key] = what
	}
	for _, b := range s.keys.list() {
		for _, k := range b.Keys() {
			take(k, b.Help().Desc)
		}
	}
	press(s, "?")
	help := s.View()
	press(s, "esc")
	for _, a := range s.actions {
		take(a.key, a.name)
		if ansi.StringWidth(a.help) > 80-4-3-22 {
			t.Errorf("%s: its help is cut off in the palette at 80 columns", a.name)
		}
		if a.key == "" || !strings.Contains(help, a.name+":") {
			t.Errorf("%s has no key, or is not in the help", a.name)
		}
	}
	for _, b := range s.keys.list() {
		if !strings.Contains(help, b.Help().Desc) {
			t.Errorf("%q is not in the help", b.Help().Desc)
		}
	}
}

// MW-16: the arrows select, f filters the log to the selected worker and back.
func TestSelectAndFilter(t *testing.T) {
	s := screenAt(t, 120, 40)
	press(s, "down", "f")
	if s.ws != "WS02" || s.log.ws != "WS02" {
		t.Fatalf("selected %s, log of %q", s.ws, s.log.ws)
	}
	events, _ := s.log.lines(10)
	if len(events) != 2 || events[0].Type != roster.LeaseDenied {
		t.Errorf("the log of WS02 is %v", events)
	}
	if press(s, "f"); s.log.ws != "" {
		t.Errorf("f again leaves the filter on %s", s.log.ws)
	}
	press(s, "G")
	if s.ws != "WS07" {
		t.Errorf("G selects %s", s.ws)
	}
	if press(s, "g"); s.ws != "WS01" {
		t.Errorf("g selects %s", s.ws)
	}
	press(s, "/", "d", "e", "n", "i", "e", "d", "enter")
	if events, _ := s.log.lines(10); len(events) != 1 || events[0].WS != "WS02" {
		t.Errorf("the search for denied finds %v", events)
	}
	if press(s, "esc"); s.log.query != "" {
		t.Error("esc keeps the search")
	}
}

// MW-14, MW-17: enter opens a line for the selected worker, esc leaves it, and the line is
// for the one that was selected then.
func TestInput(t *testing.T) {
	s := screenAt(t, 80, 24)
	press(s, "enter", "h", "i")
	if s.mode != typing || s.asked.id() != "WS01" || !strings.Contains(s.View(), "message for WS01: hi") {
		t.Fatalf("mode %v, screen:\n%s", s.mode, s.View())
	}
	if press(s, "esc"); s.mode != moving {
		t.Error("esc does not leave the input")
	}
	if cmd := press(s, "enter", "enter"); cmd != nil || s.mode != moving {
		t.Error("an empty line is sent")
	}
	press(s, "G", "enter")
	if s.mode != moving || !strings.Contains(s.said, "does not apply") {
		t.Errorf("a message for a worker that does not run: mode %v, said %q", s.mode, s.said)
	}
}

// What destroys something asks first, and does nothing on anything but a yes.
func TestConfirm(t *testing.T) {
	s := screenAt(t, 80, 24)
	for _, k := range []string{"n", "esc", "q", "x", "enter"} {
		press(s, "S")
		if s.mode != asking || !strings.Contains(s.View(), "stop the worker of WS01? y/n") {
			t.Fatalf("S does not ask:\n%s", s.View())
		}
		if cmd := press(s, k); cmd != nil {
			t.Errorf("%q stops the worker", k)
		}
		press(s, "esc")
	}
	press(s, "S")
	if cmd := press(s, "y"); cmd == nil || s.busy != 1 {
		t.Error("y does not stop it")
	}
}

// MW-35: a failed task can be tried again or skipped from the worker's row.
func TestFailedTaskOfWorker(t *testing.T) {
	s := screenAt(t, 120, 40)
	press(s, "down", "down", "down")
	if got := s.target(); got.ws.ID != "WS04" || got.task == nil || got.task.ID != "WS04" {
		t.Fatalf("the target is %+v", got)
	}
	names := make([]string, 0)
	for _, a := range s.found() {
		names = append(names, a.name)
	}
	for _, want := range []string{"spawn", "retry", "skip"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not offered: %v", want, names)
		}
	}
	if slices.Contains(names, "stop") || slices.Contains(names, "cancel") {
		t.Errorf("offered although it does not apply: %v", names)
	}
}

// The palette narrows by what is typed, and enter carries out the one that is marked.
func TestPalette(t *testing.T) {
	s := screenAt(t, 80, 24)
	press(s, "ctrl+p", "s", "t", "o")
	if found := s.found(); len(found) != 2 || found[0].name != "stop" {
		t.Fatalf("sto finds %d actions", len(found))
	}
	if press(s, "enter"); s.mode != asking || s.pending.name != "stop" {
		t.Errorf("enter does not begin stop: mode %v", s.mode)
	}
}

// MW-2: what needs a person is told once.
func TestNotifyOnce(t *testing.T) {
	s := screenAt(t, 80, 24)
	if s.notify() != nil {
		t.Error("the same alerts ring again")
	}
	st := run()
	st.Workstreams[2].Status, st.Workstreams[2].Notes = roster.Blocked, "blocked: which one?"
	s.snap = look(st, func(string) bool { return true })
	if s.notify() == nil {
		t.Error("a new alert does not ring")
	}
	if s.notify() != nil {
		t.Error("it rings twice")
	}
}

// A log of any length opens at its end; scrolling back asks for the page before.
func TestLogScrollsBack(t *testing.T) {
	events := func(from, to int64) (list []told) {
		for id := from; id <= to; id++ {
			list = append(list, say(roster.Event{ID: id, Type: roster.TaskSucceeded, WS: "WS01"}))
		}
		return list
	}
	l := eventLog{}
	l.add(events(9501, 10000))
	if shown, short := l.lines(20); short || shown[19].ID != 10000 {
		t.Fatalf("it opens at %d, short %v", shown[len(shown)-1].ID, short)
	}
	l.scroll(490, 20)
	if shown, short := l.lines(20); short || shown[0].ID != 9501 {
		t.Errorf("the first one shown is %d, short %v", shown[0].ID, short)
	}
	l.ws = "WS02"
	if _, short := l.lines(20); !short {
		t.Error("a filter that nothing matches asks for no older page")
	}
	l.ws = ""
	l.addOlder(pageMsg{events: events(9001, 9500), from: 9000})
	if l.first() != 9001 || l.full {
		t.Errorf("after a page it begins at %d, full %v", l.first(), l.full)
	}
	back := l.back
	l.add(events(10001, 10003))
	if l.back != back+3 {
		t.Error("what somebody reads moves as events come")
	}
	l.addOlder(pageMsg{events: events(1, 9000), from: 0})
	if !l.full {
		t.Error("the first event of all does not end it")
	}
}

// A reading that fails is said, and what stands on the screen stays. Where there is nothing yet, there is room for all of it.
func TestLoadError(t *testing.T) {
	s := screenAt(t, 120, 40)
	s.Update(loadedMsg{err: rundir.ErrBusy})
	if view := s.View(); !strings.Contains(view, "not up to date: the run dir is locked") || !strings.Contains(view, "WS01") {
		t.Errorf("the screen says:\n%s", view)
	}
	s.snap, s.loadErr = nil, errors.New(strings.Repeat("long ", 30)+"end")
	for line := range strings.SplitSeq(s.View(), "\n") {
		if ansi.StringWidth(line) > 120 {
			t.Errorf("a line is cut: %q", line)
		}
	}
	if !strings.Contains(s.View(), "end") {
		t.Errorf("the screen says:\n%s", s.View())
	}
}

// The line that is typed: cursor, deletions, a paste of several lines, and more than fits.
func TestLine(t *testing.T) {
	s := screenAt(t, 80, 24)
	keys := func(k ...tea.KeyType) {
		for _, key := range k {
			s.input.key(tea.KeyMsg{Type: key})
		}
	}
	is := func(want string, at int) {
		t.Helper()
		if s.input.value() != want || s.input.at != at {
			t.Errorf("the line is %q with the cursor at %d, want %q and %d", s.input.value(), s.input.at, want, at)
		}
	}
	s.input.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("one two\nthrée"), Paste: true})
	is("one two thrée", 13)
	keys(tea.KeyBackspace, tea.KeyLeft, tea.KeyDelete)
	is("one two thr", 11)
	keys(tea.KeyCtrlW, tea.KeyCtrlW)
	is("one ", 4)
	keys(tea.KeyHome, tea.KeyRight, tea.KeyRight, tea.KeyCtrlK)
	is("on", 2)
	keys(tea.KeyCtrlU, tea.KeyBackspace, tea.KeyLeft)
	is("", 0)
	s.input.set(strings.Repeat("翻", 100))
	if got := s.typed(20); ansi.StringWidth(got) > 20 || !strings.HasPrefix(got, "…") {
		t.Errorf("a long line is shown as %q", got)
	}
}

// However often a worker is looked at, one further look is planned, not one for each.
func TestPeeksDoNotPileUp(t *testing.T) {
	s := screenAt(t, 120, 40)
	s.peekPlanned, s.peeking = false, false
	if s.peekLater() == nil || s.peekLater() != nil {
		t.Error("a second look is planned beside the first")
	}
	s.Update(peekAgain{})
	if !s.peeking || s.peekPlanned {
		t.Error("the planned look is not taken")
	}
}

// What is under way is not left half-way by one key.
func TestLeaveTwiceWhileBusy(t *testing.T) {
	s := screenAt(t, 80, 24)
	s.busy = 1
	if press(s, "q") != nil || !strings.Contains(s.View(), "q again leaves it") {
		t.Error("one q leaves an action half-way")
	}
	if press(s, "q") == nil {
		t.Error("a second one does not leave")
	}
}

// A log that a filter thins out keeps what it shows.
func TestLogTrim(t *testing.T) {
	l := eventLog{ws: "WS02"}
	events := []roster.Event{{ID: 1, Type: roster.TaskSucceeded, WS: "WS02"}}
	for id := int64(2); id <= logMost+2; id++ {
		events = append(events, roster.Event{ID: id, Type: roster.TaskSucceeded, WS: "WS01"})
	}
	l.add(said(events...))
	if l.trim(1); l.first() != 1 {
		t.Errorf("the only line that it shows is gone: it begins at %d", l.first())
	}
	l.ws = ""
	if l.trim(10); l.first() != int64(logMost/2+3) {
		t.Errorf("it begins at %d", l.first())
	}
}

// A run whose files can't be watched is shown as degraded for as long as it is.
func TestDegradedIsSaid(t *testing.T) {
	s := screenAt(t, 80, 24)
	if strings.Contains(s.View(), "degraded") {
		t.Error("degraded, with nothing wrong")
	}
	s.degraded = errors.New("no space")
	s.Update(saidMsg{text: "done"})
	if header, _, _ := strings.Cut(s.View(), "\n"); !strings.HasSuffix(header, "degraded  15:04") {
		t.Errorf("the header is %q", header)
	}
}

// Help that does not fit scrolls, and nothing of it is cut off.
func TestHelpScrolls(t *testing.T) {
	s := screenAt(t, 60, 15)
	press(s, "?")
	seen := ""
	for range len(s.actions) + len(s.keys.list()) {
		seen += strings.Join(strings.Fields(strings.NewReplacer("│", "", "…", "CUT").Replace(s.View())), " ")
		press(s, "down")
	}
	for _, a := range s.actions {
		if !strings.Contains(seen, a.name+": "+a.help) {
			t.Errorf("no %q in the help", a.help)
		}
	}
	press(s, "up", "pgup", "pgdown")
	if s.mode != helping || strings.Contains(seen, "CUT") {
		t.Errorf("scrolling leaves the help, or something is cut off")
	}
	if press(s, "esc"); s.mode != moving {
		t.Error("another key does not leave it")
	}
}

// The pager gets the whole text. less is told to stay, unless the person says something else.
func TestPager(t *testing.T) {
	t.Setenv("PAGER", "")
	if program := pager("").Args[2]; program != "less -R" {
		t.Errorf("without PAGER it is %q", program)
	}
	t.Setenv("PAGER", `printf '%s ' "$LESS"; cat`)
	t.Setenv("LESS", "FRX")
	shows := func(want string) {
		t.Helper()
		if got, err := pager("the text").Output(); err != nil || string(got) != want {
			t.Errorf("it is given %q, %v, want %q", got, err, want)
		}
	}
	shows("FRX the text")
	if err := os.Unsetenv("LESS"); err != nil {
		t.Fatal(err)
	}
	shows("R the text")
}

// A program that can't be started is named.
func TestProgramFails(t *testing.T) {
	s := screenAt(t, 120, 40)
	s.Update(programEnded(exec.Command("no-such-editor", "file"), exec.ErrNotFound))
	if !strings.Contains(s.View(), "no-such-editor file: executable file not found") {
		t.Errorf("the screen says %q", s.said)
	}
}

// A larger terminal has room for what nobody has asked for yet: the pane, and older lines of the log.
func TestLargerTerminal(t *testing.T) {
	s := screenAt(t, 80, 24)
	s.peeking, s.log.full = false, false
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if s.peeking {
		t.Error("it looks at a pane that it has no room for")
	}
	s.log.paging = false
	if _, cmd := s.Update(tea.WindowSizeMsg{Width: 140, Height: 45}); cmd == nil || !s.peeking || !s.log.paging {
		t.Errorf("the pane is asked for: %v, the log: %v", s.peeking, s.log.paging)
	}
}

// A line that is asked for says for whom it is, and the legend what enter does with it.
func TestPrompts(t *testing.T) {
	s := screenAt(t, 80, 24)
	press(s, "down")
	for k, want := range map[string]string{
		"m": "message for WS02: ",
		"a": "task for WS02: ",
		"A": "task for whoever is idle: ",
		"n": "first task of the new worker: ",
		"b": "what WS02 waits for: ",
		"u": "what to tell WS02: ",
		"/": "search: ",
	} {
		press(s, k)
		lines := strings.Split(s.View(), "\n")
		legend := "enter does it · esc leaves it"
		if k == "/" {
			legend = "enter searches · esc leaves it"
		}
		if got := lines[len(lines)-2]; strings.TrimRight(got, " ") != strings.TrimSpace(want) {
			t.Errorf("%s asks %q, want %q", k, got, want)
		}
		if got := lines[len(lines)-1]; got != legend {
			t.Errorf("%s: the legend is %q", k, got)
		}
		press(s, "esc")
	}
}

// The keys that come back from a pane depend on where the screen runs; they are asked for where they are shown.
func TestBackKeys(t *testing.T) {
	s := screenAt(t, 80, 24)
	s.Update(backMsg(""))
	for _, k := range []string{"?", ":"} {
		if cmd := press(s, k); cmd == nil || strings.Contains(s.View(), "comes back") {
			t.Errorf("%s asks for no keys, or makes them up:\n%s", k, s.View())
		}
		s.Update(backMsg("ctrl-a d"))
		if !strings.Contains(s.View(), "its pane, whole; ctrl-a d comes back") {
			t.Errorf("%s:\n%s", k, s.View())
		}
		s.Update(backMsg(""))
		press(s, "esc")
	}
}

// A terminal that is too small says so in full, as long as it has room for a few words.
func TestTooSmall(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {20, 5}} {
		s := screenAt(t, size[0], size[1])
		want := fmt.Sprintf("fleet needs 60 columns and 15 lines, and has %d and %d", size[0], size[1])
		if got := strings.Join(strings.Fields(s.View()), " "); got != want {
			t.Errorf("%v: it says %q", size, got)
		}
	}
}

// One is not several.
func TestOneOfAKind(t *testing.T) {
	s := screenAt(t, 200, 40)
	s.log.back = 1
	s.snap.leases = 1
	if view := s.View(); !strings.Contains(view, "log, 1 line back ") || !strings.Contains(view, "1 waits for a file · 1 file held ") {
		t.Errorf("the screen says:\n%s", view)
	}
}
