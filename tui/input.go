package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// key gives a key press to whoever has the keys.
func (s *Screen) key(m tea.KeyMsg) tea.Cmd {
	switch s.mode {
	case typing:
		return s.keyTyping(m)
	case asking:
		return s.keyAsking(m)
	case picking:
		return s.keyPicking(m)
	case helping:
		s.keyHelping(m)
		return nil
	case moving:
	}
	return s.keyMoving(m)
}

func (s *Screen) keyMoving(m tea.KeyMsg) tea.Cmd {
	k := &s.keys
	switch {
	case key.Matches(m, k.Quit):
		return s.leave()
	case key.Matches(m, k.Up):
		return s.move(-1)
	case key.Matches(m, k.Down):
		return s.move(1)
	case key.Matches(m, k.Top):
		return s.move(-1 << 30)
	case key.Matches(m, k.Bottom):
		return s.move(1 << 30)
	case key.Matches(m, k.PageUp):
		return s.scrollLog(s.layout().log.h - 3)
	case key.Matches(m, k.PageDown):
		return s.scrollLog(3 - s.layout().log.h)
	case key.Matches(m, k.Focus):
		s.focus = (s.focus + 1) % panels
	case key.Matches(m, k.Filter):
		s.filter()
		return s.fillLog()
	case key.Matches(m, k.Details):
		s.log.quiet, s.log.back = !s.log.quiet, 0
		return s.fillLog()
	case key.Matches(m, k.Search):
		s.prompt(nil, s.log.query)
	case key.Matches(m, k.Palette):
		s.mode, s.pick = picking, 0
		s.input.set("")
		return backKeys(s.f)
	case key.Matches(m, k.Help):
		s.mode, s.pick = helping, 0
		return backKeys(s.f)
	case key.Matches(m, k.Theme):
		s.render.SetHasDarkBackground(!s.render.HasDarkBackground())
	case key.Matches(m, k.Leave):
		s.log.ws, s.log.query, s.log.back, s.said = "", "", 0, ""
	case key.Matches(m, k.Enter):
		return s.choose(s.named("send"))
	default:
		for i := range s.actions {
			if s.actions[i].key == m.String() {
				return s.choose(&s.actions[i])
			}
		}
	}
	return nil
}

// keyHelping scrolls the help; what doesn't, closes it.
func (s *Screen) keyHelping(m tea.KeyMsg) {
	switch page := s.height - 4; {
	case key.Matches(m, s.keys.Up):
		s.pick--
	case key.Matches(m, s.keys.Down):
		s.pick++
	case key.Matches(m, s.keys.PageUp):
		s.pick -= page
	case key.Matches(m, s.keys.PageDown):
		s.pick += page
	default:
		s.mode = moving
	}
	s.pick = max(0, s.pick)
}

// leave ends the screen. What it has begun ends with it, so that wants a second word.
func (s *Screen) leave() tea.Cmd {
	if s.busy == 0 || s.leaving {
		return tea.Quit
	}
	s.leaving = true
	s.said, s.saidBad = "something is under way and would be left half-way: q again leaves it", true
	return nil
}

// filter shows the log of the selected worker alone, or of all again.
func (s *Screen) filter() {
	if s.log.ws == s.ws {
		s.log.ws = ""
	} else {
		s.log.ws = s.ws
	}
	s.log.back = 0
}

// move moves the selection of the panel in focus.
func (s *Screen) move(by int) tea.Cmd {
	if s.snap == nil {
		return nil
	}
	switch s.focus {
	case onWorkers:
		ids := make([]string, len(s.snap.rows))
		for i := range ids {
			ids[i] = s.snap.rows[i].ID
		}
		s.ws = step(ids, s.ws, by)
		if s.log.ws != "" {
			s.log.ws = s.ws // a filter follows the selection
		}
		return tea.Batch(s.peek(), s.fillLog())
	case onTasks:
		ids := make([]string, 0, len(s.snap.tasks))
		for _, t := range s.tree() {
			ids = append(ids, t.task.ID)
		}
		s.task = step(ids, s.task, by)
	case onLog:
		return s.scrollLog(-by)
	case onWaits:
		s.top[onWaits] = min(max(0, s.top[onWaits]+by), max(0, len(s.snap.waits)-1))
	case panels:
	}
	return nil
}

// step is the id so many places after another one, at the ends the last that there is.
func step(ids []string, from string, by int) string {
	if len(ids) == 0 {
		return ""
	}
	at := 0
	for i, id := range ids {
		if id == from {
			at = i
		}
	}
	return ids[min(max(0, at+by), len(ids)-1)]
}

func (s *Screen) scrollLog(by int) tea.Cmd {
	s.log.scroll(by, s.layout().log.h-2)
	return s.fillLog()
}

// choose begins an action with the selected target: it may need a line, or a yes, first.
func (s *Screen) choose(a *action) tea.Cmd {
	t := s.target()
	if !a.can(t) {
		s.said, s.saidBad = a.name+" does not apply here", true
		return nil
	}
	s.pending, s.asked = a, t
	switch {
	case a.ask != "":
		s.prompt(a, "")
		return nil
	case a.confirm != nil:
		s.mode = asking
		return nil
	}
	return s.begin(a, t, "")
}

// prompt opens the input line, for an action or, without one, for a search.
func (s *Screen) prompt(a *action, text string) {
	s.mode, s.pending = typing, a
	s.input.set(text)
}

func (s *Screen) keyTyping(m tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(m, s.keys.Leave):
		s.leaveInput()
		return nil
	case key.Matches(m, s.keys.Enter):
		text := strings.TrimSpace(s.input.value())
		a := s.pending
		s.leaveInput()
		if a == nil {
			s.log.query, s.log.back = strings.ToLower(text), 0
			return s.fillLog()
		}
		if text == "" {
			return nil
		}
		return s.begin(a, s.asked, text)
	}
	s.input.key(m)
	return nil
}

func (s *Screen) leaveInput() {
	s.mode, s.pending = moving, nil
}

func (s *Screen) keyAsking(m tea.KeyMsg) tea.Cmd {
	a := s.pending
	switch m.String() {
	case "y", "Y":
		s.mode, s.pending = moving, nil
		return s.begin(a, s.asked, "")
	case "n", "N", "esc", "q", "ctrl+c":
		s.mode, s.pending = moving, nil
	}
	return nil
}

// keyPicking moves in the palette; what is typed narrows it.
func (s *Screen) keyPicking(m tea.KeyMsg) tea.Cmd {
	found := s.found()
	switch {
	case key.Matches(m, s.keys.Leave):
		s.leaveInput()
		return nil
	case m.String() == "up":
		s.pick = max(0, s.pick-1)
		return nil
	case m.String() == "down":
		s.pick = min(len(found)-1, s.pick+1)
		return nil
	case key.Matches(m, s.keys.Enter):
		s.leaveInput()
		if len(found) == 0 {
			return nil
		}
		return s.choose(found[min(s.pick, len(found)-1)])
	}
	s.input.key(m)
	s.pick = 0
	return nil
}

// found are the actions that the palette offers: those that apply and whose name has what was typed.
func (s *Screen) found() []*action {
	t := s.target()
	var found []*action
	for i := range s.actions {
		a := &s.actions[i]
		if a.can(t) && strings.Contains(a.name, strings.ToLower(s.input.value())) {
			found = append(found, a)
		}
	}
	return found
}

// mouse selects a worker by a click and scrolls the log by the wheel.
func (s *Screen) mouse(m tea.MouseMsg) tea.Cmd {
	if s.mode != moving || s.snap == nil {
		return nil
	}
	switch m.Button {
	case tea.MouseButtonWheelUp:
		return s.scrollLog(3)
	case tea.MouseButtonWheelDown:
		return s.scrollLog(-3)
	case tea.MouseButtonLeft:
		box := s.layout().workers
		if i := m.Y - box.y - 1 + s.top[onWorkers]; m.Action == tea.MouseActionPress && m.X < box.w && m.Y > box.y && i >= 0 && i < len(s.snap.rows) && m.Y < box.y+box.h-1 {
			s.focus, s.ws = onWorkers, s.snap.rows[i].ID
			return s.peek()
		}
	default:
	}
	return nil
}
