package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"fleet/roster"
)

func newHeartbeat(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "heartbeat <WSxx> [note...]", GroupID: "who",
		Short: "Give a sign of life, with a note for whoever looks",
		Long: `Sets the time of the last sign of life. A note replaces the one before; without
one it stays. A note that starts with "blocked:" reports the workstream blocked, one
that starts with "done:" ends its task: the way of agents that have no hooks.`,
		Example: `  fleet heartbeat WS01 "tests pass, writing the docs"`,
		Args:    args(1, -1),
		RunE:    a.onRow(saying((*roster.State).Heartbeat)),
	}
}

func newBlock(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "block <WSxx> <reason...>", GroupID: "who",
		Short: "Ask for a person: the workstream can't go on without one",
		Long: `Marks a workstream blocked, with the reason in its notes. It keeps its task and its
files; the next message that it takes sets it to work again.`,
		Example: `  fleet block WS01 "need the password of the staging database"`,
		Args:    args(2, -1),
		RunE:    a.onRow(saying((*roster.State).Block)),
	}
}

// saying is a rule whose text may be given in several words.
func saying(rule func(s *roster.State, ws, text string) error) func(*roster.State, string, []string) error {
	return func(s *roster.State, ws string, words []string) error {
		return rule(s, ws, strings.TrimSpace(strings.Join(words, " ")))
	}
}
