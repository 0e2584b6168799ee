package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"fleet/hooks"
	"fleet/internal/scripted"
)

// The commands that fleet calls itself: in panes, from tmux, from agents' settings.

func newPane(a *app) *cobra.Command {
	var epoch, spare int
	var trust bool
	c := &cobra.Command{
		Use: "pane <WSxx>", Hidden: true,
		Short: "Run a worker in this terminal (called in panes)",
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := a.fleet(c.Context())
			if err != nil {
				return err
			}
			run := func() (int, error) { return f.RunPane(c.Context(), args[0], epoch, trust) }
			if spare > 0 {
				run = func() (int, error) { return f.RunSpare(c.Context(), args[0], spare, trust) }
			}
			code, err := run()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "\n[fleet] the agent of %s has ended with code %d. Again: fleet spawn %s\n", args[0], code, args[0])
			return &codedError{code: code}
		},
	}
	c.Flags().IntVar(&epoch, "epoch", 0, "incarnation")
	c.Flags().IntVar(&spare, "spare", 0, "stand by as the spare of this number")
	c.Flags().BoolVar(&trust, "trust", false, "start the agent without its trust dialog")
	return c
}

func newReap(a *app) *cobra.Command {
	var epoch int
	c := &cobra.Command{
		Use: "reap <WSxx>", Hidden: true,
		Short: "Declare a worker dead if it is gone (called by tmux when a pane's program ends)",
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := a.fleet(c.Context())
			if err != nil {
				return err
			}
			return f.Reap(c.Context(), args[0], epoch)
		},
	}
	c.Flags().IntVar(&epoch, "epoch", 0, "incarnation")
	return c
}

func newPlay(a *app) *cobra.Command {
	var settings, script string
	c := &cobra.Command{
		Use: "play <prompt>", Hidden: true,
		Short: "Be the scripted agent (called in panes)",
		Args:  args(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := scripted.New(settings, script, a.out)
			if err != nil {
				return err
			}
			prompt := ""
			if len(args) == 1 {
				prompt = args[0]
			}
			return p.Run(c.Context(), prompt, a.in)
		},
	}
	c.Flags().StringVar(&settings, "settings", "", "hook settings")
	c.Flags().StringVar(&script, "script", "", "what to do")
	return c
}

// newHook is there for the help and for odd calls; package hooks/early answers what agents ask.
func newHook(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "hook <event> [<WSxx>]", GroupID: "agents",
		Short: "Answer an event of an agent (called by its hooks)",
		Long: `Reads the event as JSON from stdin and answers with at most one JSON object. The
settings that fleet gives to its workers call it; nobody needs to call it by hand.
Outside of a fleet it does nothing. The exit code is 0, or 2 to block.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := hooks.Main(args, a.in, a.out, a.getenv); code != 0 {
				return &codedError{code: code}
			}
			return nil
		},
	}
}
