package cmd

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fleet/roster"
	"fleet/roster/rundir"
)

func newStatus(a *app) *cobra.Command {
	var tsv, asJSON bool
	c := &cobra.Command{
		Use: "status", GroupID: "look",
		Short: "Show the workstreams as a table",
		Long: `Shows one line a workstream: status, task, how many paths it claims and holds, the age
of its last sign of life, and its note. --tsv prints roster.tsv as it is.`,
		Example: "  fleet status\n  fleet status --json | jq '.workstreams[] | select(.status==\"blocked\")'",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if tsv && asJSON {
				return roster.Usagef("status: --tsv or --json, not both")
			}
			d, err := a.dir(c.Context())
			if err != nil {
				return err
			}
			if tsv {
				text, err := d.RosterText()
				if err == nil {
					_, err = a.out.Write(text)
				}
				return err
			}
			return d.View(c.Context(), func(s *roster.State) error { return a.printStatus(d, s, asJSON) })
		},
	}
	c.Flags().BoolVar(&tsv, "tsv", false, "the raw roster")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

// statusRow is a workstream with what is derived about it.
type statusRow struct {
	roster.Workstream
	Held  []string `json:"held"`
	Alive bool     `json:"alive"` // its wrapper runs
}

func statusRows(d *rundir.Dir, s *roster.State) []statusRow {
	held := make(map[string][]string)
	for l := range s.Leases.All() {
		held[l.WS] = append(held[l.WS], l.Path)
	}
	rows := make([]statusRow, len(s.Workstreams))
	for i, w := range s.Workstreams {
		w.Claims = append([]string{}, w.Claims...) // never null, for programs that go through it
		rows[i] = statusRow{Workstream: w, Held: append([]string{}, held[w.ID]...), Alive: d.Alive(w.ID)}
	}
	return rows
}

func (a *app) printStatus(d *rundir.Dir, s *roster.State, asJSON bool) error {
	rows := statusRows(d, s)
	if asJSON {
		return printJSON(a.out, map[string]any{"run": d.Slug(), "run_dir": d.Path, "workstreams": rows})
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = []string{
			r.ID, string(r.Status), short(r.Task, 40), strconv.Itoa(len(r.Claims)), strconv.Itoa(len(r.Held)),
			age(s.Now, r.Heartbeat), short(r.Notes, 60),
		}
	}
	return printTable(a.out, []string{"WS", "STATUS", "TASK", "CLAIMS", "HELD", "AGE", "NOTE"}, cells)
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
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := a.dir(c.Context())
			if err != nil {
				return err
			}
			found, err := rundir.Find(d.Root)
			if err != nil {
				return err
			}
			for _, path := range found {
				if err := a.listRun(c, path); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) listRun(c *cobra.Command, path string) error {
	d, err := rundir.Open(path)
	if err != nil {
		return err
	}
	return d.View(c.Context(), func(s *roster.State) error {
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
