package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/lane"
)

func newLanePanel(a *app, run *runName) *cobra.Command {
	s := laneSpawn{Packet: lane.Packet{Phase: "build"}}
	var brains []string
	var judge string
	c := &cobra.Command{
		Use:   "panel",
		Short: "Give one prompt to several agents, and have another choose the best result",
		Long: `Makes the lanes <id>-1, <id>-2 and so on, one for each brain, isolated from each other, and
a lane <id>-judge, which sees what each replied and changed. Prints the choice as JSON. Ends
with 10 if no result counts, or the judge finds none of them good enough.
The judge's prompt is lanes/JUDGE.md of the run.`,
		Example: "  fleet lane panel --run port --id parser --prompt-file parser.md --brains claude,codex,grok --judge opus",
		RunE: a.forMaster(a.pattern(run, &s, func(ctx context.Context, f *master.Fleet) error {
			choice, err := f.Panel(ctx, s.Packet, brains, judge, s.LaneOptions)
			if err != nil {
				return err
			}
			if err := printJSON(a.out, choice); err != nil {
				return err
			}
			if choice.Winner == "" {
				return &codedError{code: exitGate, msg: "the judge finds none of them good enough"}
			}
			return nil
		})),
	}
	packetFlags(c, &s)
	c.Flags().StringSliceVar(&brains, "brains", []string{"claude", "codex"}, "who attempts it; one may be named twice")
	c.Flags().StringVar(&judge, "judge", "opus", "who chooses")
	return c
}

func newLaneVerify(a *app) *cobra.Command {
	var o master.LaneOptions
	var brains []string
	c := &cobra.Command{
		Use:   "verify <id>",
		Short: "Have several agents try to refute the result of a lane",
		Long: `Makes the lanes <id>-refute-1 and so on, one for each brain, of which at least one must use
another service than the lane did. Prints their votes as JSON. The result stands if more than half
of them fail to refute it; otherwise this ends with 10. A refuter that isn't sure, or doesn't answer,
counts as one that refutes. Their prompt is lanes/REFUTE.md of the run.`,
		Example: "  fleet lane verify --run port parser --brains opus,codex,grok",
		Args:    args(1, 1),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error {
			if err := a.waves(&o, true); err != nil {
				return err
			}
			stands, votes, err := f.Verify(ctx, args[0], brains, o)
			if err != nil {
				return err
			}
			if err := printJSON(a.out, map[string]any{"lane": args[0], "stands": stands, "votes": votes}); err != nil {
				return err
			}
			if !stands {
				return &codedError{code: exitGate, msg: args[0] + " does not stand"}
			}
			return nil
		})),
	}
	c.Flags().StringSliceVar(&brains, "brains", []string{"opus", "codex", "sonnet"}, "the refuters")
	waveFlag(c, &o)
	return c
}

func newLaneLoop(a *app, run *runName) *cobra.Command {
	s := laneSpawn{Packet: lane.Packet{Phase: "scout"}}
	var rounds int
	c := &cobra.Command{
		Use:   "loop",
		Short: "Ask for a list again and again, until nothing new is found",
		Long: `Makes the lanes <id>-1, <id>-2 and so on, one after the other. Each is told what the ones before
have found. Prints each item once. It ends when two rounds have added nothing, or with 1 after --rounds.
The prompt around yours is lanes/ROUND.md of the run.`,
		Example: "  fleet lane loop --run audit --id races --prompt-file races.md --brain opus",
		PreRunE: func(*cobra.Command, []string) error {
			if rounds < 1 {
				return roster.Usagef("--rounds wants 1 or more")
			}
			return nil
		},
		RunE: a.forMaster(a.pattern(run, &s, func(ctx context.Context, f *master.Fleet) error {
			if s.Brain == "" {
				s.Brain = f.Dir.Config.Brain
			}
			whole, err := f.Loop(ctx, s.Packet, rounds, s.LaneOptions, func(item string) { fmt.Fprintln(a.out, roster.Flat(item)) })
			if err == nil && !whole {
				return &codedError{code: exitFailed, msg: fmt.Sprintf("there may be more than %s found", roster.Several(rounds, "round"))}
			}
			return err
		})),
	}
	packetFlags(c, &s)
	c.Flags().StringVar(&s.Brain, "brain", "", "the agent (default: the run's)")
	c.Flags().IntVar(&rounds, "rounds", 10, "how many there are at most")
	return c
}

// packetFlags are those of a packet that a pattern is about.
func packetFlags(c *cobra.Command, s *laneSpawn) {
	c.Flags().StringVar(&s.ID, "id", "", "name of the lanes: a-z, 0-9 and -")
	c.Flags().StringVar(&s.PromptFile, "prompt-file", "", "the prompt")
	waveFlag(c, &s.LaneOptions)
}

// pattern is a verb that starts from a packet.
func (a *app) pattern(run *runName, s *laneSpawn, do func(context.Context, *master.Fleet) error) runE {
	return func(c *cobra.Command, _ []string) error {
		if s.ID == "" || s.PromptFile == "" {
			return roster.Usagef("%s: give --id and --prompt-file", verb(c))
		}
		if err := s.Check(); err != nil {
			return err
		}
		if err := absolute(&s.Packet); err != nil {
			return err
		}
		if err := a.waves(&s.LaneOptions, true); err != nil {
			return err
		}
		if err := run.make(); err != nil {
			return err
		}
		f, err := a.fleet(c.Context())
		if err != nil {
			return err
		}
		return do(c.Context(), f)
	}
}
