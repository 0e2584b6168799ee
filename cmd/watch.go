package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

type watchOptions struct {
	staleMin, poll int
	once, emit     bool
}

func newWatch(a *app) *cobra.Command {
	var o watchOptions
	c := &cobra.Command{
		Use: "watch", GroupID: "look",
		Short: "Print a line for each change, until all work is done",
		Long: `Prints one line an event:
  CHANGE <ws> <field>     a field of the roster changed (at once)
  STALE <ws> <minutes>    at work, and no sign of life for more than --stale-min minutes
  DEAD <ws>               its worker is gone
  LIMIT <ws> <time>       its agent's service takes no more of it until then; it goes on by itself
  ALL-DONE                every workstream is done or landed; watch ends
STALE, DEAD and LIMIT come with every scan, one each --poll seconds. With --once it scans
once and compares with the scan before, which may have been another process's.
The heartbeat is not a field: that it stands still is what STALE says.

With --emit-events a workbench is told as well: run-plan-fleet-<slug>.json in the run
dir is the plan that it draws, and for what has happened its emitter is called,
$FLEET_WB_EMIT_EVENT or ~/.claude/skills/cfn-workbench/emit-event.sh. Let its renderer
run in another terminal, with --slug fleet-<slug>.`,
		Example: "  fleet watch\n  fleet watch --once           in scripts\n  fleet watch --emit-events    for a workbench",
		RunE:    a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error { return a.runWatch(ctx, f, o) }),
	}
	c.Flags().IntVar(&o.staleMin, "stale-min", int(roster.StaleAfter.Minutes()), "minutes without a sign of life")
	c.Flags().IntVar(&o.poll, "poll", 60, "seconds from scan to scan")
	c.Flags().BoolVar(&o.once, "once", false, "scan once and end")
	c.Flags().BoolVar(&o.emit, "emit-events", false, "tell a workbench as well")
	return c
}

func (a *app) runWatch(ctx context.Context, f *master.Fleet, o watchOptions) error {
	if o.staleMin < 0 || o.poll < 1 {
		return roster.Usagef("watch: --stale-min wants 0 or more, --poll 1 or more")
	}
	wake, stop, degraded := f.Dir.Watch()
	defer stop()
	if degraded != nil {
		a.talk("fleet: watch: %v", degraded)
	}
	tick := time.NewTicker(time.Duration(o.poll) * time.Second)
	defer tick.Stop()
	before, err := f.Dir.Seen(rundir.WatchSeen)
	if err != nil {
		return err
	}
	bench := master.Workbench{Fleet: f}
	if o.emit {
		bench.Emitter = a.emitter()
	}
	alarms := true
	for {
		var done bool
		before, done, err = a.scan(ctx, f, o.staleMin, alarms, before)
		if err == nil && o.emit {
			err = bench.Scan(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) { // whichever of its files is missed first
			err = roster.Dataf("%s is gone: the run dir was removed", f.Dir.Rel(f.Dir.Path))
		}
		if err != nil || done || o.once {
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			alarms = true
		case <-wake:
			alarms = false
		}
	}
}

// emitter is the program that takes events for a workbench.
func (a *app) emitter() string {
	return cmp.Or(a.getenv("FLEET_WB_EMIT_EVENT"), filepath.Join(a.getenv("HOME"), ".claude/skills/cfn-workbench/emit-event.sh"))
}

// scan looks at the roster once, prints what there is to say against what was seen
// before, and returns and keeps what is seen now.
func (a *app) scan(ctx context.Context, f *master.Fleet, staleMin int, alarms bool, before roster.Seen) (now roster.Seen, done bool, err error) {
	if err := f.Tick(ctx, func(roster.Decision) {}); err != nil {
		return nil, false, err
	}
	var lines []string
	err = f.Dir.View(ctx, func(s *roster.State) error {
		if alarms {
			lines = s.Alarms(staleMin)
		}
		var changes []string
		changes, now = s.Changes(before)
		lines = append(lines, changes...)
		if done = s.AllDone(); done {
			lines = append(lines, "ALL-DONE")
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(a.out, line); err != nil {
			return nil, false, err
		}
	}
	if before != nil && len(lines) == 0 {
		return now, done, nil
	}
	return now, done, f.Dir.SetSeen(rundir.WatchSeen, now)
}
