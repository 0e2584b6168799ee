package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/git"
	"fleet/internal/master"
	"fleet/internal/proc"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

type initOptions struct {
	worktree string
	db       string
	brain    string
}

func newInit(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init <slug>", GroupID: "run",
		Short: "Make the run dir planning/fleet-<slug>/",
		Long: `Makes planning/fleet-<slug>/ at the root of the repository and prints its path.
git ignores it. The settings of the run are in its fleet.env.`,
		Example: "  fleet init shop\n  fleet init shop --worktree      each worker in a git worktree of its own",
		Args:    args(1, 1),
		RunE:    a.forMaster(func(c *cobra.Command, args []string) error { return a.runInit(c, args[0], o) }),
	}
	c.Flags().StringVar(&o.worktree, "worktree", "off", "off: workers share the checkout; on: each gets a worktree")
	c.Flags().Lookup("worktree").NoOptDefVal = "on"
	c.Flags().StringVar(&o.db, "db", "none", "where fleet db makes scratch databases: none, docker or local")
	c.Flags().StringVar(&o.brain, "brain", agent.DefaultBrain(), "the agent of workstreams that name none")
	return c
}

func (a *app) runInit(c *cobra.Command, slug string, o initOptions) error {
	if o.worktree != "on" && o.worktree != "off" {
		return roster.Usagef("--worktree %s: want on or off", o.worktree)
	}
	if !slices.Contains([]string{"none", "docker", "local"}, o.db) {
		return roster.Usagef("--db %s: want none, docker or local", o.db)
	}
	if _, err := agent.Find(o.brain); err != nil {
		return err
	}
	root, err := mainRoot(c.Context())
	if err != nil {
		return err
	}
	if _, err := git.In(proc.Run, root).MainRoot(c.Context()); err != nil && o.worktree == "on" {
		return roster.Usagef("--worktree: %s is in no git repository", root)
	}
	config := rundir.ConfigText(map[string]string{"FLEET_WORKTREE": o.worktree, "FLEET_DB": o.db, "FLEET_BRAIN": o.brain})
	d, err := rundir.Create(root, slug, planningtemplate.Files, config)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, d.Path)
	for _, other := range master.OtherRuns(d) {
		a.talk("note: %s is a run in this repository, too; the two don't know each other's leases", d.Rel(other))
	}
	a.talk("next: fleet add WS01 \"what to do\" --claims some/dir/")
	return nil
}

// mainRoot is the main checkout of the repository that we are in, or else where we are.
func mainRoot(ctx context.Context) (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if main, err := git.In(proc.Run, cwd).MainRoot(ctx); err == nil {
		return main, nil
	}
	return cwd, nil
}
