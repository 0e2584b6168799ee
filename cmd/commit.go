package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/git"
	"fleet/internal/master"
	"fleet/internal/proc"
	"fleet/roster"
)

func newCommit(a *app) *cobra.Command {
	var o master.CommitOptions
	c := &cobra.Command{
		Use: "commit <WSxx> -m <message>", GroupID: "git",
		Short: "Commit what a workstream has changed, and nothing else",
		Long: `Commits the files that a workstream holds or claims, whole, and prints the commit. What
others have changed or staged stays as it is. Dirty files that no workstream owns
refuse it (66) and are listed: claim them, or put them away. The subject
is "fleet <WSxx>: <message>". The repository's commit hooks and signing apply.
A commit that would hold anything else, since a hook added it, is taken back.`,
		Example: "  fleet commit WS01 -m \"add the order API\"\n  fleet commit WS01 --no-commit        stage only",
		Args:    args(1, 1),
		RunE:    func(c *cobra.Command, args []string) error { return a.runCommit(c.Context(), args[0], o) },
	}
	c.Flags().StringVarP(&o.Message, "message", "m", "", "what the commit does; more lines become its body")
	c.Flags().BoolVar(&o.StageOnly, "no-commit", false, "put the files into the index, and commit nothing")
	c.Flags().BoolVar(&o.Force, "force-with-note", false, "leave dirty files that nobody owns behind, and say so in the notes")
	return c
}

func (a *app) runCommit(ctx context.Context, ws string, o master.CommitOptions) error {
	if strings.TrimSpace(o.Message) == "" && !o.StageOnly {
		return roster.Usagef("commit: a message is needed").Hinted("fleet commit %s -m \"what it does\"", ws)
	}
	f, err := a.fleetFor(ctx, ws)
	if err != nil {
		return err
	}
	if err := atRoot(ctx, f, ws); err != nil {
		return err
	}
	sha, err := f.Commit(ctx, ws, o)
	if sha != "" {
		fmt.Fprintln(a.out, sha)
	}
	return err
}

// atRoot refuses a verb that is not called from the root of the run's checkout, or of the
// workstream's own: whose files are meant would be anybody's guess.
func atRoot(ctx context.Context, f *master.Fleet, ws string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil || real == f.Dir.Root || real == f.Dir.Tree(&w) {
		return err
	}
	if _, err := git.In(proc.Run, cwd).Places(ctx); err != nil {
		return err
	}
	return roster.Usagef("%s is not the root of the checkout", cwd).Hinted("cd %s", f.Dir.Tree(&w))
}
