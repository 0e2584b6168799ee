package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"fleet/roster"
	"fleet/roster/rundir"
)

func newState(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "state", GroupID: "look",
		Short: "Show the whole state of the run as JSON: workstreams, tasks, leases, counts and the last event",
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.view(c.Context(), func(d *rundir.Dir, s *roster.State) error {
				last, err := d.LastEvent()
				if err != nil {
					return err
				}
				return printJSON(a.out, map[string]any{
					"run": d.Slug(), "run_dir": d.Path, "now": roster.Time{Time: s.Now}, "workstreams": statusRows(d, s), "tasks": s.TaskViews(),
					"leases": slices.AppendSeq([]roster.Lease{}, s.Leases.All()), "counters": s.Tally(), "last_event_id": last,
				})
			})
		},
	}
}

func newConflicts(a *app) *cobra.Command {
	var resolved, asJSON bool
	c := &cobra.Command{
		Use: "conflicts", GroupID: "look",
		Short: "Show the writes that were denied, and whether the tasks that wanted them have succeeded since",
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := a.dir(c.Context())
			if err != nil {
				return err
			}
			var only *bool
			if c.Flags().Changed("resolved") {
				only = &resolved
			}
			var denials []roster.Event
			err = each(d.Events(0), func(e roster.Event) error { // before the lock: a log may be long, and hooks don't wait for long
				if e.Type == roster.LeaseDenied {
					denials = append(denials, e)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return d.View(c.Context(), func(s *roster.State) error {
				return a.printConflicts(s.Conflicts(denials), only, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&resolved, "resolved", false, "only those that are resolved; --resolved=false: only the others")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func (a *app) printConflicts(all []roster.Conflict, only *bool, asJSON bool) error {
	conflicts := slices.DeleteFunc(all, func(c roster.Conflict) bool { return only != nil && c.Resolved != *only })
	if asJSON {
		return printJSON(a.out, map[string]any{"conflicts": conflicts})
	}
	cells := make([][]string, len(conflicts))
	for i, c := range conflicts {
		state := "open"
		if c.Resolved {
			state = "resolved"
		}
		cells[i] = []string{c.At.Local().Format("15:04:05"), c.Path, orDash(c.Task), c.Requester, orDash(c.HolderTask), orDash(c.Holder), c.Reason, state}
	}
	return printTable(a.out, []string{"AT", "PATH", "TASK", "WS", "HOLDER TASK", "HOLDER", "REASON", "STATE"}, cells)
}
