package rundir

import (
	"context"
	"os"
	"slices"

	"fleet/roster"
)

// Reset forgets the tasks, leases and events of the run, and begins the ids of
// events anew. The workstreams stay, with their epochs: whatever an earlier worker
// still sends is refused. The run's settings must allow it, and no worker may run.
func (d *Dir) Reset(ctx context.Context) error {
	if !d.Config.AllowReset {
		return roster.Refusef("this run may not be reset").Hinted("set FLEET_ALLOW_RESET=on in %s", d.Rel(d.file(envFile)))
	}
	return d.locked(ctx, true, d.forget)
}

func (d *Dir) forget(l *loaded) error {
	runs := func(w roster.Workstream) bool { return d.Alive(w.ID) || len(d.Spares(w.ID)) > 0 } // a spare waits for an event
	if i := slices.IndexFunc(l.state.Workstreams, runs); i >= 0 {
		return roster.Refusef("an agent of %s runs", l.state.Workstreams[i].ID).Hinted("fleet stop --all")
	}
	tasks := l.state.Tasks
	l.state.Forget()
	content := map[string]string{
		rosterFile: l.workstream.text(l.state.Workstreams), tasksFile: headerLine(taskColumns(), nil),
		leasesFile: headerLine(leaseColumns(), nil), eventsFile: "",
	}
	if err := d.commit(tx{Replace: []string{rosterFile, tasksFile, leasesFile, eventsFile}}, content, true); err != nil {
		return err
	}
	for _, t := range tasks {
		for _, path := range append(d.Results(t.ID, t.Attempts), d.Brief(t.ID), d.Script(t.ID)) {
			_ = os.Remove(path) // a leftover does no harm
		}
	}
	return nil
}
