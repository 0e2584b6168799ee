package agent

import "strings"

// screen is what an agent's terminal shows: the dialogs at which it waits, the sign before its
// input, and the beginnings of what the agent itself writes behind that.
type screen struct {
	dialogs []dialog
	sign    string
	hints   []string
}

type dialog struct{ text, waitsFor string }

// WaitsFor reads from an agent's screen what dialog it waits at, "" if none is
// known. Dialogs are never answered, only reported.
func (b Brain) WaitsFor(screen string) string {
	for _, d := range b.screen.dialogs {
		if strings.Contains(screen, d.text) {
			return d.waitsFor
		}
	}
	return ""
}

// Draft reads from an agent's screen what stands in its input, not yet sent: the text behind the last prompt sign.
func (b Brain) Draft(screen string) string {
	draft := ""
	for line := range strings.Lines(screen) {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " │"), b.screen.sign); ok && b.screen.sign != "" {
			draft = strings.Trim(rest, " \u00a0│\n")
		}
	}
	for _, hint := range b.screen.hints {
		if strings.HasPrefix(draft, hint) {
			return ""
		}
	}
	return draft
}
