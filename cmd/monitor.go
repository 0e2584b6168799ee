package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/internal/web"
	"fleet/roster"
	"fleet/roster/rundir"
)

// keepOptions say how a file is kept up to date.
type keepOptions struct {
	out   string
	watch int
}

func (o *keepOptions) flags(c *cobra.Command, what string) {
	c.Flags().StringVar(&o.out, "out", "", "`path` to write "+what+" to")
	c.Flags().IntVar(&o.watch, "watch", 0, "go on writing, every so many seconds; needs --out")
}

func (o *keepOptions) check(c *cobra.Command) error {
	switch watches := c.Flags().Changed("watch"); {
	case watches && o.watch < 1:
		return roster.Usagef("%s: --watch %d: want 1 second or more", verb(c), o.watch)
	case watches && o.out == "":
		return roster.Usagef("%s: --watch needs --out", verb(c))
	}
	return nil
}

// keep writes the state of a run into files, once or every so many seconds until it is
// interrupted. A lock that is busy for long is waited for till the next time.
func (o *keepOptions) keep(ctx context.Context, f *master.Fleet, paths ...string) error {
	for {
		err := web.WriteState(ctx, f, paths...)
		if o.watch == 0 || err != nil && !errors.Is(err, rundir.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(o.watch) * time.Second):
		}
	}
}

func newMonitor(a *app) *cobra.Command {
	var o keepOptions
	c := &cobra.Command{
		Use: "monitor", GroupID: "look",
		Short: "Write the live page and its data as files, for a static server or none",
		Long: `Writes the page of fleet serve into a directory, with the state of the run beside it,
status.json. Any static server can serve it; a browser can open index.html from the
disk as well. With --watch the state is written anew every so many seconds, which
the page sees.`,
		Example: "  fleet monitor --out public --watch 2\n  fleet status --json --watch 2 --out status.json      the state alone",
	}
	c.RunE = a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
		if err := o.check(c); err != nil {
			return err
		}
		if o.out == "" {
			return roster.Usagef("monitor: want --out").Hinted("usage: fleet monitor --out DIR [--watch SECONDS]")
		}
		if err := web.Export(o.out); err != nil {
			return err
		}
		fmt.Fprintln(a.out, filepath.Join(o.out, "index.html"))
		return o.keep(ctx, f, filepath.Join(o.out, "status.json"), filepath.Join(o.out, "status.js"))
	})
	o.flags(c, "the page and its data")
	return c
}
