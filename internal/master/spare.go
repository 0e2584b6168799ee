package master

import (
	"context"
	"fmt"
	"strconv"

	"fleet/internal/agent"
	"fleet/tmux"
)

// A spare is an agent without a task that stands by in a pane. It bears the
// identity of its workstream with incarnation 0, which never is the present one,
// so every write of its is refused.
const spareEpoch = 0

// SpawnSpare opens the k-th spare of a worker that was started.
func (f *Fleet) SpawnSpare(ctx context.Context, l Launched, k int) error {
	server, err := f.Tmux()
	if err != nil {
		return err
	}
	unlock, err := f.Dir.Exclusive(ctx, spawnLock)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = server.Open(ctx, tmux.PaneSpec{
		Session: f.Session(), Window: "spares", Dir: l.Dir, Args: f.SpareArgs(l, k),
		Tags: tmux.Tags{Run: f.Dir.Path, WS: fmt.Sprintf("%s-spare%d", l.WS.ID, k), Epoch: spareEpoch},
	})
	return err
}

// SpareArgs is the command that runs in the pane of the k-th spare.
func (f *Fleet) SpareArgs(l Launched, k int) []string {
	args := []string{"pane", l.WS.ID, "--spare", strconv.Itoa(k)}
	if l.Trust {
		args = append(args, "--trust")
	}
	return f.command(args...)
}

// RunSpare is the program of a spare's pane.
func (f *Fleet) RunSpare(ctx context.Context, ws string, k int, trust bool) (code int, err error) {
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return 0, err
	}
	brain, err := agent.Find(w.Brain)
	if err != nil {
		return 0, err
	}
	w.Epoch = spareEpoch
	name := fmt.Sprintf("%s-%s-spare%d", f.Dir.Slug(), w.Name, k)
	exit, err := f.runAgent(ctx, brain, &w, agent.Job{Name: name, Trust: trust}, nil)
	return exit.Code, err
}
