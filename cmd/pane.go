package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fleet/hooks"
	"fleet/hooks/shell"
	"fleet/internal/agent"
	"fleet/internal/master"
	"fleet/internal/scripted"
	"fleet/roster"
)

// The commands that fleet calls itself: in panes, from tmux, from agents' settings.

func newPane(a *app) *cobra.Command {
	var epoch, spare int
	var o master.PaneOptions
	c := &cobra.Command{
		Use: "pane <WSxx>", Hidden: true,
		Short: "Run a worker in this terminal (called in panes)",
		Args:  args(1, 1),
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error {
			run := func() (int, error) { return f.RunPane(ctx, args[0], epoch, o) }
			if spare > 0 {
				run = func() (int, error) { return f.RunSpare(ctx, args[0], spare, o.Trust) }
			}
			code, err := run()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "\n[fleet] the worker of %s has ended with code %d. Again: fleet spawn %s\n", args[0], code, args[0])
			return &codedError{code: code}
		}),
	}
	c.Flags().IntVar(&epoch, "epoch", 0, "incarnation")
	c.Flags().IntVar(&spare, "spare", 0, "stand by as the spare of this number")
	c.Flags().BoolVar(&o.Trust, "trust", false, "start the agent without its trust dialog")
	c.Flags().StringVar(&o.Session, "session", "", "go on with this conversation")
	c.Flags().BoolVar(&o.Serve, "serve", false, "headless: stay for whatever task comes")
	c.Flags().BoolVar(&o.Sealed, "sealed", false, "headless: only tools whose writes can be checked")
	c.Flags().BoolVar(&o.Ungated, "ungated", false, "no hooks gate it")
	limitFlags(c, &o.Limits)
	return c
}

// limitFlags are the bounds of headless sessions; what isn't given is the run's setting.
func limitFlags(c *cobra.Command, l *agent.Limits) {
	c.Flags().StringVar(&l.Model, "model", "", "model of headless workers (default: FLEET_MODEL, else their brain's own)")
	c.Flags().StringVar(&l.Effort, "effort", "", "how hard the model thinks, in the agent's own words, such as high (default: the agent's own)")
	c.Flags().DurationVar(&l.Timeout, "task-timeout", 0, "time of a headless worker for a task, such as 90s (default: FLEET_TASK_TIMEOUT)")
	c.Flags().IntVar(&l.MaxTurns, "max-turns", 0, "turns with the model that such a task may take (default: FLEET_MAX_TURNS)")
	c.Flags().Float64Var(&l.BudgetUSD, "task-budget-usd", 0, "what such a task may cost (default: FLEET_TASK_BUDGET_USD)")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if l.Timeout < 0 || l.MaxTurns < 0 || l.BudgetUSD < 0 {
			return roster.Usagef("%s: --task-timeout, --max-turns and --task-budget-usd want 0 or more", verb(c))
		}
		return nil
	}
}

func newReap(a *app) *cobra.Command {
	var epoch int
	c := &cobra.Command{
		Use: "reap <WSxx>", Hidden: true,
		Short: "Declare a worker dead if it is gone (called by tmux when a pane's program ends)",
		Args:  args(1, 1),
		RunE:  a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error { return f.Reap(ctx, args[0], epoch) }),
	}
	c.Flags().IntVar(&epoch, "epoch", 0, "incarnation")
	return c
}

func newPlay(a *app) *cobra.Command {
	var settings, script string
	var turn int
	c := &cobra.Command{
		Use: "play <prompt>", Hidden: true,
		Short: "Be the scripted agent (called in panes)",
		Args:  args(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := scripted.New(settings, script, a.out)
			if err != nil {
				return err
			}
			prompt := strings.Join(args, "") // one, or none
			if turn > 0 {
				if len(args) == 0 {
					text, err := io.ReadAll(a.in)
					if err != nil {
						return err
					}
					prompt = string(text)
				}
				return p.RunTask(c.Context(), prompt, turn)
			}
			return p.Run(c.Context(), prompt, a.in)
		},
	}
	c.Flags().StringVar(&settings, "settings", "", "hook settings")
	c.Flags().StringVar(&script, "script", "", "what to do")
	c.Flags().IntVar(&turn, "turn", 0, "play only the turn of this number, as a headless session")
	return c
}

// newHook is there for the help and for odd calls; package hooks/early answers what agents ask.
func newHook(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "hook <event> [<WSxx>]", GroupID: "agents", Args: cobra.ArbitraryArgs,
		Short: "Answer an event of an agent (called by its hooks)",
		Long: `Reads the event as JSON from stdin and answers with at most one JSON object. The
settings that fleet gives to its workers call it; nobody needs to call it by hand.
Outside of a fleet it does nothing. The exit code is 0, or 2 to block.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := hooks.Main(args, hooks.Host{Stdin: a.in, Stdout: a.out, Getenv: a.getenv, Shell: shell.Inspect}); code != 0 {
				return &codedError{code: code}
			}
			return nil
		},
	}
}
