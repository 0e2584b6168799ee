package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"fleet/roster"
)

func (s *Screen) detailTitle() string {
	if r := s.row(s.ws); r != nil {
		return r.ID + " " + r.Name
	}
	return "nobody is selected"
}

// detailLines is all about the selected worker: what it is, what it is to do, what
// came last, and, with the room that is left, what its pane shows.
func (s *Screen) detailLines(h, w int) []string {
	r := s.row(s.ws)
	if r == nil {
		return nil
	}
	var lines []string
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, s.theme.dim.Render(cell(label, 8))+cell(roster.Flat(value), w-8))
		}
	}
	f := s.theme.face(r)
	lines = append(lines, f.style.Render(f.icon+" "+f.word)+s.theme.dim.Render(fmt.Sprintf("  %s, %s, incarnation %d", r.Brain, r.Mode, r.Epoch)))
	add("task", strings.TrimSpace(r.TaskID+" "+tries(r)))
	add("note", r.Notes)
	add("waits", r.waitsFor)
	add("claims", strings.Join(r.Claims, " "))
	add("holds", strings.Join(r.held, " "))
	if r.Tree != roster.MainTree {
		add("tree", r.Tree)
	}
	add("landed", r.LandedSHA)
	if r.inTok+r.outTok > 0 {
		add("used", fmt.Sprintf("%d tokens in, %d out, %.2f USD", r.inTok, r.outTok, r.costUSD))
	}
	lines = append(lines, s.lastEvents(r, 3, w)...)
	if s.peeked.ws != r.ID || len(lines) >= h-2 {
		return lines[:min(h, len(lines))]
	}
	what, from := "its pane", tail(s.peeked.screen)
	if s.peeked.err != nil {
		what, from = short(s.peeked.err), nil
	}
	if len(from) == 0 && s.peeked.err == nil {
		what, from = "its brief", tail(s.peeked.brief)
		from = from[:min(len(from), h-len(lines)-1)]
	}
	lines = append(lines, s.theme.frame.Render("─ "+roster.Flat(what)+" "+strings.Repeat("─", max(0, w-3-ansi.StringWidth(what)))))
	for _, line := range from[max(0, len(from)-(h-len(lines))):] {
		lines = append(lines, cell(roster.Flat(line), w))
	}
	return lines[:min(h, len(lines))]
}

func tries(r *row) string {
	if r.attemptOf == 0 {
		return ""
	}
	return fmt.Sprintf("try %d of %d", r.try, r.attemptOf)
}

// lastEvents are the last things that are told of a worker.
func (s *Screen) lastEvents(r *row, n, w int) []string {
	mine := eventLog{events: s.log.events, ws: r.ID, quiet: true, full: true}
	events, _ := mine.lines(n)
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = cell(s.theme.dim.Render(e.At.Local().Format("15:04:05"))+" "+s.theme.tone(e.tone).Render(e.what), w)
	}
	return lines
}

// tail is a text as lines, without the empty ones at its end.
func tail(text string) []string {
	text = strings.TrimRight(text, " \n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
