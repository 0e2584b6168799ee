package cmd_test

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	pastesOn    = "\x1b[?2004h"
	pastesOff   = "\x1b[?2004l"
	clear       = "\x1b[H\x1b[2J"
)

// dialog is a question that takes the place of the box.
type dialog struct {
	about   string
	text    []string
	options []string
	choice  int
	footer  string
	done    func(choice int) (code int, over bool)
}

func trustDialog() *dialog {
	dir, _ := os.Getwd()
	return &dialog{
		about: "trust", text: []string{"Accessing workspace:", "", dir, ""},
		options: []string{"No, exit", "Yes, I trust this folder"}, footer: "Enter to confirm · Esc to cancel",
	}
}

func permissionDialog(tool string) *dialog {
	return &dialog{
		about: tool, text: []string{tool, "", "Do you want to proceed?"},
		options: []string{"1. Yes", "2. No"}, footer: "Esc to cancel · Tab to amend",
	}
}

func (d *dialog) lines() []string {
	lines := append([]string{""}, d.text...)
	for i, o := range d.options {
		sign := "  "
		if i == d.choice {
			sign = "❯ "
		}
		lines = append(lines, sign+o)
	}
	return append(lines, "", d.footer)
}

// draw shows the agent's state, in one write so that nobody sees half a screen.
func (a *agent) draw() {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width < 1 {
		width, height = 80, 24
	}
	foot := a.box(width)
	if a.dialog != nil {
		foot = a.dialog.lines()
	}
	lines := append(fitting(strings.Split(a.transcript.String(), "\n"), width, height-rows(foot, width)), foot...)
	fmt.Print(clear + strings.Join(lines, "\r\n"))
}

// box is the input with what stands in it, and the footer.
func (a *agent) box(width int) []string {
	draft := a.draft
	if draft == "" && !a.busy {
		draft = a.hint
	}
	if a.stranded {
		draft = fmt.Sprintf("[Pasted text #1 +%d lines]", strings.Count(draft, "\n"))
	}
	rule := strings.Repeat("─", width)
	var lines []string
	for _, q := range a.queue {
		lines = append(lines, "  "+firstLine(q.text), "  ⎿  Queued · ctrl+x ctrl+s to send now")
	}
	lines = append(lines, rule, "❯ "+strings.ReplaceAll(draft, "\n", "\r\n  "), rule)
	if a.busy {
		return append(lines, "  esc to interrupt")
	}
	return append(lines, "  ? for shortcuts")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// fitting is as much of the end of a text as fits into so many rows.
func fitting(lines []string, width, height int) []string {
	for i := len(lines) - 1; i >= 0; i-- {
		if height -= rows(lines[i:i+1], width); height < 0 {
			return lines[i+1:]
		}
	}
	return lines
}

func rows(lines []string, width int) int {
	n := 0
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\r\n") {
			n += 1 + max(0, utf8.RuneCountInString(part)-1)/width
		}
	}
	return n
}
