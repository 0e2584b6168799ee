package roster

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// graph finds tasks by id in one step. It is good until tasks are added.
type graph struct {
	tasks []Task
	at    map[string]int
}

func (s *State) graph() graph {
	g := graph{tasks: s.Tasks, at: make(map[string]int, len(s.Tasks))}
	for i := range s.Tasks {
		g.at[s.Tasks[i].ID] = i
	}
	return g
}

// find returns the row of a task id, or nil.
func (g graph) find(id string) *Task {
	if i, known := g.at[id]; known {
		return &g.tasks[i]
	}
	return nil
}

// finder is how the rules below look up a dependency: graph.find when they are
// asked about many tasks, State.Task when about one.
type finder func(id string) *Task

func (find finder) unmet(id string) bool {
	t := find(id)
	return t == nil || t.Status != TaskDone
}

// ready reports whether a task waits for nothing but a worker, and perhaps its backoff.
func (find finder) ready(t *Task) bool {
	return t.Status == TaskPending && t.Attempts < t.MaxAttempts && !slices.ContainsFunc(t.DependsOn, find.unmet)
}

// runnable reports whether a task may be given out now.
func (s *State) runnable(find finder, t *Task) bool {
	return !t.backsOff(s.Now) && find.ready(t)
}

// downstream is who depends on whom, to be walked down.
type downstream struct {
	dependents map[string][]*Task
	seen       map[*Task]bool
}

func (g graph) downstream() downstream {
	d := downstream{map[string][]*Task{}, map[*Task]bool{}}
	for t := range rows(g.tasks) {
		for _, id := range t.DependsOn {
			d.dependents[id] = append(d.dependents[id], t)
		}
	}
	return d
}

// below are the waiting tasks that depend on one, however far down. Blocked ones
// are walked through. A task is found once, below the first that is asked about.
func (d downstream) below(id string) []*Task {
	var found []*Task
	for next := []string{id}; len(next) > 0; next = next[1:] {
		for _, t := range d.dependents[next[0]] {
			if d.seen[t] || t.Status != TaskPending && t.Status != TaskBlockedUpstream {
				continue
			}
			d.seen[t] = true
			if t.Status == TaskPending {
				found = append(found, t)
			}
			next = append(next, t.ID)
		}
	}
	return found
}

// Due is the next time at which a task may become runnable by itself, or be taken
// from a worker: the first of all backoffs and deadlines. Zero is never.
func (s *State) Due() time.Time {
	var due time.Time
	earliest := func(at Time) {
		if at.After(s.Now) && (due.IsZero() || at.Before(due)) {
			due = at.Time
		}
	}
	for w := range rows(s.Workstreams) {
		earliest(w.ParkedUntil)
	}
	for t := range rows(s.Tasks) {
		switch {
		case t.Status == TaskPending:
			earliest(t.BackoffUntil)
		case t.Open():
			earliest(t.Deadline)
		}
	}
	return due
}

// Pending reports whether a task waits, for whatever.
func (s *State) Pending() bool {
	return slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Status == TaskPending })
}

// TaskView is a task with what is derived about it, which is stored nowhere.
type TaskView struct {
	Task
	Runnable bool     `json:"runnable"`
	Unmet    []string `json:"unmet_dependencies"`
}

// TaskViews returns every task, in the order of the table.
func (s *State) TaskViews() []TaskView {
	find := finder(s.graph().find)
	views := make([]TaskView, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		v := TaskView{Task: *t, Runnable: s.runnable(find, t), Unmet: []string{}}
		for _, id := range t.DependsOn {
			if find.unmet(id) {
				v.Unmet = append(v.Unmet, id)
			}
		}
		v.DependsOn, v.Scope = list(t.DependsOn), list(t.Scope)
		views[i] = v
	}
	return views
}

// list makes an empty list of none, for programs that go through it.
func list(v []string) []string {
	if v == nil {
		return []string{}
	}
	return v
}

// Dependents are the tasks that depend on one directly.
func (s *State) Dependents(id string) []string {
	var ids []string
	for t := range rows(s.Tasks) {
		if slices.Contains(t.DependsOn, id) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// compareIDs orders ids as people count: T2 before T10.
func compareIDs(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na == 0 || nb == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(na, nb)); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
