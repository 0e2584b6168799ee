package tui

import (
	"github.com/charmbracelet/lipgloss"

	"fleet/internal/progress"
	"fleet/roster"
)

// theme is the one palette of the screen, by meaning. Colours are given for dark
// and light grounds; what a terminal can't show is brought down to what it can,
// and to none under NO_COLOR, where bold and reverse still tell things apart.
type theme struct {
	text, dim, strong, title, frame, lit, selected lipgloss.Style
	good, wait, bad, busy                          lipgloss.Style
}

func newTheme(r *lipgloss.Renderer) theme {
	color := func(light, dark string) lipgloss.Style {
		return r.NewStyle().Foreground(lipgloss.AdaptiveColor{Light: light, Dark: dark})
	}
	return theme{
		text:     r.NewStyle(),
		strong:   r.NewStyle().Bold(true),
		dim:      color("#6b7280", "#8b93a1"),
		title:    color("#0f62a8", "#7cc4ff").Bold(true),
		frame:    color("#c3c8d0", "#3d4451"),
		lit:      color("#0f62a8", "#7cc4ff"),
		selected: r.NewStyle().Reverse(true),
		good:     color("#15803d", "#6fd08c"),
		wait:     color("#a16207", "#e5c07b"),
		bad:      color("#b91c1c", "#ff7b86").Bold(true),
		busy:     color("#0f62a8", "#7cc4ff"),
	}
}

func (t *theme) tone(tone progress.Tone) lipgloss.Style {
	return [...]lipgloss.Style{
		progress.Quiet: t.dim, progress.Plain: t.text, progress.Good: t.good, progress.Wait: t.wait, progress.Bad: t.bad,
	}[tone]
}

// face is how a workstream looks at a glance: a sign, a word and a colour.
type face struct {
	icon, word string
	style      lipgloss.Style
}

// face says where a worker stands in the words of an operator. A headless one
// between two sessions is idle; one that should run and doesn't is an error.
func (t *theme) face(r *row) face {
	switch r.Status {
	case roster.Working:
		return face{"●", "running", t.busy}
	case roster.Started:
		return face{"○", "idle", t.dim}
	case roster.Blocked:
		if r.Parked() {
			return face{"◐", "limit", t.wait}
		}
		if r.waitsFor != "" {
			return face{"◐", "waiting", t.wait}
		}
		return face{"!", "blocked", t.bad}
	case roster.Done:
		return face{"✓", "done", t.good}
	case roster.Landed:
		return face{"✓", "landed", t.good}
	case roster.Dead:
		return face{"!", "dead", t.bad}
	case roster.Pending:
	}
	return face{"·", "pending", t.dim}
}
