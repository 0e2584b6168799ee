package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
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
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.masterOnly("load"); err != nil {
				return err
			}
			return a.runLoad(c.Context(), args[0])
		},
	}
}

func (a *app) runLoad(ctx context.Context, path string) error {
	d, err := a.dir(ctx)
	if err != nil {
		return err
	}
	text, err := a.readFile(path)
	if err != nil {
		return err
	}
	file, err := taskfile.Parse(filepath.Base(path), text)
	if err != nil {
		return err
	}
	if len(file.Instances) > 0 {
		return a.loadInstances(ctx, d, file.Instances)
	}
	ids, err := a.addTasks(ctx, d, file.Tasks)
	if err == nil {
		a.talk("added %s; next: fleet run", several(len(ids), "task"))
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
	free, err := freeIDs(ctx, d, len(instances))
	if err != nil {
		return err
	}
	var streams []roster.NewWorkstream
	var queue []roster.NewTask
	for i, in := range instances {
		brain := d.Config.Brain
		if in.Model != "" {
			brain = in.Model
		}
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
	a.talk("added %s with %s; next: fleet run, or fleet spawn", several(len(streams), "workstream"), several(len(queue), "task"))
	return nil
}

// freeIDs are the next ids that no workstream has.
func freeIDs(ctx context.Context, d *rundir.Dir, n int) (ids []string, err error) {
	err = d.View(ctx, func(s *roster.State) error {
		ids = s.FreeIDs(n)
		return nil
	})
	return ids, err
}
