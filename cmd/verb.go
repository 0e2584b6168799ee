package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fleet/hooks"
	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

// A verb's RunE is one of these forms, which open what it needs and check who calls.
type runE = func(*cobra.Command, []string) error

// onRun is a verb that works on the files of the run.
func (a *app) onRun(do func(context.Context, *rundir.Dir, []string) error) runE {
	return func(c *cobra.Command, args []string) error {
		d, err := a.dir(c.Context())
		if err != nil {
			return err
		}
		return do(c.Context(), d, args)
	}
}

// onFleet is a verb that acts on workers, tmux or git.
func (a *app) onFleet(do func(context.Context, *master.Fleet, []string) error) runE {
	return func(c *cobra.Command, args []string) error {
		f, err := a.fleet(c.Context())
		if err != nil {
			return err
		}
		return do(c.Context(), f, args)
	}
}

// onRow is a verb that applies one transition to the workstream that it names first.
func (a *app) onRow(rule func(s *roster.State, ws string, rest []string) error) runE {
	return func(c *cobra.Command, args []string) error {
		return a.update(c.Context(), args[0], func(s *roster.State) error { return rule(s, args[0], args[1:]) })
	}
}

// forMaster is a verb that workers may not use.
func (a *app) forMaster(run runE) runE {
	return func(c *cobra.Command, args []string) error {
		if err := a.masterOnly(verb(c)); err != nil {
			return err
		}
		return run(c, args)
	}
}

// onView is a verb that shows a snapshot of the run: a table, or a document with --json.
func (a *app) onView(c *cobra.Command, look func(*rundir.Dir, *roster.State) (view, error)) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "for programs")
	c.RunE = a.onRun(func(ctx context.Context, d *rundir.Dir, _ []string) error {
		return d.View(ctx, func(s *roster.State) error {
			v, err := look(d, s)
			if err != nil {
				return err
			}
			return v.print(a.out, *asJSON)
		})
	})
	return c
}

// masterOnly refuses a verb to workers: they start, stop and tell nobody.
func (a *app) masterOnly(verb string) error {
	if ws := a.getenv(hooks.EnvWS); ws != "" {
		return roster.Refusef("%s is a worker, and %s is for the master", ws, verb).Hinted("say in your last message what you need")
	}
	return nil
}

// update applies a transition for a workstream. A worker acts for itself alone,
// and only while it is the present incarnation.
func (a *app) update(ctx context.Context, ws string, fn func(*roster.State) error) error {
	d, err := a.dir(ctx)
	if err != nil {
		return err
	}
	return d.Update(ctx, func(s *roster.State) error {
		if err := a.mayActFor(s, ws); err != nil {
			return err
		}
		return fn(s)
	})
}

// fleetFor opens the run for a verb that a worker may use for itself.
func (a *app) fleetFor(ctx context.Context, ws string) (*master.Fleet, error) {
	f, err := a.fleet(ctx)
	if err != nil {
		return nil, err
	}
	return f, f.Dir.View(ctx, func(s *roster.State) error { return a.mayActFor(s, ws) })
}

// mayActFor refuses what a worker wants to do for another, or when it counts no more.
func (a *app) mayActFor(s *roster.State, ws string) error {
	switch caller := a.getenv(hooks.EnvWS); caller {
	case "":
		return nil
	case ws:
		return s.Fence(ws, a.epoch())
	default:
		return roster.Refusef("%s is a worker and can't act for %s", caller, ws)
	}
}

// verb is what the user calls a command, without the program's name.
func verb(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "fleet ") }

// args checks the number of arguments of a verb; most < 0 is any number.
func args(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		if len(got) < least || most >= 0 && len(got) > most {
			return roster.Usagef("%s: wrong number of arguments", verb(c)).Hinted("usage: %s", c.UseLine())
		}
		return nil
	}
}

// allOrNamed refuses a call that gives both names and --all, or neither.
func allOrNamed(c *cobra.Command, what string, all bool, names []string) error {
	if all == (len(names) > 0) {
		return roster.Usagef("%s: want %s, or --all", verb(c), what).Hinted("usage: %s", c.UseLine())
	}
	return nil
}
