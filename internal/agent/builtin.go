package agent

import (
	"os"
	"strconv"

	"fleet/roster"
)

// scripted plays a script of tool calls through the very hooks that a real
// agent would call: for demos and tests, without a key or a network.
func scripted() Brain {
	return Brain{
		Name: "scripted", Hooks: true,
		draft: promptDraft,
		args: func(j Job) []string {
			args := []string{"play", "--settings", j.Settings, "--script", j.Script}
			if j.Mode == roster.Headless {
				args = append(args, "--turn", strconv.Itoa(j.Attempt))
			}
			return append(args, j.Prompt)
		},
	}
}

// shell is a plain shell for a person, or for an agent that fleet doesn't know.
func shell() Brain {
	program := os.Getenv("SHELL")
	if program == "" {
		program = "/bin/sh"
	}
	return Brain{
		Name: "shell", Program: program,
		args: func(Job) []string { return nil },
	}
}
