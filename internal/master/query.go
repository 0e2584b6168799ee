package master

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"fleet/internal/agent"
	"fleet/roster"
)

// What can be asked about a run besides its snapshot, by the command line and over HTTP.

// TaskFilter picks tasks of the graph.
type TaskFilter struct {
	Status        string
	Limit, Offset int // at most so many, 0 is all; without the first so many
}

// TaskList is what a filter lets by, and how many there would be without its limits.
type TaskList struct {
	Tasks []roster.TaskView `json:"tasks"`
	Total int               `json:"total"`
}

// Tasks lists tasks in the order of the table.
func (o TaskFilter) Tasks(s *roster.State) (l TaskList, err error) {
	if o.Limit < 0 || o.Offset < 0 {
		return l, roster.Usagef("limit %d, offset %d: want 0 or more", o.Limit, o.Offset)
	}
	l.Tasks = s.TaskViews()
	if o.Status != "" {
		if err := oneOf("status", "status", o.Status, roster.TaskStatuses); err != nil {
			return l, err
		}
		l.Tasks = slices.DeleteFunc(l.Tasks, func(v roster.TaskView) bool { return string(v.Status) != o.Status })
	}
	l.Total = len(l.Tasks)
	l.Tasks = l.Tasks[min(o.Offset, l.Total):]
	l.Tasks = l.Tasks[:min(cmp.Or(o.Limit, l.Total), len(l.Tasks))]
	return l, nil
}

// TaskDetail is a task with all that the run knows about it.
type TaskDetail struct {
	roster.TaskView
	Dependents []string `json:"dependents"`
	Changes    []string `json:"changes"` // files that it wrote, in order
	Brief      string   `json:"brief"`
	Results    []string `json:"results"`
}

// Task tells what is known about one task.
func (f *Fleet) Task(ctx context.Context, id string) (TaskDetail, error) {
	detail := TaskDetail{Dependents: []string{}, Changes: []string{}, Results: []string{}, Brief: f.Dir.Rel(f.Dir.Brief(id))}
	err := f.Dir.View(ctx, func(s *roster.State) error {
		views := s.TaskViews()
		i := slices.IndexFunc(views, func(v roster.TaskView) bool { return v.ID == id })
		if i < 0 {
			return roster.Dataf("%s is not in the graph", id).Hinted("see: fleet tasks")
		}
		detail.TaskView = views[i]
		detail.Dependents = append(detail.Dependents, s.Dependents(id)...)
		return nil
	})
	if err != nil {
		return detail, err
	}
	err = each(f.Dir.Events(0), func(e roster.Event) error {
		if path, _ := e.Data["path"].(string); e.Type == roster.FileChanged && e.Task == id && !slices.Contains(detail.Changes, path) {
			detail.Changes = append(detail.Changes, path)
		}
		return nil
	})
	for _, path := range f.Dir.Results(id, detail.Attempts) {
		detail.Results = append(detail.Results, f.Dir.Rel(path))
	}
	return detail, err
}

// AddTasks puts tasks into the graph, all of them or none, and returns their ids.
func (f *Fleet) AddTasks(ctx context.Context, batch []roster.NewTask) ([]string, error) {
	for _, n := range batch {
		if n.Brain != "" {
			if _, err := agent.Find(n.Brain); err != nil {
				return nil, err
			}
		}
	}
	return f.Dir.AddTasks(ctx, batch)
}

// Conflicts lists the writes that were denied; those that are resolved or those that are not, if that is asked.
func (f *Fleet) Conflicts(ctx context.Context, resolved *bool) (conflicts []roster.Conflict, err error) {
	var denials []roster.Event
	err = each(f.Dir.Events(0), func(e roster.Event) error { // before the lock: a log may be long, and hooks don't wait for long
		if e.Type == roster.LeaseDenied {
			denials = append(denials, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = f.Dir.View(ctx, func(s *roster.State) error {
		conflicts = s.Conflicts(denials)
		return nil
	})
	if resolved != nil {
		conflicts = slices.DeleteFunc(conflicts, func(c roster.Conflict) bool { return c.Resolved != *resolved })
	}
	return conflicts, err
}

// EventFilter picks events of the log.
type EventFilter struct {
	Since int64 // only those after this id
	Limit int   // at most so many; 0 is all
	Types []string
}

// Events hands on the events that a filter lets by, oldest first, and with follow those to come.
func (f *Fleet) Events(ctx context.Context, o EventFilter, follow bool, hand func(roster.Event) error) error {
	for _, t := range o.Types {
		if err := oneOf("type", "type of event", t, roster.EventTypes); err != nil {
			return err
		}
	}
	if o.Limit < 0 {
		return roster.Usagef("limit %d: want 0 or more", o.Limit)
	}
	handed := 0
	take := func(e roster.Event) error {
		if len(o.Types) > 0 && !slices.Contains(o.Types, string(e.Type)) {
			return nil
		}
		if err := hand(e); err != nil {
			return err
		}
		if handed++; handed == o.Limit {
			return errSeen
		}
		return nil
	}
	var err error
	if follow {
		err = f.Dir.Follow(ctx, o.Since, take)
	} else {
		err = each(f.Dir.Events(o.Since), take)
	}
	if errors.Is(err, errSeen) {
		err = nil
	}
	return err
}

func each(events iter.Seq2[roster.Event, error], fn func(roster.Event) error) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// oneOf refuses a value that is none of those that there are.
func oneOf[S ~string](name, what, value string, there []S) error {
	names := make([]string, len(there))
	for i, s := range there {
		if names[i] = string(s); names[i] == value {
			return nil
		}
	}
	return roster.Usagef("%s %s: no such %s", name, value, what).Hinted("there are: %s", strings.Join(names, " "))
}
