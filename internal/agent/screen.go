package agent

import "strings"

// screen is what an agent's terminal shows: the dialogs at which it waits, the sign before its
// input, and the beginnings of what the agent itself writes behind that.
type screen struct {
	dialogs []dialog
	sign    string
	foot    int // lines with the sign that stand below the input
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

// Draft reads from an agent's screen what stands in its input, not yet sent: the text behind the last prompt signs.
func (b Brain) Draft(screen string) string {
	var block []string // lines with the sign, one below the other
	ended := true
	for line := range strings.Lines(screen) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " │"), b.screen.sign)
		if !ok || b.screen.sign == "" {
			ended = true
			continue
		}
		if ended {
			block, ended = nil, false
		}
		block = append(block, strings.Trim(rest, " \u00a0│\n"))
	}
	draft := strings.TrimSpace(strings.Join(block[:max(0, len(block)-b.screen.foot)], " "))
	for _, hint := range b.screen.hints {
		if strings.HasPrefix(draft, hint) {
			return ""
		}
	}
	return draft
}
