package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
)

func newHandoff(a *app) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "handoff <WSxx>", GroupID: "who",
		Short: "Write down where a workstream stands, for the worker that goes on",
		Long: `Writes handoffs/HANDOFF_<WSxx>.md from the roster and the working tree, and prints its
path. What stands in it outside of fleet's own part, such as notes of the agent's, is kept.

With --to spare the present worker is then ended, if there is one, and a spare that stands
by (fleet spawn --spares) becomes the next: its agent is started afresh in its pane, told to
read the handoff and the brief, and goes on with the same task and files.`,
		Example: `  fleet handoff WS01
  fleet handoff WS01 --to spare      the first that stands by
  fleet handoff WS01 --to spare2`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.runHandoff(c.Context(), args[0], to) },
	}
	c.Flags().StringVar(&to, "to", "", "`spare` that goes on in the worker's place, such as spare or spare2")
	return c
}

func (a *app) runHandoff(ctx context.Context, ws, to string) error {
	if to != "" {
		if err := a.masterOnly("handoff --to"); err != nil {
			return err
		}
	}
	k, err := spareNumber(to)
	if err != nil {
		return err
	}
	f, err := a.fleetFor(ctx, ws)
	if err != nil {
		return err
	}
	path, err := f.WriteHandoff(ctx, ws)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, path)
	if to == "" {
		return nil
	}
	l, err := f.HandOff(ctx, ws, k)
	if err != nil {
		return err
	}
	return a.seeUp(ctx, f, []master.Launched{l}, true)
}

// spareNumber reads the name of a spare; 0 is whichever stands by.
func spareNumber(name string) (int, error) {
	number, ok := strings.CutPrefix(name, "spare")
	if name == "" || ok && number == "" {
		return 0, nil
	}
	k, err := strconv.Atoi(number)
	if !ok || err != nil || k < 1 {
		return 0, roster.Usagef("--to %q: want spare, or one of them, such as spare1", name)
	}
	return k, nil
}
