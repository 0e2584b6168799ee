package master

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// A spare is an agent without a task that stands by in a pane. It bears the
// identity of its workstream with incarnation 0, which never is the present one,
// so every write of its is refused. It lives under a name of its own until it is
// called; then its agent is started afresh, as the worker of a new incarnation.
const spareEpoch = 0

// PlanSpares is the plan of spares for a workstream whose worker may run already.
func (f *Fleet) PlanSpares(ctx context.Context, ws string, o SpawnOptions) (Plan, error) {
	o.Instead = true
	return f.Plan(ctx, ws, o)
}

// SpawnSpare opens the k-th spare of a workstream, unless that stands by already, and returns once it does.
func (f *Fleet) SpawnSpare(ctx context.Context, l Launched, k int) error {
	server, err := f.Tmux()
	if err != nil {
		return err
	}
	unlock, err := f.lockStart(ctx, l.WS.ID)
	if err != nil {
		return err
	}
	defer unlock()
	name := rundir.Spare(l.WS.ID, k)
	if f.Dir.Alive(name) {
		return nil
	}
	if err := f.clearPanes(ctx, name); err != nil {
		return err
	}
	_, err = f.newPane(ctx, server, tmux.PaneSpec{
		Session: f.Session(), Window: "spares", Dir: l.Dir, Args: f.SpareArgs(l, k),
		Tags: tmux.Tags{Run: f.Dir.Path, WS: name, Epoch: spareEpoch},
	})
	if err != nil {
		return err
	}
	return f.awaitSpare(ctx, name)
}

func (f *Fleet) awaitSpare(ctx context.Context, name string) error {
	return f.awaitLife(ctx, name, func(ctx context.Context, due bool) (bool, error) {
		if !due {
			return false, nil
		}
		panes, err := f.panes(ctx, func(p tmux.Pane) bool { return p.Tags.WS == name && !p.Dead })
		if err == nil && len(panes) == 0 {
			err = notUp(name)
		}
		return false, err
	})
}

// SpareArgs is the command that runs in the pane of the k-th spare.
func (f *Fleet) SpareArgs(l Launched, k int) []string {
	args := []string{"pane", l.WS.ID, "--spare", strconv.Itoa(k)}
	if l.Trust {
		args = append(args, "--trust")
	}
	return f.command(args...)
}

// RunSpare is the program of a spare's pane. A spare that is called goes on as the worker.
func (f *Fleet) RunSpare(ctx context.Context, ws string, k int, trust bool) (code int, err error) {
	ctx = context.WithoutCancel(ctx) // as for a worker, an interrupt is for the agent
	after, err := f.Dir.LastEvent()
	if err != nil {
		return 0, err
	}
	letGo, err := f.Dir.HoldLife(rundir.Spare(ws, k))
	if err != nil {
		return 0, err
	}
	defer letGo()
	epoch, code, err := f.standBy(ctx, ws, k, trust, after)
	if epoch == 0 || err != nil {
		return code, err
	}
	release, err := f.Dir.HoldLife(ws)
	letGo() // not earlier: whoever called it sees it all the time
	if err != nil {
		return 0, err
	}
	defer release()
	return f.runWorker(ctx, ws, epoch, PaneOptions{Trust: trust, goOn: true})
}

var errCalled = errors.New("called")

// standBy runs the agent of a spare until it ends, or is ended because the spare
// was called, to be the worker in the epoch that is returned.
func (f *Fleet) standBy(ctx context.Context, ws string, k int, trust bool, after int64) (epoch, code int, err error) {
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return 0, 0, err
	}
	brain, err := agent.Find(w.Brain)
	if err != nil {
		return 0, 0, err
	}
	w.Epoch = spareEpoch
	called := make(chan int, 1)
	listen := func(ctx context.Context) error {
		return f.Dir.Follow(ctx, after, func(e roster.Event) error {
			if e.Type != roster.WorkerSpawned || e.WS != ws || e.Data["spare"] != float64(k) {
				return nil
			}
			n, _ := e.Data["epoch"].(float64)
			called <- int(n)
			return errCalled
		})
	}
	name := fmt.Sprintf("%s-%s-spare%d", f.Dir.Slug(), w.Name, k)
	j := f.job(&w, PaneOptions{Trust: trust})
	j.Name = name
	exit, err := f.runAgent(ctx, brain, &w, j, listen)
	select {
	case epoch = <-called:
	default:
	}
	return epoch, exit.Code, err
}
