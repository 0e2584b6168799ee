// Package progress says in words and colours what happens in a run, for people who look on.
package progress

import (
	"fmt"
	"path"
	"strings"

	"fleet/roster"
)

// Tone is how much an event is to strike the eye.
type Tone int

// The tones, which a terminal shows as colours.
const (
	Quiet Tone = iota // a detail: only a full log has it
	Plain
	Good // something ended well
	Wait // something is in the way
	Bad  // something has failed, or was denied
)

// String is the name of the tone.
func (t Tone) String() string { return [...]string{"quiet", "plain", "good", "wait", "bad"}[t] }

// Painter colours texts, or leaves them as they are.
type Painter bool

// Good is for what ended well.
func (p Painter) Good(s string) string { return p.Paint(Good, s) }

// Wait is for what is in the way.
func (p Painter) Wait(s string) string { return p.Paint(Wait, s) }

// Bad is for what has failed or was denied.
func (p Painter) Bad(s string) string { return p.Paint(Bad, s) }

// Paint gives a text the colour of a tone.
func (p Painter) Paint(t Tone, s string) string {
	color := map[Tone]string{Good: "32", Wait: "33", Bad: "31"}[t]
	if !p || s == "" || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// Line says an event in words, "" for one that would only distract.
func (p Painter) Line(e roster.Event) string {
	what, tone := Say(e)
	if tone == Quiet {
		return ""
	}
	return p.Paint(tone, fmt.Sprintf("%-5s %-6s %s", e.WS, e.Task, what))
}

// Say is what an event says, without whom it is about, and its tone.
func Say(e roster.Event) (string, Tone) {
	text := func(key string) string {
		if v := e.Data[key]; v != nil {
			return strings.TrimSpace(fmt.Sprint(v))
		}
		return ""
	}
	switch e.Type {
	case roster.TaskAssignedTo:
		return "gets it, attempt " + text("attempt"), Plain
	case roster.FileChanged:
		return "wrote " + text("path"), Plain
	case roster.LeaseDenied:
		return "DENIED " + text("path") + ": " + deniedBy(text("reason"), text("holder"), text("holder_task")), Bad
	case roster.ForeignWriteFound:
		return "changed " + text("path") + ", which " + text("holder") + " holds", Bad
	case roster.CheckFailed:
		return "its check fails: " + text("command"), Wait
	case roster.TaskSucceeded:
		return "succeeded", Good
	case roster.TaskUnblocked:
		return "can run now", Plain
	case roster.TaskRequeued:
		return "waits again: " + why(text("error_kind"), text("reason")), Wait
	case roster.TaskFailed:
		return "FAILED: " + why(text("error_kind"), text("reason")), Bad
	case roster.TaskIsBlocked:
		return "can't run: " + text("ancestor") + " has not succeeded", Bad
	case roster.TaskIsCancelled:
		return "cancelled", Wait
	case roster.WorkerExited:
		if text("stopped") == "true" {
			return "its worker was stopped", Quiet
		}
		reason := firstLine(text("reason") + text("last_lines"))
		switch code := text("code"); {
		case reason != "":
			return "its worker ended: " + reason, Bad
		case code != "0":
			return "its worker ended with code " + code, Bad
		}
		return "its worker ended", Plain
	case roster.StatusChanged:
		if text("to") == string(roster.Blocked) {
			return "waits: " + text("reason"), Wait
		}
		return strings.TrimSpace(text("from") + " → " + text("to") + " " + text("reason")), Quiet
	case roster.LimitReached:
		return "has reached a limit until " + text("until") + ": " + text("reason"), Wait
	case roster.CommitMade:
		return "committed " + text("sha"), Good
	case roster.LandingDone:
		return "landed on " + text("base") + " at " + roster.ShortSHA(text("to")), Good
	case roster.LandingFailed:
		return "does not land: " + text("reason"), Bad
	case roster.LandingReverted:
		return "was taken back from " + text("base"), Wait
	case roster.EscapeDetected:
		return text("what") + " " + text("path") + " in the main checkout, outside of every worktree", Bad
	case roster.SendUnconfirmed:
		return "a message was typed and not seen to arrive", Wait
	}
	return detail(e, text)
}

// detail says the events that are of interest to somebody who reads a whole log.
func detail(e roster.Event, text func(string) string) (string, Tone) {
	what := map[roster.EventType]string{
		roster.WorkstreamAdded:   "was added: " + text("task"),
		roster.TaskCreated:       "new: " + text("title"),
		roster.WorkerSpawned:     "starts, incarnation " + text("epoch"),
		roster.WorkerUp:          "is up (" + text("source") + ")",
		roster.PromptSubmitted:   "› " + text("prompt"),
		roster.Notification:      text("message"),
		roster.LeaseAcquired:     text("tool") + " " + path.Base(text("path")),
		roster.LeaseReleased:     "freed " + text("path"),
		roster.ShellWriteDenied:  "DENIED in a shell: " + text("command"),
		roster.HandoffWritten:    "wrote its handoff",
		roster.MigrationReserved: "reserved migration " + text("number"),
		roster.ClaimAdded:        "claims " + text("paths"),
		roster.ClaimReleased:     "gives up its claim on " + text("paths"),
	}[e.Type]
	if what == "" {
		what = strings.ReplaceAll(string(e.Type), "_", " ")
	}
	return what, Quiet
}

func deniedBy(reason, holder, task string) string {
	if holder == "" {
		return reason
	}
	if task != "" && task != holder {
		holder += " (" + task + ")"
	}
	if reason == string(roster.DenyClaimed) {
		return holder + " claims it"
	}
	return holder + " holds it"
}

// why joins a kind of error with its reason, which may begin with it.
func why(kind, reason string) string {
	if strings.HasPrefix(reason, kind) {
		return reason
	}
	return strings.TrimSpace(kind + ": " + reason)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Summary is the totals of a run on one line.
func Summary(s *roster.State, denied int) string {
	t := s.Tally()
	n := func(st roster.TaskStatus) int { v, _ := t[string(st)].(int); return v }
	parts := []string{fmt.Sprintf("%d of %d tasks succeeded", n(roster.TaskDone), len(s.Tasks))}
	if busy := n(roster.TaskAssigned) + n(roster.TaskRunning); busy > 0 {
		parts = append(parts, fmt.Sprintf("%d running", busy))
	}
	for _, st := range []roster.TaskStatus{roster.TaskGivenUp, roster.TaskBlockedUpstream, roster.TaskCancelled, roster.TaskPending} {
		if n(st) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n(st), st))
		}
	}
	parts = append(parts, roster.Several(denied, "denied write"), fmt.Sprintf("%d tokens, %.2f USD", t["input_tokens"].(int64)+t["output_tokens"].(int64), t["cost_usd"]))
	return strings.Join(parts, " · ")
}
