package cmd

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newAdd(a *app) *cobra.Command {
	var n roster.NewWorkstream
	var claims []string
	c := &cobra.Command{
		Use: "add <WSxx> <task>", GroupID: "who",
		Short: "Register a workstream with its task",
		Long: `Registers a workstream and writes its brief, briefs/<WSxx>.md, from the task.
Claims reserve paths, directories or globs: no other workstream may claim or write them.`,
		Example: `  fleet add WS01 "add the order API" --name api --claims api/,docs/api.md
  fleet add WS02 "write the docs" --brain sonnet`,
		Args: args(2, 2),
		RunE: a.forMaster(a.onRun(func(ctx context.Context, d *rundir.Dir, args []string) error {
			n.ID, n.Text, n.Claims = args[0], args[1], splitClaims(claims)
			return a.runAdd(ctx, d, n)
		})),
	}
	c.Flags().StringVar(&n.Name, "name", "", "alias (default: the id in lower case)")
	c.Flags().StringArrayVar(&claims, "claims", nil, "paths to reserve, separated by commas")
	c.Flags().StringVar(&n.Brain, "brain", "", "the agent that serves it (default: FLEET_BRAIN of the run)")
	return c
}

// splitClaims splits at commas. A path that has one can be claimed with "fleet claim".
func splitClaims(lists []string) []string {
	var claims []string
	for part := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		if part = strings.TrimSpace(part); part != "" {
			claims = append(claims, part)
		}
	}
	return claims
}

func (a *app) runAdd(ctx context.Context, d *rundir.Dir, n roster.NewWorkstream) error {
	n.Brain = cmp.Or(n.Brain, d.Config.Brain)
	if _, err := agent.Find(n.Brain); err != nil {
		return err
	}
	if err := d.AddWorkstream(ctx, n); err != nil {
		return err
	}
	row, err := d.Workstream(ctx, n.ID)
	if err != nil {
		return err
	}
	a.talk("added %s (%s); its brief is %s\nnext: fleet spawn %s", row.ID, row.Name, d.Rel(d.Brief(n.ID)), row.ID)
	return nil
}
