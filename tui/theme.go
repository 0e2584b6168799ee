package tui

import (
	"os"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"fleet/internal/progress"
	"fleet/roster"
)

// theme is the one palette of the screen, by meaning. Each colour is given for light
// and dark grounds, and as one of sixteen, since the nearest of so few may mean
// something else. Where there are none, bold and reverse still tell things apart.
type theme struct {
	text, dim, strong, title, frame, lit, selected lipgloss.Style
	good, wait, bad, busy                          lipgloss.Style
}

func newTheme(r *lipgloss.Renderer, colours bool) theme {
	color := func(light, light16, dark, dark16 string) lipgloss.Style {
		if !colours {
			return r.NewStyle()
		}
		return r.NewStyle().Foreground(lipgloss.CompleteAdaptiveColor{
			Light: lipgloss.CompleteColor{TrueColor: light, ANSI256: light, ANSI: light16},
			Dark:  lipgloss.CompleteColor{TrueColor: dark, ANSI256: dark, ANSI: dark16},
		})
	}
	blue := color("#0f62a8", "4", "#7cc4ff", "14")
	return theme{
		text:     r.NewStyle(),
		strong:   r.NewStyle().Bold(true),
		dim:      color("#6c6c6c", "8", "#949494", "8"),
		title:    blue.Bold(true),
		frame:    color("#bcbcbc", "7", "#4e4e4e", "8"),
		lit:      blue,
		selected: r.NewStyle().Reverse(true),
		good:     color("#15803d", "2", "#6fd08c", "10"),
		wait:     color("#a16207", "3", "#e5c07b", "11"),
		bad:      color("#b91c1c", "1", "#ff7b86", "9").Bold(true),
		busy:     blue,
	}
}

// renderer draws on a terminal, and reports whether colours are wanted there. One of
// which it isn't known, as of screen, has sixteen, and bold and reverse if it isn't asked for colours.
func renderer(out *os.File) (r *lipgloss.Renderer, colours bool) {
	r = lipgloss.NewRenderer(out)
	if r.ColorProfile() == termenv.Ascii {
		r.SetColorProfile(termenv.ANSI)
	}
	return r, !r.Output().EnvNoColor()
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
