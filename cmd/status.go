package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newStatus(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "status", GroupID: "look",
		Short: "Show the workstreams as a table",
		Long: `Shows one line a workstream: status, task, how many paths it claims and holds, the age
of its last sign of life, and its note. --tsv prints roster.tsv as it is.`,
		Example: "  fleet status\n  fleet status --json | jq '.workstreams[] | select(.status==\"blocked\")'",
	}
	a.onView(c, func(d *rundir.Dir, s *roster.State) (view, error) { return statusView(d, s), nil })
	shown := c.RunE
	tsv := c.Flags().Bool("tsv", false, "the raw roster")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case !*tsv:
			return shown(c, args)
		case c.Flags().Changed("json"):
			return roster.Usagef("status: --tsv or --json, not both")
		}
		return a.onRun(a.printRoster)(c, args)
	}
	return c
}

func (a *app) printRoster(_ context.Context, d *rundir.Dir, _ []string) error {
	text, err := d.RosterText()
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

func statusView(d *rundir.Dir, s *roster.State) view {
	rows := master.Rows(d, s)
	v := view{
		doc:    map[string]any{"run": d.Slug(), "run_dir": d.Path, "workstreams": rows},
		header: []string{"WS", "STATUS", "TASK", "CLAIMS", "HELD", "AGE", "NOTE"},
	}
	for _, r := range rows {
		v.row(r.ID, string(r.Status), short(r.Task, 40), strconv.Itoa(len(r.Claims)), strconv.Itoa(len(r.Held)),
			age(s.Now, r.Heartbeat), short(r.Notes, 60))
	}
	return v
}

// age is the time since a heartbeat in whole seconds, "-" when there was none.
func age(now time.Time, heartbeat int64) string {
	if heartbeat == 0 {
		return "-"
	}
	return fmt.Sprintf("%ds", max(0, now.Unix()-heartbeat))
}

func newLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "ls", GroupID: "look",
		Short: "List the runs of this repository",
		RunE: a.onRun(func(ctx context.Context, d *rundir.Dir, _ []string) error {
			found, err := rundir.Find(d.Root)
			for _, path := range found {
				err = errors.Join(err, a.listRun(ctx, path))
			}
			return err
		}),
	}
}

func (a *app) listRun(ctx context.Context, path string) error {
	d, err := rundir.Open(path)
	if err != nil {
		return err
	}
	return d.View(ctx, func(s *roster.State) error {
		alive := 0
		for _, w := range s.Workstreams {
			if d.Alive(w.ID) {
				alive++
			}
		}
		_, err := fmt.Fprintf(a.out, "%s\t%d workstreams\t%d workers alive\t%s\n", d.Slug(), len(s.Workstreams), alive, d.Path)
		return err
	})
}
