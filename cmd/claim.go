package cmd

import (
	"github.com/spf13/cobra"

	"fleet/roster"
)

func newClaim(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "claim <WSxx> <path>...", GroupID: "who",
		Short: "Reserve paths, directories or globs for a workstream",
		Long: `Reserves paths for a workstream, all of them or none. A path that another live
workstream claims, or is writing, is refused. A directory covers what is below it;
a glob is compared by the directory before its first wildcard.`,
		Example: "  fleet claim WS01 api/ docs/api.md\n  fleet claim WS02 'web/**/*.css'",
		Args:    args(2, -1),
		RunE:    a.onRow((*roster.State).Claim),
	}
}

func newRelease(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "release <WSxx> [<path>...]", GroupID: "who",
		Short: "Give up claims and leases of a workstream",
		Long: `Gives up the claim and the lease that a workstream has on each path. With --all,
every one. A lease that is released while its worker is in the middle of a write
no longer protects that write.`,
		Example: "  fleet release WS01 docs/api.md\n  fleet release WS01 --all",
		Args:    args(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := allOrNamed(c, "paths", all, args[1:]); err != nil {
				return err
			}
			return a.onRow(func(s *roster.State, ws string, paths []string) error {
				claims, leases, err := s.Release(ws, paths)
				if err == nil {
					a.talk("released claims: %s; leases: %s", listOr("none", claims), listOr("none", leases))
				}
				return err
			})(c, args)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "everything that it claims and holds")
	return c
}
