package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// stopTimeout is how long a worker may take to end before it is killed.
const stopTimeout = stopGrace + 3*time.Second

// Stop ends the worker of a workstream and its spares, and removes their panes. Its
// leases are freed and its task waits for the next worker. It reports whether anything ran.
func (f *Fleet) Stop(ctx context.Context, ws string) (ran bool, err error) {
	if _, err := f.Dir.Workstream(ctx, ws); err != nil {
		return false, err // before it names files
	}
	spares, err := f.stopSpares(ctx, ws) // first: one that is called just now is the worker afterwards
	ran, workerErr := f.stopWorker(ctx, ws)
	return ran || spares, errors.Join(err, workerErr)
}

func (f *Fleet) stopSpares(ctx context.Context, ws string) (ran bool, err error) {
	for _, k := range f.Dir.Spares(ws) {
		name := rundir.Spare(ws, k)
		if pid := f.Dir.LivePID(name); pid > 0 {
			ran = true
			if err := f.end(ctx, name, pid); err != nil {
				return ran, err
			}
		}
	}
	return ran, f.removePanes(ctx, func(p tmux.Pane) bool { return rundir.IsSpare(p.Tags.WS, ws) })
}

// stopWorker is Stop without the spares.
func (f *Fleet) stopWorker(ctx context.Context, ws string) (ran bool, err error) {
	if pid := f.Dir.LivePID(ws); pid > 0 {
		ran = true
		if err := f.end(ctx, ws, pid); err != nil {
			return true, err
		}
	}
	if ran {
		err = f.Dir.Update(ctx, func(s *roster.State) error { // it has perhaps recorded nothing
			if f.Dir.Alive(ws) { // the next one
				return nil
			}
			return s.Stopped(ws)
		})
	} else {
		err = f.Tick(ctx, func(roster.Decision) {}) // nor has one that is long gone
	}
	if err != nil {
		return ran, err
	}
	return ran, f.removePanes(ctx, func(p tmux.Pane) bool { return p.Tags.WS == ws })
}

// end asks a wrapper to stop its agent, and kills it if it doesn't. The pid is
// the wrapper's for as long as the liveness lock is held.
func (f *Fleet) end(ctx context.Context, ws string, pid int) error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: signal process %d: %w", ws, pid, err)
		}
		wait, cancel := context.WithTimeout(ctx, stopTimeout)
		err := f.awaitGone(wait, ws)
		cancel()
		if err == nil || ctx.Err() != nil { // whoever interrupts us has not asked for a kill
			return err
		}
	}
	return fmt.Errorf("stop %s: process %d does not end", ws, pid)
}

// StopAll ends every worker of the run, its spares, and the tmux server if it is the run's own.
func (f *Fleet) StopAll(ctx context.Context, stopped func(ws string)) error {
	rows, err := f.rows(ctx)
	idleFirst(rows)
	for _, w := range rows {
		ran, stopErr := f.Stop(ctx, w.ID)
		err = errors.Join(err, stopErr)
		if ran && stopErr == nil {
			stopped(w.ID)
		}
	}
	if err != nil {
		return err
	}
	if err := f.removePanes(ctx, func(tmux.Pane) bool { return true }); err != nil {
		return err
	}
	return f.closeServer(ctx)
}

// idleFirst orders those to be stopped: one that waits would be given the task of one that is stopped before it.
func idleFirst(rows []roster.Workstream) {
	slices.SortStableFunc(rows, func(a, b roster.Workstream) int { return cmp.Compare(min(len(a.TaskID), 1), min(len(b.TaskID), 1)) })
}

// closeServer ends the tmux server if it is the run's own and shows nothing any
// more. A pane that somebody opened for himself keeps it.
func (f *Fleet) closeServer(ctx context.Context) error {
	server, err := f.Tmux()
	if err != nil || f.Dir.Config.Tmux == "current" {
		return err
	}
	panes, err := server.Panes(ctx)
	if err != nil || len(panes) > 0 {
		return err
	}
	return server.KillServer(ctx)
}
