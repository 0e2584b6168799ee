package cmd

import (
	"strings"

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
		RunE: func(c *cobra.Command, args []string) error {
			return a.update(c.Context(), args[0], func(s *roster.State) error { return s.Claim(args[0], args[1:]) })
		},
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
			if all == (len(args) > 1) {
				return roster.Usagef("release: want paths, or --all").Hinted("usage: %s", c.UseLine())
			}
			return a.update(c.Context(), args[0], func(s *roster.State) error {
				claims, leases, err := s.Release(args[0], args[1:])
				if err == nil {
					a.talk("released claims: %s; leases: %s", listOrNone(claims), listOrNone(leases))
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "everything that it claims and holds")
	return c
}

func listOrNone(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, ", ")
}
