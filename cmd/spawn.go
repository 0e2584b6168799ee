package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

type spawnOptions struct {
	master.SpawnOptions
	dryRun, noTmux, here, noWait bool
	spares                       int
}

func newSpawn(a *app) *cobra.Command {
	var o spawnOptions
	c := &cobra.Command{
		Use: "spawn <WSxx>...", GroupID: "who",
		Short: "Start the workers of workstreams, each in a tmux pane",
		Long: `Starts an agent for each workstream, in a pane of the run's own tmux server, and waits
until its session-start hook has reported. The first prompt is one line that names
its brief. A dialog at which an agent waits is reported, never answered.`,
		Example: `  fleet spawn WS01 WS02
  fleet spawn WS01 --dry-run       show what would be done
  fleet spawn WS01 --here          in this terminal
  fleet spawn WS01 --spares 1      have an agent stand by, also beside a worker that runs
  fleet spawn WS01 --no-tmux       print the command to run in a terminal of yours`,
		Args: args(1, -1),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error { return a.runSpawn(ctx, f, ids, o) })),
	}
	f := c.Flags()
	f.StringVar(&o.Brain, "brain", "", "another agent than the workstream's own")
	f.BoolVar(&o.Headless, "headless", false, "without a screen of its own: a session for each task (claude -p), until none is left")
	f.BoolVar(&o.Resume, "resume", false, "go on with the conversation of its last worker, where the agent still has it")
	f.BoolVar(&o.Trust, "trust", false, "start the agent without its question whether this folder is trusted")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the plan and change nothing")
	f.BoolVar(&o.noTmux, "no-tmux", false, "print the commands instead of running them in tmux")
	f.BoolVar(&o.here, "here", false, "run the worker in this terminal")
	f.BoolVar(&o.noWait, "no-wait", false, "do not wait until the agents have come up")
	f.BoolVar(&o.Ungated, "ungated", false, "start an agent that no hooks gate, although it has no worktree of its own")
	limitFlags(c, &o.Limits)
	f.IntVar(&o.spares, "spares", 0, "have this many agents with no task stand by in panes, for fleet handoff --to spare")
	return c
}

func (a *app) runSpawn(ctx context.Context, f *master.Fleet, ids []string, o spawnOptions) (err error) {
	if o.spares < 0 {
		return roster.Usagef("--spares %d: want 0 or more", o.spares)
	}
	o.Manual = o.here || o.noTmux
	if o.spares > 0 && !o.here && len(ids) == 1 && f.Dir.Alive(ids[0]) {
		p, err := f.PlanSpares(ctx, ids[0], o.SpawnOptions)
		if err != nil {
			return err
		}
		return a.standBy(ctx, f, master.Launched{Plan: p}, o)
	}
	plans := make([]master.Plan, len(ids))
	for i, id := range ids { // all of them are sound before the first is started
		if slices.Contains(ids[:i], id) {
			return roster.Usagef("%s is named twice", id)
		}
		if plans[i], err = f.Plan(ctx, id, o.SpawnOptions); err != nil {
			return err
		}
	}
	switch {
	case o.dryRun:
		return a.printPlans(ctx, f, plans, o)
	case o.here && (len(ids) > 1 || o.spares > 0):
		return roster.Usagef("--here takes one workstream, and no spares")
	case o.here:
		return a.spawnHere(ctx, f, ids[0], o)
	case o.noTmux:
		return a.printCommands(ctx, f, ids, o)
	}
	return a.spawnPanes(ctx, f, ids, o)
}

func (a *app) printPlans(ctx context.Context, f *master.Fleet, plans []master.Plan, o spawnOptions) error {
	for _, p := range plans {
		fmt.Fprintln(a.out, p)
		if err := a.standBy(ctx, f, master.Launched{Plan: p}, o); err != nil {
			return err
		}
	}
	return nil
}

// standBy has the spares of a worker stand by, or tells how that would be done.
func (a *app) standBy(ctx context.Context, f *master.Fleet, l master.Launched, o spawnOptions) error {
	for k := 1; k <= o.spares; k++ {
		switch {
		case o.dryRun:
			fmt.Fprintf(a.out, "PLAN spare %s-spare%d cwd=%s\n", l.WS.Name, k, l.Dir)
		case o.noTmux:
			a.printCommand(l.Dir, f.SpareArgs(l, k))
		default:
			if err := f.SpawnSpare(ctx, l, k); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "spare %s stands by\n", rundir.Spare(l.WS.ID, k))
		}
	}
	return nil
}

func (a *app) spawnHere(ctx context.Context, f *master.Fleet, id string, o spawnOptions) error {
	l, err := f.Launch(ctx, id, o.SpawnOptions)
	if err != nil {
		return err
	}
	code, err := f.RunPane(ctx, id, l.Epoch, l.PaneOptions)
	if err == nil && code != 0 {
		err = &codedError{code: exitGate, msg: fmt.Sprintf("the agent of %s ended with code %d", id, code)}
	}
	return err
}

func (a *app) printCommands(ctx context.Context, f *master.Fleet, ids []string, o spawnOptions) error {
	for _, id := range ids {
		l, err := f.Launch(ctx, id, o.SpawnOptions)
		if err != nil {
			return err
		}
		a.printCommand(l.Dir, f.PaneArgs(l))
		if err := a.standBy(ctx, f, l, o); err != nil {
			return err
		}
	}
	a.talk("run each line in a terminal of its own; the row says started once its agent is up")
	return nil
}

func (a *app) printCommand(dir string, argv []string) {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quote(w)
	}
	fmt.Fprintf(a.out, "cd %s && %s\n", quote(dir), strings.Join(words, " "))
}

// quote makes one word of s for a shell.
func quote(s string) string {
	word, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		panic(err) // only a NUL can't be quoted, and no argument or path has one
	}
	return word
}

// spawnPanes starts all workers one after the other and then waits for all of them.
func (a *app) spawnPanes(ctx context.Context, f *master.Fleet, ids []string, o spawnOptions) error {
	var started []master.Launched
	var failed error
	for _, id := range ids {
		l, err := f.Spawn(ctx, id, o.SpawnOptions)
		if err != nil {
			failed = fmt.Errorf("%s: %w", id, err)
			break
		}
		started = append(started, l)
		failed = errors.Join(failed, a.standBy(ctx, f, l, o))
	}
	if err := a.seeUp(ctx, f, started, !o.noWait); err != nil || failed != nil {
		return cmp.Or(failed, err)
	}
	a.talk("look at them: fleet attach")
	return nil
}

// seeUp says how workers came up that were started.
func (a *app) seeUp(ctx context.Context, f *master.Fleet, started []master.Launched, wait bool) error {
	notUp := 0
	for _, l := range started {
		up := master.Up{State: master.IsUp, Reason: "not waited for"}
		if wait {
			var err error
			if up, err = f.AwaitUp(ctx, l); err != nil {
				return err
			}
		}
		a.printUp(l, up)
		if up.State != master.IsUp {
			notUp++
		}
	}
	if notUp > 0 {
		return &codedError{code: exitGate, msg: fmt.Sprintf("%d of %d workers did not come up", notUp, len(started))}
	}
	return nil
}

func (a *app) printUp(l master.Launched, up master.Up) {
	state := string(up.State)
	if up.State == master.IsUp {
		state = "spawned"
	}
	fmt.Fprintf(a.out, "%s %s pane=%s brain=%s epoch=%d\n", state, l.WS.ID, l.Pane, l.Brain.Name, l.Epoch)
	if up.State == master.IsBlocked {
		a.talk("%s waits at %s\n  fleet attach, and answer it there (or start it with --trust)", l.WS.ID, up.Reason)
	} else if up.Reason != "" && up.State != master.IsUp {
		a.talk("%s: %s", l.WS.ID, strings.ReplaceAll(up.Reason, "\n", "\n  | "))
	}
	if !l.Brain.Hooks {
		a.talk("note: no hooks of %s gate what %s writes; it works in %s", l.Brain.Name, l.WS.ID, l.Dir)
	}
}
