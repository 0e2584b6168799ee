package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/master"
	"fleet/internal/taskfile"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newLoad(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "load <file>", GroupID: "what",
		Short: "Add the tasks of a file to the graph, all of them or none",
		Long: `Reads tasks from a YAML or JSON file ("-" is stdin), a list under "tasks" or alone:

  tasks:
    - id: T1
      title: add the order API
      description: |             # the prompt; it becomes the brief
        Orders have items and a price. …
      scope: [api/]              # paths that it is expected to touch: a hint
      priority: 5                # 1 to 5, higher first
      verify: go test ./api/...  # must succeed before it counts as done
    - id: T2
      title: document it
      depends_on: [T1]

Further keys: max_attempts, workstream (only that one's worker gets it), brain.
A file of "instances", each with a name and tasks of its own, makes a workstream
of each.`,
		Example: "  fleet load graph.yaml && fleet run",
		Args:    args(1, 1),
		RunE:    a.forMaster(a.onFleet(a.runLoad)),
	}
}

func (a *app) runLoad(ctx context.Context, f *master.Fleet, args []string) error {
	text, err := a.readFile(args[0])
	if err != nil {
		return err
	}
	file, err := taskfile.Parse(filepath.Base(args[0]), text)
	if err != nil {
		return err
	}
	if len(file.Instances) > 0 {
		return a.loadInstances(ctx, f.Dir, file.Instances)
	}
	ids, err := f.AddTasks(ctx, file.Tasks)
	if err == nil {
		a.talk("added %s; next: fleet run", roster.Several(len(ids), "task"))
	}
	return err
}

func (a *app) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(a.in)
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, roster.Dataf("%s: no such file", path)
	}
	return text, err
}

// loadInstances makes a workstream of each worker of the file, with a queue of its own.
func (a *app) loadInstances(ctx context.Context, d *rundir.Dir, instances []taskfile.Instance) error {
	var free []string
	err := d.View(ctx, func(s *roster.State) error { free = s.FreeIDs(len(instances)); return nil })
	if err != nil {
		return err
	}
	var streams []roster.NewWorkstream
	var queue []roster.NewTask
	for i, in := range instances {
		brain := cmp.Or(in.Model, d.Config.Brain)
		if _, err := agent.Find(brain); err != nil {
			return fmt.Errorf("instance %s: %w", in.Name, err)
		}
		streams = append(streams, roster.NewWorkstream{ID: free[i], Name: in.Name, Brain: brain})
		for _, text := range in.Tasks {
			queue = append(queue, roster.NewTask{Description: text, Workstream: free[i], Brain: brain})
		}
	}
	if err := d.AddQueues(ctx, streams, queue); err != nil {
		return err
	}
	a.talk("added %s with %s; next: fleet run, or fleet spawn", roster.Several(len(streams), "workstream"), roster.Several(len(queue), "task"))
	return nil
}
