// Package progress says in words and colours what happens in a run, for people who look on.
package progress

import (
	"fmt"
	"strings"

	"fleet/roster"
)

// Painter colours texts, or leaves them as they are.
type Painter bool

// Good is for what ended well.
func (p Painter) Good(s string) string { return p.paint("32", s) }

// Wait is for what is in the way.
func (p Painter) Wait(s string) string { return p.paint("33", s) }

// Bad is for what has failed or was denied.
func (p Painter) Bad(s string) string { return p.paint("31", s) }

func (p Painter) paint(color, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// Line says an event in words, "" for one that would only distract.
func (p Painter) Line(e roster.Event) string {
	text := func(key string) string {
		if v := e.Data[key]; v != nil {
			return strings.TrimSpace(fmt.Sprint(v))
		}
		return ""
	}
	say := func(what string) string { return fmt.Sprintf("%-5s %-6s %s", e.WS, e.Task, what) }
	switch e.Type {
	case roster.TaskAssignedTo:
		return say("gets it, attempt " + text("attempt"))
	case roster.FileChanged:
		return say("wrote " + text("path"))
	case roster.LeaseDenied:
		return p.Bad(say("DENIED " + text("path") + ": " + deniedBy(text("reason"), text("holder"), text("holder_task"))))
	case roster.ForeignWriteFound:
		return p.Bad(say("changed " + text("path") + ", which " + text("holder") + " holds"))
	case roster.CheckFailed:
		return p.Wait(say("its check fails: " + text("command")))
	case roster.TaskSucceeded:
		return p.Good(say("succeeded"))
	case roster.TaskUnblocked:
		return say("can run now")
	case roster.TaskRequeued:
		return p.Wait(say("waits again: " + why(text("error_kind"), text("reason"))))
	case roster.TaskFailed:
		return p.Bad(say("FAILED: " + why(text("error_kind"), text("reason"))))
	case roster.TaskIsBlocked:
		return p.Bad(say("can't run: " + text("ancestor") + " has not succeeded"))
	case roster.TaskIsCancelled:
		return p.Wait(say("cancelled"))
	case roster.WorkerExited:
		if text("stopped") == "true" {
			return ""
		}
		return p.Bad(say("its worker ended: " + firstLine(text("reason")+text("last_lines"))))
	case roster.StatusChanged:
		if text("to") == string(roster.Blocked) {
			return p.Wait(say("waits: " + text("reason")))
		}
	}
	return ""
}

func deniedBy(reason, holder, task string) string {
	if holder == "" {
		return reason
	}
	if task != "" && task != holder {
		holder += " (" + task + ")"
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
	writes := "writes"
	if denied == 1 {
		writes = "write"
	}
	parts = append(parts, fmt.Sprintf("%d denied %s", denied, writes), fmt.Sprintf("%d tokens, %.2f USD", t["input_tokens"].(int64)+t["output_tokens"].(int64), t["cost_usd"]))
	return strings.Join(parts, " · ")
}
