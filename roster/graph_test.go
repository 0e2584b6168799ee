package roster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// statuses are those of all tasks, "T1:pending" each, in the order of the table.
func statuses(s *State) []string {
	all := []string{}
	for _, t := range s.Tasks {
		all = append(all, t.ID+":"+string(t.Status))
	}
	return all
}

func TestAddTasks(t *testing.T) {
	s := &State{Now: now, MaxAttempts: 5, Workstreams: []Workstream{{ID: "WS01", Status: Done, Heartbeat: 7}, {ID: "WS02", Status: Done}}, Leases: LeaseMap{}}
	ids, err := s.AddTasks([]NewTask{
		{ID: "late", Description: "\n  the last one\nmore", DependsOn: []string{"early", "WS01", "early"}, Priority: 5},
		{ID: "early", Title: "the first one", Scope: []string{"./api/", "api", "web/*.css"}, Brain: "glm", MaxAttempts: 1, Verify: "make\ttest "},
		{Title: "its own", Workstream: "WS01"},
	})
	must(t, err)
	eq(t, "ids", ids, []string{"late", "early", "WS01"})
	base := Task{Status: TaskPending, Priority: 3, MaxAttempts: 5, CreatedAt: Time{now}, UpdatedAt: Time{now}}
	late, early, own := base, base, base
	late.ID, late.Title, late.DependsOn, late.Priority = "late", "the last one", []string{"early", "WS01"}, 5
	early.ID, early.Title, early.Scope, early.Brain, early.MaxAttempts, early.Verify = "early", "the first one", []string{"api", "web/*.css"}, "glm", 1, "make test"
	own.ID, own.Title, own.Workstream, own.Pinned = "WS01", "its own", "WS01", true
	eq(t, "tasks", s.Tasks, []Task{late, early, own})
	eq(t, "events", said(s), []string{
		"task_created  late title=the last one",
		"task_created  early title=the first one",
		"task_created WS01 WS01 title=its own",
		"status_changed WS01 from=done to=started", // it has more to do
	})
	eq(t, "the other's status", row(t, s, "WS02").Status, Done)
	_, err = s.AddTasks([]NewTask{{Title: "more", Workstream: "WS02"}})
	must(t, err)
	eq(t, "one whose worker has left", row(t, s, "WS02").Status, Pending)
	eq(t, "wakes", s.Wakes(), true) // CF-45

	s = &State{Now: now}
	_, err = s.AddTasks([]NewTask{{ID: "T1", Title: "x"}})
	must(t, err)
	eq(t, "attempts by default", s.Tasks[0].MaxAttempts, DefaultMaxAttempts) // CF-81
}

// The whole batch or none of it, and the error names what is wrong.
func TestAddTasksRefuses(t *testing.T) {
	x := func(id string, deps ...string) NewTask { return NewTask{ID: id, Title: "x", DependsOn: deps} }
	for name, c := range map[string]struct {
		batch []NewTask
		kind  Kind
		says  string
	}{
		"nameless":            {[]NewTask{{Title: "x"}}, Usage, "without an id must be pinned"},
		"no text":             {[]NewTask{{ID: "T1", Description: " \n\t"}}, Usage, "T1: the task is empty"},
		"bad id":              {[]NewTask{x("a b")}, Data, `task id "a b"`},
		"a path":              {[]NewTask{x("../x")}, Data, `task id "../x"`},
		"a dot":               {[]NewTask{x(".x")}, Data, `task id ".x"`},
		"long id":             {[]NewTask{x(strings.Repeat("x", 65))}, Data, "at most 64"},
		"id with a newline":   {[]NewTask{x("T1\n")}, Data, "task id"},
		"reserved":            {[]NewTask{x("WS07")}, Data, "belong to the tasks of a workstream"},
		"reserved, numbered":  {[]NewTask{x("WS01.2")}, Data, "belong to the tasks of a workstream"},
		"reserved for others": {[]NewTask{{ID: "WS02.2", Title: "x", Workstream: "WS01"}}, Data, "belong to the tasks of a workstream"},
		"twice in the batch":  {[]NewTask{x("T1"), x("T1")}, Data, "T1 stands twice in the batch"},
		"in the store":        {[]NewTask{x("T1"), x("old")}, Data, "old is in the graph already"},
		"no such workstream":  {[]NewTask{{ID: "T1", Title: "x", Workstream: "WS09"}}, Data, "WS09 is not in the roster"},
		"priority too high":   {[]NewTask{{ID: "T1", Title: "x", Priority: 6}}, Data, "priority 6: want 1 to 5"},
		"priority too low":    {[]NewTask{{ID: "T1", Title: "x", Priority: -1}}, Data, "priority -1"},
		"attempts":            {[]NewTask{{ID: "T1", Title: "x", MaxAttempts: -1}}, Data, "max_attempts -1"},
		"scope":               {[]NewTask{{ID: "T1", Title: "x", Scope: []string{"a", "../b"}}}, Data, "scope of T1"},
		"itself":              {[]NewTask{x("T1", "old", "T1")}, Data, "T1 depends on itself"},
		"itself, unnamed":     {[]NewTask{{Title: "x", Workstream: "WS01", DependsOn: []string{"WS01"}}}, Data, "WS01 depends on itself"},
		"unknown":             {[]NewTask{x("T1", "T2"), x("T2", "T3")}, Data, "T2 depends on T3, which is not in the graph"},
		"two":                 {[]NewTask{x("T1", "T2"), x("T2", "T1")}, Data, "in a circle: T1 → T2 → T1"},
		"three, and others":   {[]NewTask{x("T0", "T1", "old"), x("T1", "T3"), x("T2", "T1"), x("T3", "old", "T2")}, Data, "in a circle: T1 → T3 → T2 → T1"},
		"far from the start":  {[]NewTask{x("T0"), x("T1", "T0"), x("T2", "T0", "T3"), x("T3", "T4"), x("T4", "T2")}, Data, "T2 → T3 → T4 → T2"},
	} {
		t.Run(name, func(t *testing.T) {
			state := func() *State {
				return &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: Done}}, Tasks: []Task{{ID: "old", Status: TaskDone}}}
			}
			s := state()
			s.Leases = LeaseMap{}
			before := clone(s)
			ids, err := s.AddTasks(append([]NewTask{{Title: "fine", Workstream: "WS01", ID: "WS01.9"}}, c.batch...))
			refused(t, err, c.kind, c.says)
			eq(t, "ids", ids, []string(nil))
			same(t, s, before)
			eq(t, "events", said(s), []string{})
			eq(t, "wakes", s.Wakes(), false)
		})
	}
}

// Two ways to one task are no circle.
func TestAddTasksDiamond(t *testing.T) {
	s := &State{Now: now}
	_, err := s.AddTasks([]NewTask{
		{ID: "a", Title: "x", DependsOn: []string{"b", "c"}},
		{ID: "b", Title: "x", DependsOn: []string{"d"}},
		{ID: "c", Title: "x", DependsOn: []string{"d", "b"}},
		{ID: "d", Title: "x"},
	})
	must(t, err)
}

// Tasks of one workstream are numbered, in the order in which people count.
func TestPinnedIDs(t *testing.T) {
	s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Name: "api", Status: Started, Epoch: 1}}, Leases: LeaseMap{}}
	var want []string
	for n := 1; n <= 12; n++ {
		ids, err := s.AddTasks([]NewTask{{Title: "x", Workstream: "WS01"}})
		must(t, err)
		want = append(want, "WS01")
		if n > 1 {
			want[n-1] = fmt.Sprintf("WS01.%d", n)
		}
		eq(t, "id", ids, want[n-1:])
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(s.Tasks), func(i, j int) { s.Tasks[i], s.Tasks[j] = s.Tasks[j], s.Tasks[i] })
	for _, id := range want {
		eq(t, "the first", s.FirstTask(row(t, s, "WS01")), id)
		s.Task(id).Status = TaskDone
	}
	eq(t, "after the last", s.FirstTask(row(t, s, "WS01")), "")
}

func TestCompareIDs(t *testing.T) {
	ordered := []string{
		"", "1", "01", "2", "10", "T", "T0", "T1", "T1.2", "T1.10", "T1a", "T2", "T02", "T10", "T99999999999999999999998", "T99999999999999999999999",
		"Ta", "WS01", "WS01.2", "WS01.10", "WS02", "WS10", "t1",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i != j {
				want = 1 - 2*min(1, max(0, j-i))
			}
			if got := compareIDs(a, b); got != want {
				t.Errorf("compareIDs(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// A chain of thousands is added, failed and freed again without deep trouble.
func TestLongChain(t *testing.T) {
	const n = 10_000
	s := &State{Now: now, Leases: LeaseMap{}}
	batch := make([]NewTask, n)
	for i := range n {
		batch[i] = NewTask{ID: fmt.Sprintf("T%d", i), Title: "x"}
		if i+1 < n {
			batch[i].DependsOn = []string{fmt.Sprintf("T%d", i+1)}
		}
	}
	_, err := s.AddTasks(batch)
	must(t, err)
	batch[n-1].DependsOn = []string{"T0"}
	_, err = (&State{Now: now}).AddTasks(batch)
	refused(t, err, Data, "in a circle: T0 → T1")

	must(t, s.CancelTask(fmt.Sprintf("T%d", n-1)))
	must(t, s.Tick(nobody))
	blocked := 0
	for i := range s.Tasks {
		if s.Tasks[i].Status == TaskBlockedUpstream {
			blocked++
		}
	}
	eq(t, "blocked", blocked, n-1)
	must(t, s.SkipTask(fmt.Sprintf("T%d", n-1)))
	eq(t, "the first", s.Task("T0").Status, TaskPending)
}

// CF-34, CF-35: blocked is a join over what is stored, and so is runnable.
func TestRunnable(t *testing.T) {
	for name, c := range map[string]struct {
		task  Task
		want  bool
		unmet []string
	}{
		"free":                        {Task{}, true, nil},
		"all succeeded":               {Task{DependsOn: []string{"done", "done2"}}, true, nil},
		"one waits":                   {Task{DependsOn: []string{"done", "waits"}}, false, []string{"waits"}},
		"assigned, running":           {Task{DependsOn: []string{"assigned", "runs"}}, false, []string{"assigned", "runs"}},
		"failed, cancelled, blocked":  {Task{DependsOn: []string{"failed", "cancelled", "blocked"}}, false, []string{"failed", "cancelled", "blocked"}},
		"unknown":                     {Task{DependsOn: []string{"gone"}}, false, []string{"gone"}},
		"at the cap":                  {Task{Attempts: 3}, false, nil},
		"one before":                  {Task{Attempts: 2}, true, nil},
		"beyond":                      {Task{Attempts: 4}, false, nil},
		"backs off":                   {Task{BackoffUntil: Time{now.Add(time.Millisecond)}}, false, nil},
		"has backed off":              {Task{BackoffUntil: Time{now}}, true, nil},
		"assigned itself":             {Task{Status: TaskAssigned}, false, nil},
		"running itself":              {Task{Status: TaskRunning}, false, nil},
		"succeeded itself":            {Task{Status: TaskDone}, false, nil},
		"failed itself":               {Task{Status: TaskGivenUp}, false, nil},
		"blocked upstream, but freed": {Task{Status: TaskBlockedUpstream, DependsOn: []string{"done"}}, false, nil},
		"cancelled itself":            {Task{Status: TaskCancelled}, false, nil},
	} {
		c.task.ID, c.task.MaxAttempts = "T", 3
		if c.task.Status == "" {
			c.task.Status = TaskPending
		}
		s := &State{Now: now, Tasks: []Task{
			{ID: "done", Status: TaskDone},
			{ID: "done2", Status: TaskDone},
			{ID: "waits", Status: TaskPending},
			{ID: "assigned", Status: TaskAssigned},
			{ID: "runs", Status: TaskRunning},
			{ID: "failed", Status: TaskGivenUp},
			{ID: "cancelled", Status: TaskCancelled},
			{ID: "blocked", Status: TaskBlockedUpstream},
			c.task,
		}}
		views := s.TaskViews()
		eq(t, name, views[len(views)-1], TaskView{Task: c.task, Runnable: c.want, Unmet: c.unmet})
	}
}

func TestDependents(t *testing.T) {
	s := &State{Tasks: []Task{{ID: "a"}, {ID: "b", DependsOn: []string{"a"}}, {ID: "c", DependsOn: []string{"b"}}, {ID: "d", DependsOn: []string{"c", "a"}}}}
	eq(t, "of a", s.Dependents("a"), []string{"b", "d"})
	eq(t, "of d", s.Dependents("d"), []string(nil))
}
