package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fleet/hooks/settings"
	"fleet/internal/git"
	"fleet/internal/proc"
)

func newHooks(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "hooks", GroupID: "agents",
		Short: "Gate the Claude Code sessions that you start yourself",
		Long: `Workers get their hooks from fleet. A session that you start by hand in the same
checkout has none, and could write a file that a worker holds. "hooks install" puts
one hook into .claude/settings.local.json of this repository: such a session may then
write whatever no worker holds. Everything else in that file stays as it is.`,
		Example: "  fleet hooks install\n  fleet hooks status\n  fleet hooks remove",
	}
	c.AddCommand(
		hooksVerb("install", "Put the hook in, once", a.forMaster, func(ctx context.Context, root string) error {
			exe, err := executable()
			if err != nil {
				return err
			}
			path, err := settings.Install(root, exe)
			if err != nil {
				return err
			}
			a.talk("installed in %s", path)
			places, err := git.In(proc.Run, root).Places(ctx)
			if err != nil {
				return err
			}
			return places.Exclude("/" + settings.Local) // or nobody could commit: the file is no worker's
		}),
		hooksVerb("remove", "Take the hook out", a.forMaster, func(_ context.Context, root string) error {
			path, err := settings.Remove(root)
			if err == nil {
				a.talk("removed from %s", path)
			}
			return err
		}),
		hooksVerb("status", "Show what is installed; exit 1 if nothing is", forAll, func(_ context.Context, root string) error {
			commands, err := settings.Installed(root)
			if err != nil {
				return err
			}
			for _, line := range commands {
				fmt.Fprintln(a.out, line)
			}
			if len(commands) == 0 {
				return &codedError{code: exitFailed, msg: "no hook of fleet's is installed here"}
			}
			return nil
		}),
	)
	return c
}

func forAll(run runE) runE { return run }

func hooksVerb(name, about string, who func(runE) runE, run func(ctx context.Context, root string) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: about,
		RunE: who(func(c *cobra.Command, _ []string) error {
			root, err := git.In(proc.Run, ".").MainRoot(c.Context())
			if err != nil {
				return err
			}
			return run(c.Context(), root)
		}),
	}
}
