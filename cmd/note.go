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
		RunE: func(c *cobra.Command, args []string) error {
			note := strings.TrimSpace(strings.Join(args[1:], " "))
			return a.update(c.Context(), args[0], func(s *roster.State) error { return s.Heartbeat(args[0], note) })
		},
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
		RunE: func(c *cobra.Command, args []string) error {
			reason := strings.TrimSpace(strings.Join(args[1:], " "))
			return a.update(c.Context(), args[0], func(s *roster.State) error { return s.Block(args[0], reason) })
		},
	}
}
