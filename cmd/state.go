package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newState(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "state", GroupID: "look",
		Short: "Show the whole state of the run as JSON: workstreams, tasks, leases, alerts, waits, lanes, counts and the last event",
		RunE:  a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error { return a.printState(ctx, f) }),
	}
}

func (a *app) printState(ctx context.Context, f *master.Fleet) error {
	snap, err := f.Snapshot(ctx)
	if err != nil {
		return err
	}
	return printJSON(a.out, snap)
}

func newLeases(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "leases", GroupID: "look",
		Short: "Show which files are held, by whom and since when",
	}
	return a.onView(c, func(_ *rundir.Dir, s *roster.State) (view, error) {
		v := view{doc: map[string]any{"leases": master.Leases(s)}, header: []string{"PATH", "HOLDER", "TASK", "TOOL", "SINCE"}}
		for _, l := range master.Leases(s) {
			v.row(l.Path, l.WS, orDash(l.Task), l.Tool, (time.Duration(l.Age) * time.Second).String())
		}
		return v, nil
	})
}

func newConflicts(a *app) *cobra.Command {
	var resolved, asJSON bool
	c := &cobra.Command{
		Use: "conflicts", GroupID: "look",
		Short: "Show the writes that were denied, and whether the tasks that wanted them have succeeded since",
	}
	c.RunE = a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
		var only *bool
		if c.Flags().Changed("resolved") {
			only = &resolved
		}
		conflicts, err := f.Conflicts(ctx, only)
		if err != nil {
			return err
		}
		v := conflictView(conflicts)
		return v.print(a.out, asJSON)
	})
	c.Flags().BoolVar(&resolved, "resolved", false, "only those that are resolved; --resolved=false: only the others")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func conflictView(conflicts []roster.Conflict) view {
	v := view{
		doc:    map[string]any{"conflicts": conflicts},
		header: []string{"AT", "PATH", "TASK", "WS", "HOLDER TASK", "HOLDER", "REASON", "STATE"},
	}
	for _, c := range conflicts {
		state := "open"
		if c.Resolved {
			state = "resolved"
		}
		v.row(c.At.Local().Format("15:04:05"), c.Path, orDash(c.Task), c.Requester, orDash(c.HolderTask), orDash(c.Holder), c.Reason, state)
	}
	return v
}
