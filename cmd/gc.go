package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"fleet/internal/master"
)

func newGC(a *app) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "gc", GroupID: "git",
		Short: "Remove worktrees, branches and panes that are of no more use",
		Long: `Looks at the worktrees, branches and panes that this run has made, and prints a line for
each: REMOVE or KEEP, what, and why. Only what has landed whole, and panes whose program
has ended, go. Nothing dirty, unmerged, alive or not this run's is ever removed.
Lock files stay: to remove one is to let two in. Databases are "fleet db-clean"'s.`,
		Example: "  fleet gc --dry-run\n  fleet gc",
		RunE: a.forMaster(func(c *cobra.Command, _ []string) error {
			l, done, err := a.lander(c, master.LandOptions{})
			if err != nil {
				return err
			}
			defer done()
			all, err := l.Leftovers(c.Context())
			for _, left := range all {
				verb := "KEEP"
				if left.Removable() {
					verb = "REMOVE"
				}
				if left.Removable() && !dryRun {
					if refused := left.Remove(c.Context()); refused != nil {
						verb, left.Why = "KEEP", refused.Error()
					}
				}
				fmt.Fprintf(a.out, "%s %s: %s\n", verb, left.What, left.Why)
			}
			return err
		}),
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	return c
}
