package cmd

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/internal/web"
)

type serveOptions struct{ addr, token string }

func newServe(a *app) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use: "serve", GroupID: "look",
		Short: "Show the run live in a browser, and let programs read and steer it over HTTP",
		Long: `Serves the live page at / until it is interrupted, and for programs, in JSON:

  GET   /state                 all of it, as fleet state
        /tasks                 ?status= &limit= &offset=; /tasks/<id> is one with all about it
        /workstreams  /agents  /leases  /health
        /conflicts             ?resolved=true|false
        /events                ?since= &limit= &type=
        /events/stream         events as they come (SSE), after ?since= or Last-Event-ID
        /metrics               for Prometheus
  POST  /tasks                 {"tasks":[{"title","description","priority","file_scope","depends_on",…}]}
        /tasks/<id>/cancel  /tasks/<id>/retry  /reset

Errors are {"error":{"code","message","detail"}}. Reading is open to this machine alone.
What changes something needs the token that is printed at the start:
Authorization: Bearer <token>. On an address that other machines reach, reading
needs it as well, http://…/?token=<token> in a browser, and --token must choose it.`,
		Example: "  fleet serve\n  curl -s http://127.0.0.1:8099/tasks?status=failed\n  curl -N http://127.0.0.1:8099/events/stream",
		RunE:    a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error { return a.runServe(ctx, f, o) })),
	}
	c.Flags().StringVar(&o.addr, "addr", "127.0.0.1:8099", "address to listen at; port 0 takes a free one")
	c.Flags().StringVar(&o.token, "token", "", "the token (default: one of the run's own, kept in its run dir)")
	return c
}

// garbage is how much of it a server lets come together, in percent of what it uses: the state of a
// large run is megabytes, made at each change and thrown away, and little else is kept.
const garbage = 400

func (a *app) runServe(ctx context.Context, f *master.Fleet, o serveOptions) error {
	debug.SetGCPercent(garbage)
	l, local, err := web.Listen(ctx, o.addr, o.token != "")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	token, kept := o.token, ""
	if token == "" {
		var path string
		if token, path, err = f.Dir.Token(ctx); err != nil {
			return err
		}
		kept = "\nwriting needs the token " + token + " (kept in " + f.Dir.Rel(path) + ")"
	}
	fmt.Fprintf(a.out, "http://%s/\n", l.Addr())
	a.talk("serving %s until it is interrupted%s", f.Dir.Slug(), kept)
	return web.New(f, token, local).Serve(ctx, l)
}
