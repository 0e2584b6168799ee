package roster

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// NewTask is what is known of a task before it is in the graph.
type NewTask struct {
	ID          string   `json:"id"` // empty: one is made
	Title       string   `json:"title"`
	Description string   `json:"description"` // the prompt, whole; it becomes the brief
	Priority    int      `json:"priority"`    // 1 to 5, higher first; 0 is DefaultPriority
	Scope       []string `json:"scope"`
	DependsOn   []string `json:"depends_on"`
	MaxAttempts int      `json:"max_attempts"` // 0 is the run's default
	Workstream  string   `json:"workstream"`   // pinned to it; empty is any idle worker's
	Brain       string   `json:"brain"`
	Verify      string   `json:"verify"` // shell command that must succeed before the task counts as done
}

// AddTasks puts tasks into the graph: all of them, or none, and the error names
// what is wrong. Their edges may point at each other and at tasks that are there
// already. A task without an id must be pinned, and gets the next one of its
// workstream: WS01, WS01.2 and so on. It returns the ids, in the order of the batch.
func (s *State) AddTasks(batch []NewTask) (ids []string, err error) {
	added := make([]Task, len(batch))
	known := make(map[string]bool, len(s.Tasks)+len(batch))
	for t := range rows(s.Tasks) {
		known[t.ID] = true
	}
	for i, n := range batch {
		if added[i], err = s.newTask(n, known); err != nil {
			return nil, err
		}
		known[added[i].ID] = true
		ids = append(ids, added[i].ID)
	}
	for t := range rows(added) {
		for _, d := range t.DependsOn {
			if !known[d] {
				return nil, Dataf("%s depends on %s, which is not in the graph", t.ID, d)
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

// Check says what is wrong with a task whatever its id is, which may yet have to be made.
func (n *NewTask) Check() error {
	switch {
	case n.title() == "":
		return Usagef("the task is empty")
	case n.Priority < 0 || n.Priority > maxPriority:
		return Dataf("priority %d: want 1 to %d", n.Priority, maxPriority)
	case n.MaxAttempts < 0:
		return Dataf("max_attempts %d: want 1 or more", n.MaxAttempts)
	}
	return nil
}

func (n *NewTask) title() string { return Title(cmp.Or(n.Title, n.Description)) }

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
	switch {
	case known[n.ID] && s.Task(n.ID) == nil:
		return Task{}, Dataf("%s stands twice in the batch", n.ID)
	case known[n.ID]:
		return Task{}, Dataf("%s is in the graph already", n.ID)
	case slices.Contains(n.DependsOn, n.ID):
		return Task{}, Dataf("%s depends on itself", n.ID)
	}
	if err := n.Check(); err != nil {
		return Task{}, fmt.Errorf("%s: %w", n.ID, err)
	}
	if n.Workstream != "" {
		if _, err := s.unlanded(n.Workstream); err != nil {
			return Task{}, err
		}
	}
	scope, err := cleanScope(n)
	return Task{
		ID: n.ID, Title: n.title(), Status: TaskPending, Priority: cmp.Or(n.Priority, DefaultPriority),
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
