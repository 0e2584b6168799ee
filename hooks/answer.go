package hooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"fleet/hooks/effect"
	"fleet/roster"
)

// Answers in the form that Claude Code reads: one object, nothing before or beside it.

type decision struct {
	Event      string `json:"hookEventName"`
	Permission string `json:"permissionDecision,omitempty"`
	Reason     string `json:"permissionDecisionReason,omitempty"`
	Context    string `json:"additionalContext,omitempty"`
}

func answer(d decision) []byte {
	text, err := json.Marshal(map[string]decision{"hookSpecificOutput": d})
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(text, '\n')
}

func deny(reason string) []byte {
	return answer(decision{Event: "PreToolUse", Permission: "deny", Reason: reason})
}

// allow is said in words, since workers run in a mode in which silence is a no.
func allow() []byte {
	return answer(decision{Event: "PreToolUse", Permission: "allow"})
}

// told gives the agent a text after its tool has run.
func told(event, text string) []byte { return answer(decision{Event: event, Context: text}) }

const wayOut = " Do not retry it and do not write it another way: go on without it, or end your turn and name the file."

// denialText says to an agent what stands in the way, and what to do.
func denialText(denials []roster.Denial) string {
	lines := make([]string, 0, len(denials))
	for i, d := range denials {
		if i == maxNamed {
			lines = append(lines, fmt.Sprintf("(and %d more)", len(denials)-i))
			break
		}
		lines = append(lines, denialLine(d))
	}
	text := strings.Join(lines, " ")
	if d := denials[0]; d.Reason == roster.DenyHeld || d.Reason == roster.DenyClaimed {
		text += wayOut
	}
	return text
}

const maxNamed = 5

func denialLine(d roster.Denial) string {
	task := ""
	if d.HolderTask != "" {
		task = " (task " + d.HolderTask + ")"
	}
	switch d.Reason {
	case roster.DenyHeld:
		if d.Kept {
			return fmt.Sprintf("%s has changes of %s%s that are not committed yet.", d.Path, d.Holder, task)
		}
		return fmt.Sprintf("%s is held by %s%s, which is writing it.", d.Path, d.Holder, task)
	case roster.DenyClaimed:
		return fmt.Sprintf("%s is claimed by %s%s, as %q.", d.Path, d.Holder, task, d.Claim)
	case roster.DenyUnclaimed:
		return fmt.Sprintf("%s is not in your claims, and this run is strict: `fleet claim` it first.", d.Path)
	case roster.DenyOutside:
		return fmt.Sprintf("%s is outside the working tree.", d.Path)
	case roster.DenyProtected:
		return fmt.Sprintf("%s decides over the rules of the fleet; it is changed only through `fleet`, or by a person.", d.Path)
	case roster.DenyStale:
		return "This session is no longer the worker of its workstream: it was replaced or declared dead. End your turn."
	}
	return fmt.Sprintf("%s: %s.", d.Path, d.Reason)
}

func trampleText(t effect.Trample) string {
	text := fmt.Sprintf("`%s` is refused: %s.", t.Command, t.Why)
	if t.Instead != "" {
		text += " " + t.Instead
	}
	return text
}

func foreignText(found []roster.ForeignWrite) string {
	lines := make([]string, len(found))
	for i, f := range found {
		lines[i] = fmt.Sprintf("%s changed while your command ran, and %s holds it.", f.Path, f.Holder)
	}
	return strings.Join(lines, " ") + " If your command wrote it, put back what was there, and tell " +
		"what happened in your last message; leave files that others hold alone."
}
