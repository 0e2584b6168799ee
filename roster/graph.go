package roster

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// NewTask is what is known of a task before it is in the graph.
type NewTask struct {
	ID          string // empty: one is made
	Title       string
	Description string // the prompt, whole; it becomes the brief
	Priority    int    // 1 to 5, higher first; 0 is DefaultPriority
	Scope       []string
	DependsOn   []string
	MaxAttempts int    // 0 is the run's default
	Workstream  string // pinned to it; empty is any idle worker's
	Brain       string
	Verify      string // shell command that must succeed before the task counts as done
}

// AddTasks puts tasks into the graph: all of them, or none, and the error names
// what is wrong. Their edges may point at each other and at tasks that are there
// already. A task without an id must be pinned, and gets the next one of its
// workstream: WS01, WS01.2 and so on. It returns the ids, in the order of the batch.
func (s *State) AddTasks(batch []NewTask) (ids []string, err error) {
	added := make([]Task, len(batch))
	known := make(map[string]bool, len(s.Tasks)+len(batch))
	for i := range s.Tasks {
		known[s.Tasks[i].ID] = true
	}
	for i, n := range batch {
		if added[i], err = s.newTask(n, known); err != nil {
			return nil, err
		}
		known[added[i].ID] = true
		ids = append(ids, added[i].ID)
	}
	for i := range added {
		for _, d := range added[i].DependsOn {
			if !known[d] {
				return nil, Dataf("%s depends on %s, which is not in the graph", added[i].ID, d)
			}
		}
	}
	if cycle := findCycle(added); cycle != nil {
		return nil, Dataf("these depend on each other in a circle: %s", strings.Join(cycle, " → "))
	}
	for _, t := range added {
		s.Tasks = append(s.Tasks, t)
		s.Note(TaskCreated, t.Workstream, t.ID, map[string]any{"title": t.Title})
		s.reopen(t.Workstream)
	}
	s.wakes = true
	return ids, nil
}

// reopen takes back that a workstream was done, since it has more to do.
func (s *State) reopen(ws string) {
	w, err := s.Workstream(ws)
	switch {
	case err != nil || w.Status != Done:
	case w.Heartbeat == 0: // its worker has left
		s.setStatus(w, Pending, "")
	default:
		s.setStatus(w, Started, "")
	}
}

var taskIDPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// newTask checks one task of a batch by itself.
func (s *State) newTask(n NewTask, known map[string]bool) (Task, error) {
	owner, _, _ := strings.Cut(n.ID, ".")
	switch {
	case n.ID == "" && n.Workstream == "":
		return Task{}, Usagef("a task without an id must be pinned to a workstream")
	case n.ID == "":
		n.ID = pinnedID(n.Workstream, known)
	case !taskIDPattern().MatchString(n.ID):
		return Task{}, Dataf("task id %q: want A-Z, a-z, 0-9, dots, - and _, at most 64", n.ID)
	case CheckID(owner) == nil && owner != n.Workstream:
		return Task{}, Dataf("task id %q: ids of this form belong to the tasks of a workstream", n.ID)
	}
	title := Title(cmp.Or(n.Title, n.Description))
	switch {
	case known[n.ID] && s.Task(n.ID) == nil:
		return Task{}, Dataf("%s stands twice in the batch", n.ID)
	case known[n.ID]:
		return Task{}, Dataf("%s is in the graph already", n.ID)
	case slices.Contains(n.DependsOn, n.ID):
		return Task{}, Dataf("%s depends on itself", n.ID)
	case title == "":
		return Task{}, Usagef("%s: the task is empty", n.ID)
	case n.Priority < 0 || n.Priority > 5:
		return Task{}, Dataf("%s: priority %d: want 1 to 5", n.ID, n.Priority)
	case n.MaxAttempts < 0:
		return Task{}, Dataf("%s: max_attempts %d: want 1 or more", n.ID, n.MaxAttempts)
	}
	if n.Workstream != "" {
		if _, err := s.Workstream(n.Workstream); err != nil {
			return Task{}, err
		}
	}
	scope, err := cleanScope(n)
	return Task{
		ID: n.ID, Title: title, Status: TaskPending, Priority: cmp.Or(n.Priority, DefaultPriority),
		DependsOn: unique(n.DependsOn), Scope: scope, Workstream: n.Workstream, Pinned: n.Workstream != "", Brain: n.Brain,
		MaxAttempts: cmp.Or(n.MaxAttempts, s.MaxAttempts, DefaultMaxAttempts), Verify: strings.TrimSpace(Flat(n.Verify)),
		CreatedAt: Time{s.Now}, UpdatedAt: Time{s.Now},
	}, err
}

func cleanScope(n NewTask) ([]string, error) {
	scope := make([]string, len(n.Scope))
	for i, p := range n.Scope {
		c, err := CleanClaim(p)
		if err != nil {
			return nil, Dataf("scope of %s: %v", n.ID, err)
		}
		scope[i] = c
	}
	return unique(scope), nil
}

// unique drops what comes again.
func unique(list []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// pinnedID is the next free id of a workstream's tasks.
func pinnedID(ws string, known map[string]bool) string {
	id := ws
	for n := 2; known[id]; n++ {
		id = fmt.Sprintf("%s.%d", ws, n)
	}
	return id
}

// findCycle returns a circle among tasks, its first id again at the end, or nil.
// What is in the graph already can't be part of one: it depends on nothing newer.
func findCycle(tasks []Task) []string {
	at := make(map[string]int, len(tasks))
	for i := range tasks {
		at[tasks[i].ID] = i
	}
	const unseen, open, over = 0, 1, 2
	state := make([]int, len(tasks))
	var path []string
	var visit func(i int) []string
	visit = func(i int) []string {
		state[i] = open
		path = append(path, tasks[i].ID)
		for _, d := range tasks[i].DependsOn {
			j, inBatch := at[d]
			if inBatch && state[j] == open {
				return append(slices.Clone(path[slices.Index(path, d):]), d)
			}
			if inBatch && state[j] == unseen {
				if cycle := visit(j); cycle != nil {
					return cycle
				}
			}
		}
		state[i] = over
		path = path[:len(path)-1]
		return nil
	}
	for i := range tasks {
		if state[i] == unseen {
			if cycle := visit(i); cycle != nil {
				return cycle
			}
		}
	}
	return nil
}

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
	for i := range g.tasks {
		for _, id := range g.tasks[i].DependsOn {
			d.dependents[id] = append(d.dependents[id], &g.tasks[i])
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
	for i := range s.Tasks {
		t := &s.Tasks[i]
		at := t.Deadline.Time
		if t.Status == TaskPending {
			at = t.BackoffUntil.Time
		}
		if t.Open() && at.After(s.Now) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
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
	for i := range s.Tasks {
		if slices.Contains(s.Tasks[i].DependsOn, id) {
			ids = append(ids, s.Tasks[i].ID)
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
