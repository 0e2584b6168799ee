package cmd

import (
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/demo"
	"fleet/roster"
)

func newDemo(a *app) *cobra.Command {
	var o demo.Options
	c := &cobra.Command{
		Use: "demo", GroupID: "run",
		Short: "Show it: five tasks, three workers, one denied write, nothing lost",
		Long: `Makes a throw-away repository, runs a graph of five tasks on three workers in real tmux
panes, and shows what happens when two of them need one file. At the end the
repository's own tests must pass. The scripted brain needs no key and no network;
--brain claude does it with the real thing. Exit 1 if a task or the tests failed,
or if no write was denied.`,
		Example: "  fleet demo\n  fleet demo --brain claude\n  fleet demo --keep      leave the repository and the run dir behind",
		RunE: a.forMaster(func(c *cobra.Command, _ []string) (err error) {
			brain, err := agent.Find(o.Brain)
			if err != nil {
				return err
			}
			if !brain.Hooks {
				return roster.Usagef("--brain %s: it has no hooks, so there is nothing to show", o.Brain)
			}
			if o.Exe, err = executable(); err != nil {
				return err
			}
			o.Out, o.Color = a.out, a.painter()
			ok, err := demo.Run(c.Context(), o)
			if err == nil && !ok {
				err = &codedError{code: exitFailed}
			}
			return err
		}),
	}
	c.Flags().StringVar(&o.Brain, "brain", "scripted", "the agent of the three workers")
	c.Flags().DurationVar(&o.Limit, "timeout", 15*time.Minute, "of the whole")
	c.Flags().BoolVar(&o.Keep, "keep", false, "leave the repository and the run dir behind")
	return c
}
