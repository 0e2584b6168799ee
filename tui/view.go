package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fleet/roster"
)

// View draws the screen.
func (s *Screen) View() string {
	l := s.layout()
	switch {
	case l.small:
		return s.wrapped(fmt.Sprintf("fleet needs %d columns and %d lines, and has %d and %d", minWidth, minHeight, s.width, s.height))
	case s.snap == nil && s.loadErr != nil:
		return s.theme.bad.Render(s.wrapped("fleet: " + short(s.loadErr)))
	case s.snap == nil:
		return "…"
	case s.mode == helping:
		return s.overlay("keys", s.helpLines())
	case s.mode == picking:
		return s.overlay("actions on "+s.about(), s.paletteLines())
	}
	lines := append([]string{s.header()}, s.alertLines(l.alerts)...)
	workers := s.panel("workers", s.focus == onWorkers, s.workerLines(l.workers.h-2, l.workers.w-4), l.workers)
	if l.detail {
		workers = beside(workers, s.panel(s.detailTitle(), false, s.detailLines(l.side.h-2, l.side.w-4), l.side))
		tasks, tasksTitle := s.taskLines(l.bottom.h-2, l.bottom.w-4), s.tasksTitle()
		if s.focus == onWaits {
			tasks, tasksTitle = s.waitLines(l.bottom.h-2, l.bottom.w-4), s.waitsTitle()
		}
		log := s.panel(s.logTitle(), s.focus == onLog, s.logLines(l.log.h-2, l.log.w-4), l.log)
		lines = append(append(lines, workers...), beside(log, s.panel(tasksTitle, s.focus == onTasks || s.focus == onWaits, tasks, l.bottom))...)
	} else {
		lower, title := s.lower(l)
		lines = append(append(lines, workers...), s.panel(title, s.focus != onWorkers, lower, l.log)...)
	}
	return strings.Join(append(lines, s.inputLine(), s.legend()), "\n")
}

// wrapped is a text in as many lines as it needs and the terminal has.
func (s *Screen) wrapped(text string) string {
	lines := strings.Split(ansi.Wrap(text, s.width, ""), "\n")
	return strings.Join(lines[:min(len(lines), s.height)], "\n")
}

// lower is what the one panel below the workers shows where there is room for one.
func (s *Screen) lower(l layout) (lines []string, title string) {
	h, w := l.log.h-2, l.log.w-4
	switch s.focus {
	case onTasks:
		return s.taskLines(h, w), s.tasksTitle()
	case onWaits:
		return s.waitLines(h, w), s.waitsTitle()
	case onWorkers, onLog, panels:
	}
	return s.logLines(h, w), s.logTitle()
}

func (s *Screen) header() string {
	count := make(map[string]int)
	for i := range s.snap.rows {
		count[s.theme.face(&s.snap.rows[i]).word]++
	}
	done, failed, contested := 0, 0, 0
	for _, t := range s.snap.tasks {
		switch {
		case t.Status == roster.TaskDone:
			done++
		case t.Status == roster.TaskGivenUp:
			failed++
		case t.Open() && t.BlockedOn != "":
			contested++
		}
	}
	parts := []string{s.theme.title.Render("fleet " + s.f.Dir.Slug())}
	for _, word := range []string{"running", "waiting", "blocked", "dead", "idle"} {
		if count[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[word], word))
		}
	}
	parts = append(parts, fmt.Sprintf("%d/%d tasks", done, len(s.snap.tasks)))
	if failed > 0 {
		parts = append(parts, s.theme.bad.Render(fmt.Sprintf("%d failed", failed)))
	}
	if contested > 0 {
		wait := " wait for a file"
		if contested == 1 {
			wait = " waits for a file"
		}
		parts = append(parts, s.theme.wait.Render(strconv.Itoa(contested)+wait))
	}
	parts = append(parts, roster.Several(s.snap.leases, "file")+" held")
	if s.snap.costUSD > 0 {
		parts = append(parts, fmt.Sprintf("%.2f USD", s.snap.costUSD))
	}
	right := s.o.Now().Format("15:04")
	if s.degraded != nil {
		right = s.theme.wait.Render("degraded") + "  " + right
	}
	if s.loadErr != nil {
		right = s.theme.bad.Render("not up to date: "+short(s.loadErr)) + "  " + right
	}
	return justify(strings.Join(parts, s.theme.dim.Render(" · ")), right, s.width)
}

func (s *Screen) alertLines(n int) []string {
	var lines []string
	for i, a := range s.snap.alerts[:n] {
		line := s.theme.bad.Render("! ") + s.theme.strong.Render(a.Kind) + "  " + roster.Flat(alertText(a))
		if more := len(s.snap.alerts) - n; i == n-1 && more > 0 {
			line += s.theme.dim.Render(fmt.Sprintf("  and %d more", more))
		}
		lines = append(lines, cell(line, s.width))
	}
	return lines
}

// workerLines is the table of workers, around the selected one.
func (s *Screen) workerLines(h, w int) []string {
	at := 0
	for i := range s.snap.rows {
		if s.snap.rows[i].ID == s.ws {
			at = i
		}
	}
	s.top[onWorkers] = window(s.top[onWorkers], at, h, len(s.snap.rows))
	var lines []string
	for i := s.top[onWorkers]; i < len(s.snap.rows) && len(lines) < h; i++ {
		lines = append(lines, s.workerLine(&s.snap.rows[i], w))
	}
	if len(lines) == 0 {
		lines = append(lines, s.theme.dim.Render("no workers yet: n adds one"))
	}
	return lines
}

func (s *Screen) workerLine(r *row, w int) string {
	f := s.theme.face(r)
	elapsed := ""
	if r.elapses() {
		elapsed = clockText(s.o.Now().Sub(r.since))
	}
	what := r.Task
	if t := s.taskView(r.TaskID); t != nil {
		what = t.Title
	}
	switch {
	case r.Status == roster.Blocked || r.Status == roster.Dead:
		what = r.Notes
	case r.waitsFor != "" && r.TaskID == "":
		what = "waits for " + r.waitsFor
	case r.all > 0 && r.over == r.all && r.Status == roster.Started:
		what = "(no pending tasks)"
	}
	name := r.ID
	if r.Name != strings.ToLower(r.ID) {
		name += " " + r.Name
	}
	nameW := min(18, max(8, w/6))
	count := cell(fmt.Sprintf("%d/%d", r.over, r.all), 6)
	what = roster.Flat(what)
	if n := len(r.held); n > 0 && w >= 60 {
		held := fmt.Sprintf(" %d held", n)
		what = cell(what, w-nameW-26-len(held)) + held
	}
	if what = cell(what, w-nameW-26); r.ID == s.ws {
		return s.theme.selected.Render(f.icon + " " + cell(name, nameW) + " " + cell(f.word, 8) + count + cell(elapsed, 9) + what)
	}
	return f.style.Render(f.icon) + " " + cell(name, nameW) + " " + f.style.Render(cell(f.word, 8)) + count + s.theme.dim.Render(cell(elapsed, 9)) + what
}

func (s *Screen) logTitle() string {
	title := "log"
	if s.log.ws != "" {
		title += " of " + s.log.ws
	}
	if s.log.query != "" {
		title += fmt.Sprintf(" with %q", s.log.query)
	}
	if !s.log.quiet {
		title += ", every detail"
	}
	if s.log.back > 0 {
		title += ", " + roster.Several(s.log.back, "line") + " back"
	}
	return title
}

func (s *Screen) logLines(h, w int) []string {
	events, _ := s.log.lines(h)
	lines := make([]string, len(events))
	for i, e := range events {
		what := e.what
		head := s.theme.dim.Render(e.At.Local().Format("15:04:05")) + " " + cell(e.WS, 6)
		if e.Task != "" && e.Task != e.WS {
			what = e.Task + " " + what
		}
		lines[i] = head + s.theme.tone(e.tone).Render(ansi.Truncate(what, max(0, w-15), "…"))
	}
	if len(lines) == 0 {
		lines = append(lines, s.theme.dim.Render("nothing to tell"))
	}
	return lines
}

func (s *Screen) tasksTitle() string { return fmt.Sprintf("tasks %d", len(s.snap.tasks)) }
func (s *Screen) waitsTitle() string { return fmt.Sprintf("who waits for whom %d", len(s.snap.waits)) }

// waitLines says who waits for whom.
func (s *Screen) waitLines(h, w int) []string {
	var lines []string
	for _, wait := range s.snap.waits[min(s.top[onWaits], len(s.snap.waits)):] {
		who := strings.TrimSpace(wait.WS + " " + wait.Task)
		if wait.WS == wait.Task {
			who = wait.WS
		}
		on := ""
		if wait.On != "" {
			on = " ← " + wait.On
		}
		lines = append(lines, cell(s.theme.wait.Render(who)+" waits for "+roster.Flat(wait.For)+s.theme.strong.Render(on), w))
	}
	if len(lines) == 0 {
		lines = append(lines, s.theme.dim.Render("nobody waits for anybody"))
	}
	return lines[:min(h, len(lines))]
}

// about names what the next action is about.
func (s *Screen) about() string {
	t := s.target()
	switch {
	case t.ws == nil && t.task == nil:
		return "the run"
	case t.ws == nil:
		return t.task.ID
	case t.task != nil && t.task.ID != t.ws.ID:
		return t.ws.ID + ", " + t.task.ID
	}
	return t.ws.ID
}

func (s *Screen) inputLine() string {
	switch {
	case s.mode == typing && s.pending == nil:
		return cell(s.theme.lit.Render("search: ")+s.typed(s.width-8), s.width)
	case s.mode == typing:
		ask := s.pending.ask
		if s.asked.ws != nil {
			ask = strings.ReplaceAll(ask, "%s", s.asked.id())
		}
		return cell(s.theme.lit.Render(ask+": ")+s.typed(s.width-2-ansi.StringWidth(ask)), s.width)
	case s.mode == asking:
		return cell(s.theme.wait.Render(s.pending.confirm(s.asked)+" ")+s.theme.strong.Render("y/n"), s.width)
	case s.saidBad:
		return cell(s.theme.bad.Render(s.said), s.width)
	}
	return cell(s.theme.dim.Render(s.said), s.width)
}

// legend names the keys that mean something now, as many as fit.
func (s *Screen) legend() string {
	switch {
	case s.mode == typing && s.pending == nil:
		return s.theme.dim.Render("enter searches · esc leaves it")
	case s.mode == typing:
		return s.theme.dim.Render("enter does it · esc leaves it")
	case s.mode == asking:
		return s.theme.dim.Render("y does it · n leaves it")
	}
	words := []string{"? keys", ": actions", "q leave"}
	t := s.target()
	for i := range s.actions {
		if a := &s.actions[i]; a.can(t) {
			words = append(words, a.key+" "+a.name)
		}
	}
	line := words[0]
	for _, word := range words[1:] {
		if ansi.StringWidth(line)+3+ansi.StringWidth(word) > s.width {
			break
		}
		line += " · " + word
	}
	return s.theme.dim.Render(line)
}

// overlay is a panel that stands instead of the screen, with its input line and legend.
func (s *Screen) overlay(title string, lines []string) string {
	b := box{0, s.width, s.height - 1}
	foot := s.theme.dim.Render("↑ ↓ scrolls · any other key goes back")
	if s.mode == picking {
		foot = s.theme.dim.Render("↑ ↓ enter · esc goes back")
	}
	return strings.Join(append(s.panel(title, true, lines, b), foot), "\n")
}

// helpLines are all keys, side by side where they fit, else as a list that scrolls.
func (s *Screen) helpLines() []string {
	h, w, widest := s.height-3, s.width-4, 0
	var lines, list []string
	entry := func(key, text string) {
		line := s.theme.lit.Render(cell(key, 7)) + text
		widest = max(widest, ansi.StringWidth(line))
		lines = append(lines, line)
		list = append(list, strings.Split(ansi.Wordwrap(line, w, ""), "\n")...)
	}
	for _, b := range s.keys.list() {
		entry(b.Help().Key, b.Help().Desc)
	}
	for i := range s.actions {
		a := &s.actions[i]
		entry(a.key, s.theme.strong.Render(a.name)+": "+a.help)
	}
	if n := (len(lines) + h - 1) / h; n*(widest+1) <= w {
		return columns(lines, h, w)
	}
	s.pick = min(s.pick, max(0, len(list)-h))
	return list[s.pick:min(len(list), s.pick+h)]
}

func (s *Screen) paletteLines() []string {
	lines := []string{s.theme.lit.Render("› ") + s.typed(s.width-6), ""}
	found := s.found()
	room := s.height - 5
	top := window(0, s.pick, room, len(found))
	for i := top; i < len(found) && i < top+room; i++ {
		a := found[i]
		line := cell(a.key, 3) + cell(a.name, 22) + a.help
		if i == min(s.pick, len(found)-1) {
			line = s.theme.selected.Render(cell(line, s.width-4))
		}
		lines = append(lines, line)
	}
	return lines
}

// clockText is a duration as hh:mm:ss.
func clockText(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}
