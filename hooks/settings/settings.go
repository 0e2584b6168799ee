// Package settings makes the settings through which an agent calls fleet's
// hooks: a file of its own for each worker, and a merge into
// .claude/settings.local.json for sessions that people start themselves.
package settings

import (
	"encoding/json"
	"time"

	"fleet/internal/proc"
)

// writeTools are the tools of Claude Code that write, and Bash. A tool that is not
// named here and not allowed below is refused by the mode in which workers run.
const writeTools = "Write|Edit|MultiEdit|NotebookEdit|Bash"

// freeTools need no hook: they change nothing in the tree. What a subagent or a
// monitor writes comes to the hooks of its own calls.
func freeTools() []string {
	return []string{
		"Read", "Glob", "Grep", "WebFetch", "WebSearch", "ToolSearch", "Skill", "TodoWrite", "Agent", "Task",
		"TaskStop", "TaskOutput", "SendMessage", "ListAgents",
	}
}

// wayward tools would take a worker out of its checkout, or leave it running
// with nobody to answer it.
func wayward() []string {
	return []string{"EnterWorktree", "ExitWorktree", "CronCreate", "ScheduleWakeup", "Workflow"}
}

// event ties an event of Claude Code to the fleet hook that answers it.
type event struct {
	name, hook, matcher string
}

func workerEvents() []event {
	return []event{
		{"PreToolUse", "pre-tool-use", writeTools},
		{"PostToolUse", "post-tool-use", writeTools},
		{"PostToolUseFailure", "post-tool-use", writeTools}, // a command that failed may have written
		{"UserPromptSubmit", "user-prompt-submit", ""},
		{"Stop", "stop", ""},
		{"StopFailure", "stop-failure", ""},
		{"Notification", "notification", ""},
		{"SessionStart", "session-start", ""},
		{"SessionEnd", "session-end", ""},
		{"PreCompact", "pre-compact", ""},
	}
}

// HostTimeout is what the agent grants a hook, in seconds; fleet gives up well before.
const HostTimeout = 30

type command struct {
	Type      string `json:"type"`
	Command   string `json:"command"`
	Timeout   int    `json:"timeout"`
	OnFailure string `json:"onFailure,omitempty"`
}

type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// entry is what the settings say of one event. Three belts hold a write check shut: a failure
// of the command exits 2, a failure that isn't an exit blocks by onFailure, and in
// the workers' permission mode an answer that isn't "allow" is a no. The end of a
// turn has time for a check of the task.
func (e event) entry(exe, ws string, check time.Duration) group {
	line := proc.Quote(exe) + " hook " + e.hook
	if ws != "" {
		line += " " + ws
	}
	c := command{Type: "command", Command: line, Timeout: HostTimeout}
	if e.name == "Stop" {
		c.Timeout += int(check.Seconds())
	}
	if e.name == "PreToolUse" {
		c.Command += " || exit 2"
		c.OnFailure = "block"
	}
	return group{Matcher: e.matcher, Hooks: []command{c}}
}

// Worker returns the settings file of one workstream's worker. exe is the absolute
// path of the fleet program, check how long the check of a task may take.
// "disableAllHooks": false is said in words, since the
// last word on it decides and a worker could write the other one into its tree.
func Worker(exe, ws string, check time.Duration) ([]byte, error) {
	hooks := make(map[string][]group)
	for _, e := range workerEvents() {
		hooks[e.name] = []group{e.entry(exe, ws, check)}
	}
	return json.MarshalIndent(map[string]any{
		"disableAllHooks": false,
		"permissions":     map[string]any{"defaultMode": "dontAsk", "allow": freeTools(), "deny": wayward()},
		"hooks":           hooks,
	}, "", "  ")
}
