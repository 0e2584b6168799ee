package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
)

func newCheckMain(a *app) *cobra.Command {
	var rebaseline bool
	c := &cobra.Command{
		Use: "check-main", GroupID: "git",
		Short: "Find what workers with trees of their own wrote into the main checkout",
		Long: `Compares what is dirty in the main checkout, by content, with its baseline: how it stood
when the first worker was started in a worktree, or at the last --rebaseline. Prints
"main-clean", or ends with 12 and prints a line a path: the path, "new" or "changed", and
the workstream that last wrote it, or else in its directory ("-" if none did), with tabs
in between. Before you change the main checkout yourself, check; afterwards, --rebaseline.`,
		Example: "  fleet check-main\n  fleet check-main --rebaseline",
		RunE: func(c *cobra.Command, args []string) error {
			if rebaseline {
				return a.forMaster(a.onFleet(a.rebaseline))(c, args)
			}
			return a.onFleet(a.checkMain)(c, args)
		},
	}
	c.Flags().BoolVar(&rebaseline, "rebaseline", false, "take the main checkout as it is for the new baseline")
	return c
}

func (a *app) rebaseline(ctx context.Context, f *master.Fleet, _ []string) error {
	n, err := f.Rebaseline(ctx)
	if err == nil {
		a.talk("the baseline of the main checkout has %s", roster.Several(n, "dirty path"))
	}
	return err
}

func (a *app) checkMain(ctx context.Context, f *master.Fleet, _ []string) error {
	found, err := f.Escapes(ctx)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintln(a.out, "main-clean")
		return nil
	}
	paths := make([]string, len(found))
	for i, e := range found {
		fmt.Fprintf(a.out, "%s\t%s\t%s\n", roster.Printable(e.Path), e.What, e.Near)
		paths[i] = quote(e.Path)
	}
	return &codedError{
		code: exitEscape, msg: fmt.Sprintf("the main checkout differs from its baseline in %s", roster.Several(len(found), "path")),
		hint: fmt.Sprintf("stop, and save them; in %s: git stash push -u -- %s", f.Dir.Root, strings.Join(paths, " ")),
	}
}
