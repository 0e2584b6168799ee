package agent

import (
	"cmp"
	"os"
	"strconv"
	"syscall"
)

// scripted plays a script of tool calls through the very hooks that a real agent
// would call: for demos and tests, without a key or a network.
func scripted() Brain {
	return Brain{
		Name: "scripted", Commits: true, Hooks: true, read: readClaude, screen: screen{sign: "❯"},
		launch: func(j Job) (Command, error) {
			args := []string{"play", "--settings", j.Settings, "--script", j.Script}
			if j.headless() {
				args = append(args, "--turn", strconv.Itoa(j.Attempt))
			}
			return Command{Args: args}, nil
		},
	}
}

// shell is for a person, or for an agent that fleet doesn't know.
func shell() Brain {
	return Brain{
		Name: "shell", Program: cmp.Or(os.Getenv("SHELL"), "/bin/sh"),
		Stop:   syscall.SIGHUP, // at a terminal it ignores the other
		launch: func(Job) (Command, error) { return Command{mute: true}, nil },
	}
}
