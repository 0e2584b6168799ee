package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/doctor"
	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
)

func newDoctor(a *app) *cobra.Command {
	var live bool
	c := &cobra.Command{
		Use: "doctor", GroupID: "run",
		Short: "Check what fleet relies on",
		Long: `Prints one line a check: name, ok|fail|advisory, detail, separated by tabs. It runs
the facts about tmux that fleet depends on against the installed one, on a server of
its own, and says of each agent that is installed whether its hooks gate what it
writes. --live also looks at logins and keys, and starts the real Claude Code, offline against a scripted API, as a
worker that writes a held file, and shows that the write is denied.
Exit 10 if a check failed, 5 if the program that --live needs is missing.`,
		Example: "  fleet doctor\n  fleet doctor --live",
		RunE:    func(c *cobra.Command, _ []string) error { return a.runDoctor(c.Context(), live) },
	}
	c.Flags().BoolVar(&live, "live", false, "start the real agent and show a denial, and look at logins and keys")
	c.Flags().Bool("offline", true, "only what is on this machine; so it is without --live")
	return c
}

func (a *app) runDoctor(ctx context.Context, live bool) error {
	rows := slices.Concat(doctor.Programs(ctx), doctor.Brains(ctx), doctor.Tmux(ctx))
	d, err := a.dir(ctx)
	switch {
	case err == nil:
		rows = append(rows, doctor.Run(ctx, d)...)
	case roster.KindOf(err) == roster.Usage:
		rows = append(rows, doctor.Row{Name: "run-dir", Status: doctor.Advisory, Detail: err.Error()})
	default:
		rows = append(rows, doctor.Row{Name: "run-dir", Status: doctor.Fail, Detail: err.Error()})
	}
	if root, err := git.In(proc.Run, "").MainRoot(ctx); err == nil {
		rows = append(rows, doctor.LocalHooks(root)...)
	}
	if live {
		row, err := liveRow(ctx)
		if err != nil {
			return err
		}
		rows = append(append(rows, doctor.Accounts(ctx)...), row)
	}
	failed := 0
	for _, r := range rows {
		if r.Status == doctor.Fail {
			failed++
		}
		fmt.Fprintf(a.out, "%s\t%s\t%s\n", r.Name, r.Status, roster.Flat(strings.TrimSpace(r.Detail)))
	}
	if failed > 0 {
		return &codedError{code: exitGate, msg: fmt.Sprintf("%d of %d checks failed", failed, len(rows))}
	}
	return nil
}

func liveRow(ctx context.Context) (row doctor.Row, err error) {
	claude, err := agent.Find("claude")
	if err == nil {
		err = claude.Installed()
	}
	if err != nil {
		return row, err
	}
	exe, err := executable()
	if err != nil {
		return row, err
	}
	return doctor.Live(ctx, exe), nil
}
