package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/rundir"
)

func newTask(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "task", GroupID: "what",
		Short: "Add tasks to the graph, look at them, cancel, retry or skip them",
	}
	c.AddCommand(
		newTaskAdd(a), newTasks(a, "ls"), newTaskShow(a),
		a.taskVerb("cancel", "End tasks that are not over, and fence the workers that have them in hand", (*roster.State).CancelTask),
		newTaskRetry(a),
		a.taskVerb("skip", "Let tasks count as done, so that those that wait for them go on", (*roster.State).SkipTask),
	)
	return c
}

func newTaskAdd(a *app) *cobra.Command {
	var n roster.NewTask
	c := &cobra.Command{
		Use:   "add [<worker>] <text>",
		Short: "Add a task: for a workstream, by id or name, or for whoever is idle",
		Long: `Adds a task and writes its brief from the text. With a worker it is for that
workstream alone, after what it has to do already; an idle worker begins at once.
Without one it goes to any idle worker.`,
		Example: `  fleet task add WS01 "then write the changelog"
  fleet task add "fix the typo in README.md" --scope README.md --depends-on T1,T2`,
		Args: args(1, 2),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error {
			last := len(args) - 1
			n.Description = args[last]
			return a.runTaskAdd(ctx, f, strings.Join(args[:last], ""), n)
		})),
	}
	f := c.Flags()
	f.StringVar(&n.ID, "id", "", "its id (default: the next one of the workstream, or a random one)")
	f.IntVar(&n.Priority, "priority", roster.DefaultPriority, "1 to 5, higher first")
	f.StringSliceVar(&n.Scope, "scope", nil, "paths that it is expected to touch")
	f.StringSliceVar(&n.DependsOn, "depends-on", nil, "tasks that must succeed before")
	f.IntVar(&n.MaxAttempts, "max-attempts", 0, "how often it is tried (default: FLEET_MAX_ATTEMPTS)")
	f.StringVar(&n.Brain, "brain", "", "only for workers of this brain")
	f.StringVar(&n.Verify, "verify", "", "shell command that must succeed before it counts as done")
	return c
}

func (a *app) runTaskAdd(ctx context.Context, f *master.Fleet, worker string, n roster.NewTask) (err error) {
	if n.Priority == 0 {
		return roster.Dataf("--priority 0: want 1 to 5")
	}
	if worker == "" && roster.CheckID(strings.TrimSpace(n.Description)) == nil {
		return roster.Usagef("task add: the text for %s is missing", n.Description)
	}
	if worker != "" {
		if n.Workstream, err = workstreamOf(ctx, f.Dir, worker); err != nil {
			return err
		}
	}
	ids, err := f.AddTasks(ctx, []roster.NewTask{n})
	if err == nil {
		a.talk("added %s; its brief is %s", ids[0], f.Dir.Rel(f.Dir.Brief(ids[0])))
	}
	return err
}

// workstreamOf finds a workstream by its id or its name.
func workstreamOf(ctx context.Context, d *rundir.Dir, name string) (id string, err error) {
	err = d.View(ctx, func(s *roster.State) error {
		for _, w := range s.Workstreams {
			if w.ID == name || w.Name == name {
				id = w.ID
				return nil
			}
		}
		return roster.Dataf("no workstream is called %q", name).Hinted("see: fleet status")
	})
	return id, err
}

func newTaskRetry(a *app) *cobra.Command {
	skip := false
	c := a.taskVerb("retry", "Give failed tasks their attempts again, and those that wait for them their chance", func(s *roster.State, id string) error {
		if skip {
			return s.SkipTask(id)
		}
		return s.RetryTask(id)
	})
	c.Flags().BoolVar(&skip, "skip", false, "as fleet task skip")
	return c
}

// taskVerb is a verb that does one thing to each of several tasks, to all of them or to none.
func (a *app) taskVerb(verb, short string, rule func(*roster.State, string) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " <task>...", Short: short, Args: args(1, -1), Example: "  fleet task " + verb + " T3",
		RunE: a.forMaster(a.onRun(func(ctx context.Context, d *rundir.Dir, ids []string) error {
			return d.Update(ctx, func(s *roster.State) error {
				for _, id := range ids {
					if err := rule(s, id); err != nil {
						return err
					}
				}
				return nil
			})
		})),
	}
}

func newTasks(a *app, name string) *cobra.Command {
	var o master.TaskFilter
	c := &cobra.Command{
		Use:     name,
		Short:   "Show the tasks of the graph",
		Example: "  fleet tasks\n  fleet tasks --status failed\n  fleet tasks --json | jq '.tasks[] | select(.runnable)'",
	}
	c.Flags().StringVar(&o.Status, "status", "", "only those in this status")
	c.Flags().IntVar(&o.Limit, "limit", 0, "at most so many; 0 is all")
	c.Flags().IntVar(&o.Offset, "offset", 0, "leave out the first so many")
	return a.onView(c, func(_ *rundir.Dir, s *roster.State) (view, error) {
		list, err := o.Tasks(s)
		return view{doc: list, header: taskHeader, rows: taskCells(list.Tasks)}, err
	})
}

var taskHeader = []string{"TASK", "STATUS", "PRI", "TRY", "WS", "TITLE", "WAITS FOR"}

func taskCells(views []roster.TaskView) [][]string {
	cells := make([][]string, len(views))
	for i, v := range views {
		cells[i] = []string{
			v.ID, string(v.Status), strconv.Itoa(v.Priority), fmt.Sprintf("%d/%d", v.Attempts, v.MaxAttempts),
			v.Workstream, short(v.Title, 40), short(waitsFor(v), 40),
		}
	}
	return cells
}

// waitsFor says why a task isn't done, in a few words.
func waitsFor(v roster.TaskView) string {
	switch {
	case v.Status == roster.TaskPending && v.BlockedOn != "":
		return "the file " + v.BlockedOn
	case v.Status == roster.TaskPending && len(v.Unmet) > 0, v.Status == roster.TaskBlockedUpstream:
		return strings.Join(v.Unmet, ", ")
	case v.Status == roster.TaskPending && v.Runnable:
		return "a worker"
	case v.Status == roster.TaskPending:
		return "its next try"
	case v.Status == roster.TaskGivenUp:
		return "a person: " + string(v.ErrorKind)
	}
	return ""
}

func newTaskShow(a *app) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:     "show <task>",
		Short:   "Show a task with what it waits for, what waits for it, and the files that it changed",
		Example: "  fleet task show T3",
		Args:    args(1, 1),
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, args []string) error {
			detail, err := f.Task(ctx, args[0])
			if err != nil {
				return err
			}
			v := detailView(detail)
			return v.print(a.out, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func detailView(detail master.TaskDetail) view {
	list := func(values []string) string { return listOr("-", values) }
	return view{doc: detail, header: []string{detail.ID, detail.Title}, rows: [][]string{
		{"status", orDash(strings.TrimSpace(string(detail.Status) + " " + string(detail.ErrorKind)))},
		{"attempts", fmt.Sprintf("%d of %d", detail.Attempts, detail.MaxAttempts)},
		{"workstream", orDash(detail.Workstream)},
		{"priority", strconv.Itoa(detail.Priority)},
		{"waits for", orDash(waitsFor(detail.TaskView))},
		{"depends on", list(detail.DependsOn)},
		{"dependents", list(detail.Dependents)},
		{"scope", list(detail.Scope)},
		{"verify", orDash(detail.Verify)},
		{"changed", list(detail.Changes)},
		{"tokens", fmt.Sprintf("%d in, %d out, %.4f USD", detail.InputTokens, detail.OutputTokens, detail.CostUSD)},
		{"brief", detail.Brief},
		{"results", list(detail.Results)},
	}}
}
