package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// line is a line that is being typed. bubbles has one as well, which looks for
// clipboard programs at each start of the program, hooks included.
type line struct {
	text []rune
	at   int // of the cursor
}

func (l *line) set(text string) { l.text, l.at = []rune(text), len([]rune(text)) }

func (l *line) value() string { return string(l.text) }

// key takes a key press or a paste.
func (l *line) key(m tea.KeyMsg) {
	switch m.String() {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace":
		l.cut(l.at-1, l.at)
	case "delete", "ctrl+d":
		l.cut(l.at, l.at+1)
	case "ctrl+u":
		l.cut(0, l.at)
	case "ctrl+k":
		l.cut(l.at, len(l.text))
	case "ctrl+w":
		from := len([]rune(strings.TrimRightFunc(string(l.text[:l.at]), unicode.IsSpace)))
		for from > 0 && !unicode.IsSpace(l.text[from-1]) {
			from--
		}
		l.cut(from, l.at)
	default:
		if m.Type == tea.KeyRunes || m.Type == tea.KeySpace {
			typed := slices.Clone(m.Runes)
			for i, r := range typed {
				if unicode.IsControl(r) { // of a paste
					typed[i] = ' '
				}
			}
			l.text = slices.Insert(l.text, l.at, typed...)
			l.at += len(typed)
		}
	}
}

func (l *line) cut(from, to int) {
	from, to = max(0, from), min(len(l.text), to)
	if from < to {
		l.text = slices.Delete(l.text, from, to)
		l.at = from
	}
}

// typed is the line with its cursor, so much of it as fits.
func (s *Screen) typed(w int) string {
	before, under, after := string(s.input.text[:s.input.at]), " ", ""
	if s.input.at < len(s.input.text) {
		under, after = string(s.input.text[s.input.at]), string(s.input.text[s.input.at+1:])
	}
	if over := ansi.StringWidth(before) + 2 - w; over > 0 {
		before = ansi.TruncateLeft(before, over, "…")
	}
	return before + s.theme.selected.Render(under) + after
}
