package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/master"
)

func newSend(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "send <WSxx> <message...>", GroupID: "who",
		Short: "Type a message into a worker's pane, and see whether it arrived",
		Long: `Types a message into the pane of a worker and waits for the agent's own report that it
took it. Prints "delivered", "typed_only" (not seen to arrive; exit 1) or "unknown"
(tmux did not answer; exit 7). Refuses (66) while a dialog is up or somebody's draft
stands in the input. A long or many-lined message is sent as a file.`,
		Example: `  fleet send WS02 "use the v2 endpoint"`,
		Args:    args(2, -1),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error {
			d, err := f.Send(ctx, args[0], strings.Join(args[1:], " "))
			if d != "" {
				fmt.Fprintln(a.out, d)
			}
			switch {
			case err != nil:
				return err
			case d == master.TypedOnly:
				return &codedError{code: exitFailed, msg: "typed, but not seen to arrive: a busy agent takes it when its turn ends"}
			case d == master.Unknown:
				return &codedError{code: exitNoAnswer, msg: "tmux did not answer: whether the message was typed is not known"}
			}
			return nil
		})),
	}
}

func newStop(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "stop <WSxx>...", GroupID: "who",
		Short:   "End workers; their files are free at once and their tasks wait",
		Example: "  fleet stop WS02\n  fleet stop --all",
		Args:    args(0, -1),
		PreRunE: func(c *cobra.Command, ids []string) error { return allOrNamed(c, "workstreams", all, ids) },
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error {
			if all {
				return a.stopAll(ctx, f)
			}
			return a.stop(ctx, f, ids)
		})),
	}
	c.Flags().BoolVar(&all, "all", false, "every worker of the run, and the run's tmux server")
	return c
}

func (a *app) stopAll(ctx context.Context, f *master.Fleet) error {
	return f.StopAll(ctx, func(ws string) { fmt.Fprintf(a.out, "stopped %s\n", ws) })
}

func (a *app) stop(ctx context.Context, f *master.Fleet, ids []string) error {
	for _, id := range ids {
		ran, err := f.Stop(ctx, id)
		if err != nil {
			return err
		}
		if !ran {
			a.talk("%s had no worker", id)
			continue
		}
		fmt.Fprintf(a.out, "stopped %s\n", id)
	}
	return nil
}
