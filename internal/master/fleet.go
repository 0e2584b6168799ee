// Package master does what the master of a fleet does: it starts workers in
// panes, sends them messages, stops them, and runs beside each one in its pane.
//
// It holds no state of its own: a run dir, a tmux server and the fleet program
// are all that it needs, so any number of masters may act on one run.
package master

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// Fleet is one run with what is needed to act on it.
type Fleet struct {
	Dir *rundir.Dir
	Exe string // the fleet program, absolute
	Run proc.Runner
}

// Session is the name of the tmux session that holds the run's panes.
func (f *Fleet) Session() string { return "fleet-" + f.Dir.Slug() }

// Socket is the socket name of the run's own tmux server. The hash keeps two
// runs of one slug, in two repositories, apart.
func (f *Fleet) Socket() string {
	if f.Dir.Config.TmuxSocket != "" {
		return f.Dir.Config.TmuxSocket
	}
	sum := sha256.Sum256([]byte(f.Dir.Path))
	return f.Session() + "-" + hex.EncodeToString(sum[:3])
}

// Tmux is the server that the run's panes are on.
func (f *Fleet) Tmux() (*tmux.Server, error) {
	var server *tmux.Server
	var err error
	if f.Dir.Config.Tmux == "current" {
		server, err = tmux.Current(f.Run, os.Getenv("TMUX"))
	} else {
		server, err = tmux.New(f.Run, f.Socket(), f.Dir.Config.TmuxConf)
	}
	if err != nil {
		return nil, roster.Dataf("%v", err).Hinted("fleet.env has FLEET_TMUX=%s", f.Dir.Config.Tmux)
	}
	return server, nil
}

// Pane returns the pane of a workstream whose program still runs, or false.
func (f *Fleet) Pane(ctx context.Context, ws string) (tmux.Pane, bool, error) {
	panes, err := f.panes(ctx, func(p tmux.Pane) bool { return p.Tags.WS == ws && !p.Dead })
	if err != nil || len(panes) == 0 {
		return tmux.Pane{}, false, err
	}
	return panes[0], true, nil
}

// panes lists those panes that this run made, for workstreams and spares, which are wanted.
func (f *Fleet) panes(ctx context.Context, wanted func(tmux.Pane) bool) ([]tmux.Pane, error) {
	server, err := f.Tmux()
	if err != nil {
		return nil, err
	}
	all, err := server.Panes(ctx)
	return slices.DeleteFunc(all, func(p tmux.Pane) bool { return p.Tags.Run != f.Dir.Path || !wanted(p) }), err
}

// panesLock keeps those apart who add panes and who remove some: a new one is placed beside an old one.
const panesLock = "panes"

// newPane opens a pane.
func (f *Fleet) newPane(ctx context.Context, server *tmux.Server, spec tmux.PaneSpec) (tmux.PaneID, error) {
	unlock, err := f.Dir.Exclusive(ctx, panesLock)
	if err != nil {
		return "", err
	}
	defer unlock()
	return server.Open(ctx, spec)
}

// removePanes removes panes, and what runs in them.
func (f *Fleet) removePanes(ctx context.Context, which func(tmux.Pane) bool) error {
	panes, err := f.panes(ctx, which)
	if err != nil || len(panes) == 0 {
		return err
	}
	server, err := f.Tmux()
	if err != nil {
		return err
	}
	unlock, err := f.Dir.Exclusive(ctx, panesLock)
	if err != nil {
		return err
	}
	defer unlock()
	for _, p := range panes {
		if err := server.Kill(ctx, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// clearPanes removes what earlier workers, or spares, left on the screen: panes whose program has ended.
func (f *Fleet) clearPanes(ctx context.Context, name string) error {
	return f.removePanes(ctx, func(p tmux.Pane) bool { return p.Dead && p.Tags.WS == name })
}

// rows are all workstreams, as they are now.
func (f *Fleet) rows(ctx context.Context) (rows []roster.Workstream, err error) {
	err = f.Dir.View(ctx, func(s *roster.State) error {
		rows = slices.Clone(s.Workstreams)
		return nil
	})
	return rows, err
}

// command is the argument vector of a subcommand of our own on this run.
func (f *Fleet) command(args ...string) []string {
	return append([]string{f.Exe, "--run-dir", f.Dir.Path}, args...)
}

// Reap declares a worker dead that is gone without a word. It is called by tmux
// when a pane's program ends; a worker that said goodbye is of a later epoch by then.
func (f *Fleet) Reap(ctx context.Context, ws string, epoch int) error {
	if f.Dir.Alive(ws) {
		return nil
	}
	return f.Dir.Update(ctx, func(s *roster.State) error {
		if err := s.MarkDead(ws, epoch, "its wrapper was killed"); err != nil && !roster.IsStale(err) {
			return err
		}
		return s.Tick(f.Dir.Present) // a worker that was fenced meanwhile has a later epoch than its pane knows
	})
}

// awaitGone waits until the worker of ws has let go of its liveness lock.
func (f *Fleet) awaitGone(ctx context.Context, ws string) error {
	for f.Dir.Alive(ws) {
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// Tick lets the scheduler look at the run: at who is gone, what may run now and
// who can do it. Nothing is written when there is nothing to do. decided is told what is.
func (f *Fleet) Tick(ctx context.Context, decided func(roster.Decision)) error {
	if err := f.freeCommitted(ctx); err != nil {
		return err
	}
	var due []roster.Decision
	err := f.Dir.View(ctx, func(s *roster.State) error {
		due = s.Schedule(f.Dir.Present)
		return nil
	})
	if err != nil || len(due) == 0 {
		return err
	}
	for _, d := range due {
		decided(d)
	}
	return f.Dir.Update(ctx, func(s *roster.State) error { return s.Tick(f.Dir.Present) })
}
