package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cell is a text in exactly so many columns, cut with a … or filled up.
func cell(text string, w int) string {
	if w <= 0 {
		return ""
	}
	text = ansi.Truncate(text, w, "…")
	return text + strings.Repeat(" ", max(0, w-ansi.StringWidth(text)))
}

// justify puts one text at the left and one at the right of a line; the left one gives way.
func justify(left, right string, w int) string {
	return cell(left, w-ansi.StringWidth(right)-1) + " " + right
}

// panel is a framed box with a title in its upper edge.
func (s *Screen) panel(title string, lit bool, lines []string, b box) []string {
	if b.h < 2 {
		return nil
	}
	edge, name := s.theme.frame, s.theme.dim
	if lit {
		edge, name = s.theme.lit, s.theme.title
	}
	title = ansi.Truncate(title, max(0, b.w-6), "…")
	rule := strings.Repeat("─", max(0, b.w-5-ansi.StringWidth(title)))
	out := []string{edge.Render("╭─ ") + name.Render(title) + edge.Render(" "+rule+"╮")}
	for i := range b.h - 2 {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, edge.Render("│")+" "+cell(line, b.w-4)+" "+edge.Render("│"))
	}
	return append(out, edge.Render("╰"+strings.Repeat("─", b.w-2)+"╯"))
}

// beside joins two boxes of one height, line by line.
func beside(left, right []string) []string {
	out := make([]string, len(left))
	for i := range left {
		out[i] = left[i] + right[i]
	}
	return out
}

// window is the first of h lines to show of n, so that the selected one is among them.
func window(top, at, h, n int) int {
	top = min(top, at, max(0, n-h))
	return max(top, at-h+1, 0)
}

// columns sets lines side by side where there are more than fit below each other.
func columns(lines []string, h, w int) []string {
	n := (len(lines) + h - 1) / max(1, h)
	if n <= 1 {
		return lines
	}
	out := make([]string, min(h, len(lines)))
	for i, line := range lines {
		out[i%h] += cell(line, w/n-1) + " "
	}
	return out
}
