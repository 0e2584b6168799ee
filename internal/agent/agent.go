// Package agent knows each kind of agent that can serve a workstream: its
// command line, its environment, and what its screen says before its hooks can.
//
// A brain is plain data and a function or two. Whether an agent gates its writes
// through fleet's hooks is a fact about it (Hooks); one that doesn't is started
// all the same, and said to be ungated.
package agent

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"fleet/roster"
)

// Brain is a way to run an agent.
type Brain struct {
	Name    string
	Program string // looked up in PATH; "" is fleet itself
	Hooks   bool   // it calls fleet's hooks: writes are gated, and its turns report themselves

	args   func(Job) []string
	trust  []string                  // KEY=VALUE that skips the question whether the folder is trusted
	set    []string                  // KEY=VALUE that it always gets
	unset  []string                  // variables that must not reach it, beyond those of every worker
	recall func(session string) bool // whether a conversation can be gone on with
	dialog func(screen string) (waitsFor string)
	draft  func(screen string) string
}

// Job is one start of a worker.
type Job struct {
	Name     string // shown by the agent where it can; unique among sessions
	Mode     string // roster.Interactive or roster.Headless
	Settings string // path of the hook settings made for this worker
	Prompt   string // the first prompt, one line; empty for one that waits for its first task
	Session  string // a conversation to go on with; empty begins one
	Trust    bool   // start without the question whether the folder is trusted
	Script   string // path of the script, for the scripted brain
	Attempt  int    // at the task, for the scripted brain: it plays the script's turn of this number
	Limits
}

// Limits bound one headless session. Zero values bound nothing.
type Limits struct {
	Sealed    bool          // only tools whose writes can be checked, and nothing of the user's or the repository's settings
	Model     string        // instead of the brain's
	Timeout   time.Duration // wall clock; the session is killed then
	MaxTurns  int           // turns with the model
	BudgetUSD float64
}

// Command is what to run.
type Command struct {
	Args  []string // Args[0] is a program for PATH, or absolute
	Set   []string // KEY=VALUE
	Unset []string
}

// Find returns the brain of a name.
func Find(name string) (Brain, error) {
	var names []string
	for _, b := range Brains() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Brain{}, roster.Dataf("no brain is called %q", name).Hinted("there are: %s", strings.Join(names, ", "))
}

// Brains lists the built-in brains.
func Brains() []Brain {
	brains := []Brain{claude("claude", "")}
	for _, model := range []string{"opus", "sonnet", "haiku", "fable"} {
		brains = append(brains, claude(model, model))
	}
	return append(brains,
		// It plays a script of tool calls through the very hooks that a real agent
		// would call: for demos and tests, without a key or a network.
		Brain{Name: "scripted", Hooks: true, args: scriptedArgs, dialog: noText, draft: promptDraft},
		// A plain shell is for a person, or for an agent that fleet doesn't know.
		Brain{Name: "shell", Program: cmp.Or(os.Getenv("SHELL"), "/bin/sh"), args: noArgs, dialog: noText, draft: noText},
	)
}

func noArgs(Job) []string  { return nil }
func noText(string) string { return "" }

func scriptedArgs(j Job) []string {
	args := []string{"play", "--settings", j.Settings, "--script", j.Script}
	if j.Mode == roster.Headless {
		args = append(args, "--turn", strconv.Itoa(j.Attempt))
	}
	return append(args, j.Prompt)
}

// MissingError says that a program that is needed isn't installed.
type MissingError struct {
	Program string
	For     string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: not found in PATH, and %s needs it", e.Program, e.For)
}

// Installed reports, by a *MissingError, if the brain's program isn't there.
func (b Brain) Installed() error {
	if b.Program == "" {
		return nil
	}
	if _, err := exec.LookPath(b.Program); err != nil {
		return &MissingError{Program: b.Program, For: "the brain " + b.Name}
	}
	return nil
}

// Remembers reports whether a conversation of the agent's is still there to be gone on with.
func (b Brain) Remembers(session string) bool {
	return session != "" && b.recall != nil && b.recall(session)
}

// Command returns how to start the agent. exe is the fleet program.
func (b Brain) Command(exe string, j Job) Command {
	c := Command{
		Args:  append([]string{cmp.Or(b.Program, exe)}, b.args(j)...),
		Set:   slices.Clone(b.set),
		Unset: slices.Concat(everywhere, b.unset),
	}
	if j.Trust {
		c.Set = append(c.Set, b.trust...)
	}
	return c
}

// everywhere are variables that no worker gets: with TMUX in its environment, a
// worker that tests something of its own with tmux would reach the fleet's server.
var everywhere = []string{"TMUX", "TMUX_PANE"}

// WaitsFor reads from an agent's screen what dialog it waits at, "" if none is
// known. Dialogs are never answered, only reported.
func (b Brain) WaitsFor(screen string) string { return b.dialog(screen) }

// Draft reads from an agent's screen what stands in its input, not yet sent.
func (b Brain) Draft(screen string) string { return b.draft(screen) }

// promptDraft is the text behind the last prompt sign of a screen.
func promptDraft(screen string) string {
	draft := ""
	for line := range strings.Lines(screen) {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " │"), "❯"); ok {
			draft = strings.Trim(rest, " \u00a0│\n")
		}
	}
	return draft
}
