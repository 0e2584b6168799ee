package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/master"
	"fleet/internal/proc"
	"fleet/internal/progress"
	"fleet/roster"
	"fleet/roster/rundir"
)

type runOptions struct {
	master.DrainOptions
	verify string
	dryRun bool
}

func newRun(a *app) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use: "run", GroupID: "what",
		Short: "Run the graph of tasks to its end, on headless workers",
		Long: `Starts headless workers as the open tasks need them, each in a tmux pane, and gives
out the tasks until none is left: dependencies first, retries with a growing wait,
a denied write when its file is free. Ends with a table, and exit 0 if every task has
succeeded and the command of --verify has, too.
Interrupted, it stops its workers; the next fleet run goes on where this one was.`,
		Example: "  fleet load graph.yaml && fleet run\n  fleet run --runners 5 --model sonnet --verify 'go test ./...'",
	}
	c.RunE = a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
		config := f.Dir.Config
		if !c.Flags().Changed("runners") {
			o.Runners = config.Runners
		}
		if !c.Flags().Changed("verify") {
			o.verify = config.Verify
		}
		o.Brain = cmp.Or(o.Brain, config.Brain)
		return a.runRun(ctx, f, o)
	}))
	fl := c.Flags()
	fl.IntVar(&o.Runners, "runners", 0, "workers for tasks that are pinned to nobody (default: FLEET_RUNNERS)")
	fl.StringVar(&o.Brain, "brain", "", "the agent of those workers (default: FLEET_BRAIN)")
	fl.BoolVar(&o.Ungated, "ungated", false, "start agents that no hooks gate, although they have no worktree of their own")
	limitFlags(c, &o.Limits)
	fl.StringVar(&o.verify, "verify", "", "command that must succeed at the end (default: FLEET_VERIFY)")
	fl.BoolVar(&o.dryRun, "dry-run", false, "show what would be started, and change nothing")
	return c
}

func (a *app) runRun(ctx context.Context, f *master.Fleet, o runOptions) error {
	if o.Runners < 0 {
		return roster.Usagef("--runners %d: want 0 or more", o.Runners)
	}
	brain, err := agent.Find(o.Brain)
	if err != nil {
		return err
	}
	if !brain.Headless() {
		return roster.Usagef("--brain %s: it takes no tasks by itself", o.Brain)
	}
	need, open, err := f.Needs(ctx, o.Runners, o.Brain)
	if err != nil {
		return err
	}
	if open == 0 {
		a.talk("no task is open: nothing to do")
		return nil
	}
	if o.dryRun {
		return a.printNeed(ctx, f, need, open)
	}
	o.Limits.Sealed = true
	after, err := f.Dir.LastEvent()
	if err != nil {
		return err
	}
	show, end := a.startShow(f, after)
	o.Said = show.say
	err = f.Drain(ctx, o.DrainOptions)
	end()
	if errors.Is(err, context.Canceled) {
		return &codedError{code: exitFailed, msg: "interrupted; fleet run goes on from here"}
	}
	if err != nil {
		return err
	}
	return a.finish(ctx, f, o.verify, show.denied)
}

func (a *app) printNeed(ctx context.Context, f *master.Fleet, n master.Need, open int) error {
	for _, id := range append(n.Own, n.Slots...) {
		fmt.Fprintf(a.out, "PLAN spawn %s\n", id)
	}
	if n.More > 0 {
		fmt.Fprintf(a.out, "PLAN spawn %d more for %d open tasks\n", n.More, open)
	}
	for _, brain := range n.Other {
		fmt.Fprintf(a.out, "PLAN spawn one of the brain %s\n", brain)
	}
	return f.Dir.View(ctx, func(s *roster.State) error {
		return printTable(a.out, taskHeader, taskCells(s.TaskViews()))
	})
}

// finish checks and sums up a graph that has been run to its end.
func (a *app) finish(ctx context.Context, f *master.Fleet, verify string, denied int) error {
	ok := true
	err := f.Dir.Update(ctx, func(s *roster.State) error {
		for i := range s.Tasks {
			ok = ok && (s.Tasks[i].Status == roster.TaskDone || s.Tasks[i].Status == roster.TaskCancelled)
		}
		s.RunEnded()
		return nil
	})
	if err != nil {
		return err
	}
	err = f.Dir.View(ctx, func(s *roster.State) error {
		fmt.Fprintln(a.out)
		if err := printTable(a.out, taskHeader, taskCells(s.TaskViews())); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.out, "\n%s\n", progress.Summary(s, denied))
		return err
	})
	if err == nil && ok && verify != "" {
		ok = a.verify(ctx, f, verify)
	}
	if err == nil && !ok {
		err = &codedError{code: exitFailed}
	}
	return err
}

func (a *app) verify(ctx context.Context, f *master.Fleet, command string) (ok bool) {
	out, err := proc.Shell(ctx, f.Dir.Root, command, f.Dir.Config.VerifyTimeout)
	if err != nil {
		fmt.Fprintf(a.out, "%s\n%s failed: %v\n", out, command, err)
		return false
	}
	fmt.Fprintf(a.out, "%s succeeded\n", command)
	return true
}

func newTick(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "tick", GroupID: "what",
		Short: "Let the scheduler look at the run once, and print what it decides",
		Long: `Every change of the run does this by itself. What only time brings, a backoff or a
deadline that passed, waits for the next change, for fleet run, fleet watch or this.`,
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			return f.Tick(ctx, func(d roster.Decision) {
				fmt.Fprintln(a.out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", d.Do, d.Task, d.WS)), " "))
			})
		})),
	}
}

func newReset(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reset", GroupID: "run",
		Short: "Forget the tasks, leases and events of the run; the workstreams stay",
		Long: `Removes every task with its brief and its results, every lease and every event. It
needs FLEET_ALLOW_RESET=on in fleet.env, and no worker may run.`,
		RunE: a.forMaster(a.onRun(func(ctx context.Context, d *rundir.Dir, _ []string) error { return d.Reset(ctx) })),
	}
}
