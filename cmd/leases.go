package cmd

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fleet/roster"
	"fleet/roster/rundir"
)

func newLeases(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "leases", GroupID: "look",
		Short: "Show which files are held, by whom and since when",
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.view(c.Context(), func(_ *rundir.Dir, s *roster.State) error {
				leases := slices.AppendSeq([]roster.Lease{}, s.Leases.All())
				if asJSON {
					return printJSON(a.out, map[string]any{"leases": leases})
				}
				rows := make([][]string, len(leases))
				for i, l := range leases {
					held := s.Now.Sub(l.AcquiredAt.Time).Truncate(time.Second)
					rows[i] = []string{l.Path, l.WS, cmp.Or(l.Task, "-"), l.Tool, held.String()}
				}
				return printTable(a.out, []string{"PATH", "HOLDER", "TASK", "TOOL", "SINCE"}, rows)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}
