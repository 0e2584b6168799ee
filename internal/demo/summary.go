package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"fleet/internal/proc"
	"fleet/internal/progress"
	"fleet/roster"
)

// tally is what was done for one task.
type tally struct {
	wrote, denied []string
}

// testTime is what the repository's own tests may take; a first build is slow.
const testTime = 3 * time.Minute

// summary prints who wrote what and who was denied, and runs the repository's tests.
func (d *demo) summary(ctx context.Context) (ok bool, err error) {
	tallies, denied, err := d.count()
	if err != nil {
		return false, err
	}
	done := false
	err = d.fleet.Dir.View(ctx, func(s *roster.State) error {
		d.say("")
		w := tabwriter.NewWriter(d.Out, 0, 8, 3, ' ', 0)
		fmt.Fprintln(w, "TASK\tSTATUS\tTRIES\tWORKER\tWROTE\tDENIED")
		done = true
		for i := range s.Tasks {
			t := &s.Tasks[i]
			c := tallies[t.ID]
			fmt.Fprintf(w, "%s %s\t%s\t%d\t%s\t%s\t%s\n", t.ID, t.Title, t.Status, t.Attempts, t.Workstream, list(c.wrote), list(c.denied))
			done = done && t.Status == roster.TaskDone
		}
		if err := w.Flush(); err != nil {
			return err
		}
		d.say("\n%s", progress.Summary(s, denied))
		return nil
	})
	if err != nil {
		return false, err
	}
	out, failure := proc.Shell(ctx, d.repo, "go test ./...", testTime)
	d.say("go test ./...  %s", strings.ReplaceAll(out, "\n", "\n  "))
	switch {
	case !done:
		d.say("\n%s", d.Color.Bad("not every task has succeeded"))
	case denied == 0:
		d.say("\n%s", d.Color.Bad("no write was denied: the demo has shown nothing"))
	case failure != nil:
		d.say("\n%s", d.Color.Bad(fmt.Sprintf("the repository's tests fail: %v", failure)))
	default:
		ok = true
		d.say("\n%s", d.Color.Good("one write was denied while another worker held the file, went through when it was tried again, and nothing was lost."))
	}
	if d.Keep {
		d.say("kept: %s", d.repo)
	}
	return ok, nil
}

func (d *demo) count() (tallies map[string]*tally, denied int, err error) {
	tallies = make(map[string]*tally)
	for _, p := range d.parts {
		tallies[p.ID] = &tally{}
	}
	for e, err := range d.fleet.Dir.Events(0) {
		if err != nil {
			return nil, 0, err
		}
		path, _ := e.Data["path"].(string)
		t := tallies[e.Task]
		switch {
		case t == nil:
		case e.Type == roster.FileChanged && !slices.Contains(t.wrote, path):
			t.wrote = append(t.wrote, path)
		case e.Type == roster.LeaseDenied:
			denied++
			t.denied = append(t.denied, fmt.Sprintf("%s (by %v)", path, e.Data["holder_task"]))
		}
	}
	return tallies, denied, nil
}

func list(values []string) string {
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, ", ")
}
