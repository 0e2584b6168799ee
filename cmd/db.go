package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"fleet/internal/proc"
	"fleet/internal/scratchdb"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newDB(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "db <WSxx>", GroupID: "git",
		Short: "Print the URL of a scratch database of a workstream's own",
		Long: `Prints DATABASE_URL=postgres://… of a PostgreSQL database that is this workstream's
alone, and that answers. It is made at the first call. FLEET_DB in fleet.env says where:
docker, a container for each workstream, or local, a server of this run's own that the
machine's PostgreSQL programs run. It goes on when fleet ends, until: fleet db-clean`,
		Example: "  fleet db WS01\n  env $(fleet db WS01) make test",
		Args:    args(1, 1),
		RunE:    a.onRun(func(ctx context.Context, d *rundir.Dir, args []string) error { return a.db(ctx, d, args[0]) }),
	}
}

func (a *app) db(ctx context.Context, d *rundir.Dir, ws string) error {
	known := func(s *roster.State) error { _, err := s.Workstream(ws); return err }
	if err := a.update(ctx, ws, known); err != nil {
		return err
	}
	engine := engines(d)[d.Config.DB]
	if engine == nil {
		return roster.Refusef("this run has no scratch databases: FLEET_DB=%s", d.Config.DB).
			Hinted("set FLEET_DB=docker or FLEET_DB=local in %s", d.Rel(filepath.Join(d.Path, "fleet.env")))
	}
	unlock, err := d.Exclusive(ctx, "db")
	if err != nil {
		return err
	}
	defer unlock()
	url, err := engine.Database(ctx, ws)
	if err != nil {
		return err
	}
	if err := a.update(ctx, ws, func(s *roster.State) error { return s.SetScratchDB(ws, url) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "DATABASE_URL=%s\n", url)
	return err
}

func engines(d *rundir.Dir) map[string]scratchdb.Engine {
	return map[string]scratchdb.Engine{
		"docker": scratchdb.Docker{Run: proc.Run, Program: d.Config.Docker, Slug: d.Slug(), RunName: filepath.Base(d.Path)},
		"local":  scratchdb.Local{Run: proc.Run, Slug: d.Slug(), RunDir: d.Path},
	}
}

func newDBClean(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "db-clean", GroupID: "git",
		Short: "Remove the scratch databases of this run",
		Long: `Stops and removes the containers and the server that fleet db made for this run,
with all that is in them, and prints what it removed. --all: those of every run.
Nothing that fleet has not made is touched.`,
		Example: "  fleet db-clean",
		RunE: a.forMaster(a.onRun(func(ctx context.Context, d *rundir.Dir, _ []string) error {
			return a.dbClean(ctx, d, all)
		})),
	}
	c.Flags().BoolVar(&all, "all", false, "of every run of this user")
	return c
}

func (a *app) dbClean(ctx context.Context, d *rundir.Dir, all bool) error {
	unlock, err := d.Exclusive(ctx, "db")
	if err != nil {
		return err
	}
	defer unlock()
	var failed error
	found := 0
	for _, kind := range []string{"docker", "local"} {
		removed, err := engines(d)[kind].Remove(ctx, all)
		for _, name := range removed {
			fmt.Fprintln(a.out, name)
		}
		found += len(removed)
		if roster.KindOf(err) == roster.Refused && kind != d.Config.DB {
			a.talk("note: %v", err) // it may never have been used
			err = nil
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return failed
	}
	if found == 0 {
		a.talk("no scratch databases found")
	}
	return d.Update(ctx, func(s *roster.State) error { s.ForgetScratchDBs(); return nil })
}
