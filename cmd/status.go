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

type statusOptions struct {
	keepOptions
	tsv, asJSON bool
}

func newStatus(a *app) *cobra.Command {
	var o statusOptions
	c := &cobra.Command{
		Use: "status", GroupID: "look",
		Short: "Show the workstreams as a table",
		Long: `Shows one line a workstream: status, task, how many paths it claims and holds, the age
of its last sign of life, its brain, and its note. --json is the whole state, as of fleet state,
and --out keeps that in a file, which is replaced whole. --tsv prints roster.tsv as it is.`,
		Example: "  fleet status\n  fleet status --json | jq '.workstreams[] | select(.status==\"blocked\")'\n  fleet status --json --watch 2 --out status.json",
	}
	c.RunE = a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
		if err := o.check(c); err != nil {
			return err
		}
		return a.runStatus(ctx, f, o)
	})
	c.Flags().BoolVar(&o.tsv, "tsv", false, "the raw roster")
	c.Flags().BoolVar(&o.asJSON, "json", false, "for programs")
	o.flags(c, "the state")
	return c
}

func (a *app) runStatus(ctx context.Context, f *master.Fleet, o statusOptions) error {
	switch {
	case o.tsv && (o.asJSON || o.out != ""):
		return roster.Usagef("status: --tsv, or --json and --out, not both")
	case o.tsv:
		return a.printRoster(f.Dir)
	case o.out != "":
		return o.keep(ctx, f, o.out)
	case o.asJSON:
		return a.printState(ctx, f)
	}
	return f.Dir.View(ctx, func(s *roster.State) error {
		v := statusView(f.Dir, s)
		return v.print(a.out, false)
	})
}

func (a *app) printRoster(d *rundir.Dir) error {
	text, err := d.RosterText()
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

func statusView(d *rundir.Dir, s *roster.State) view {
	v := view{header: []string{"WS", "STATUS", "TASK", "CLAIMS", "HELD", "AGE", "BRAIN", "NOTE"}}
	for _, r := range master.Rows(d, s) {
		v.row(r.ID, string(r.Status), short(r.Task, 40), strconv.Itoa(len(r.Claims)), strconv.Itoa(len(r.Held)),
			age(s.Now, r.Heartbeat), r.Brain, short(r.Notes, 60))
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
		_, err := fmt.Fprintf(a.out, "%s\t%s\t%s alive\t%s\n", d.Slug(), roster.Several(len(s.Workstreams), "workstream"), roster.Several(alive, "worker"), d.Path)
		return err
	})
}
