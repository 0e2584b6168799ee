package cmd

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
)

type landOptions struct {
	master.LandOptions
	all, dryRun bool
}

func newLand(a *app) *cobra.Command {
	var o landOptions
	c := &cobra.Command{
		Use: "land <WSxx>...", GroupID: "git",
		Short: "Bring workstreams into the base branch, tested, one after the other",
		Long: `Brings the commits of workstreams into the base branch, which moves only to a commit
on which the test (--test, or FLEET_TEST) has succeeded in a worktree of its own.
A conflict, a forbidden line or a failed test leaves the branch where it was, marks
the workstream blocked with the reason, and exits 10. What has landed loses its
worktree and its branch; the worktrees of the others are rebased.
A workstream of the main checkout is marked as landed, at the commit that is there.
If it is interrupted, even killed, the next one finishes what it had begun.`,
		Example: "  fleet land WS01 --test 'go test ./...'\n  fleet land --all --dry-run        the order, and who would meet a conflict",
		Args:    args(0, -1),
		PreRunE: func(c *cobra.Command, ids []string) error { return allOrNamed(c, "workstreams", o.all, ids) },
		RunE:    a.forMaster(func(c *cobra.Command, ids []string) error { return a.runLand(c, ids, o) }),
	}
	c.Flags().BoolVar(&o.all, "all", false, "every workstream that is done, the one that was done first ahead")
	c.Flags().BoolVar(&o.MergeCommit, "no-ff", false, "make a merge commit; else the branch moves forward")
	c.Flags().StringVar(&o.Test, "test", "", "shell `command` that must succeed first (default: FLEET_TEST of the run)")
	c.Flags().StringVar(&o.Forbid, "forbid", "", "regular expression that no added line may match (default: FLEET_FORBID of the run)")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "change nothing; tell the order and foresee conflicts")
	return c
}

func newRevert(a *app) *cobra.Command {
	var test string
	c := &cobra.Command{
		Use: "revert <WSxx>", GroupID: "git",
		Short: "Undo on the base branch what a workstream has landed",
		Long: `Makes one commit that undoes what a workstream has landed, and moves the base branch to it
when the test has succeeded. The workstream is done again, and not landed.`,
		Example: "  fleet revert WS02",
		Args:    args(1, 1),
		RunE: a.forMaster(func(c *cobra.Command, args []string) error {
			l, done, err := a.lander(c, master.LandOptions{Test: test})
			if err != nil {
				return err
			}
			defer done()
			sha, err := l.Revert(c.Context(), args[0])
			if err == nil {
				fmt.Fprintf(a.out, "reverted %s %s\n", args[0], roster.ShortSHA(sha))
			}
			return err
		}),
	}
	c.Flags().StringVar(&test, "test", "", "shell `command` that must succeed first (default: FLEET_TEST of the run)")
	return c
}

// lander opens the queue with what the run's settings say of it.
func (a *app) lander(c *cobra.Command, o master.LandOptions) (*master.Lander, func(), error) {
	f, err := a.fleet(c.Context())
	if err != nil {
		return nil, nil, err
	}
	o.Test = cmp.Or(o.Test, f.Dir.Config.Test)
	if !c.Flags().Changed("forbid") { // an empty one forbids nothing
		o.Forbid = f.Dir.Config.Forbid
	}
	return f.Lander(c.Context(), o, a.talk)
}

func (a *app) runLand(c *cobra.Command, ids []string, o landOptions) error {
	ctx := c.Context()
	l, done, err := a.lander(c, o.LandOptions)
	if err != nil {
		return err
	}
	defer done()
	if o.all {
		err := l.Dir.View(ctx, func(s *roster.State) error { ids = s.Ready(); return nil })
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		a.talk("nothing to land: no workstream is done")
	}
	if o.dryRun {
		return a.foresee(ctx, l, ids)
	}
	if l.Test == "" && len(ids) > 0 {
		a.talk("note: nothing is tested before it lands; --test or FLEET_TEST says how")
	}
	var last error
	for _, id := range ids {
		sha, err := l.Land(ctx, id)
		if err != nil {
			if last != nil {
				a.report(last)
			}
			last = err
			continue
		}
		fmt.Fprintf(a.out, "landed %s %s\n", id, roster.ShortSHA(sha))
	}
	return last
}

func (a *app) foresee(ctx context.Context, l *master.Lander, ids []string) error {
	plans, err := l.Foresee(ctx, ids)
	bad := false
	for _, p := range plans {
		fmt.Fprintln(a.out, p)
		bad = bad || p.Refused != nil || len(p.Conflicts) > 0
	}
	if err == nil && bad {
		return &codedError{code: exitFailed}
	}
	return err
}
