package roster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// plan is what a snapshot calls for, one decision a word or two: "assign WS01 T1".
func plan(s *State, alive func(string) bool) []string {
	lines := []string{}
	for _, d := range s.Schedule(alive) {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(d.Do, " ", d.WS, " ", d.Task)), " "))
	}
	return lines
}

func tick(t *testing.T, s *State, alive func(string) bool) {
	t.Helper()
	must(t, s.Tick(alive))
}

// lane is a headless workstream whose worker waits, and todo a task that may be given out.
func lane(id string) Workstream {
	return Workstream{ID: id, Name: strings.ToLower(id), Status: Started, Epoch: 1, Mode: Headless}
}

func todo(id string) Task {
	return Task{ID: id, Status: TaskPending, Priority: 3, MaxAttempts: 3, CreatedAt: ago(time.Hour)}
}

func pinned(id, ws string) Task {
	t := todo(id)
	t.Workstream, t.Pinned = ws, true
	return t
}

func scoped(id string, scope ...string) Task {
	t := todo(id)
	t.Scope = scope
	return t
}

// doing is a task that a workstream has in hand.
func doing(id, ws string, scope ...string) Task {
	t := scoped(id, scope...)
	t.Status, t.Workstream, t.Attempts, t.AssignedAt = TaskRunning, ws, 1, ago(time.Minute)
	return t
}

// CF-36, CF-37: as many as there are idle workers, in a total order: priority, age, id as people count.
func TestScheduleOrder(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}}
	for i := range 9 {
		s.Workstreams = append(s.Workstreams, lane(fmt.Sprintf("WS0%d", i)))
	}
	task := func(id string, priority int, age time.Duration) Task {
		t := todo(id)
		t.Priority, t.CreatedAt = priority, ago(age)
		return t
	}
	s.Tasks = []Task{
		task("young", 5, time.Second), task("old", 5, time.Hour), task("low", 1, 48*time.Hour), task("T10", 3, time.Minute),
		task("T2", 3, time.Minute), task("T1.10", 3, time.Minute), task("T1.2", 3, time.Minute), task("ancient", 3, 24*time.Hour),
	}
	want := []string{"old", "young", "ancient", "T1.2", "T1.10", "T2", "T10", "low"}
	random := rand.New(rand.NewPCG(3, 4))
	for workers := range 10 {
		random.Shuffle(len(s.Tasks), func(i, j int) { s.Tasks[i], s.Tasks[j] = s.Tasks[j], s.Tasks[i] })
		some := &State{Now: now, Workstreams: s.Workstreams[:workers], Tasks: s.Tasks, Leases: s.Leases}
		got := []string{}
		for _, d := range some.Schedule(everybody) {
			eq(t, "do", d.Do, DoAssign)
			got = append(got, d.Task)
		}
		eq(t, fmt.Sprintf("%d workers", workers), got, want[:min(workers, len(want))])
	}
}

// CF-12, CF-32, CF-38, CF-40, CF-41, CF-147: what doesn't meet the work of others is given out; what does is passed over, not waited for.
func TestScheduleScopes(t *testing.T) {
	idle := []Workstream{lane("WS01"), lane("WS02"), lane("WS03")}
	busy := Workstream{ID: "WS04", Name: "ws04", Status: Working, Epoch: 1, TaskID: "B"}
	for name, c := range map[string]struct {
		tasks  []Task
		leases LeaseMap
		want   []string
	}{
		"no scope never meets anything": {
			[]Task{doing("B", "WS04", "a"), todo("T1"), todo("T2")}, held("x.go:WS04/B"), []string{"assign WS01 T1", "assign WS02 T2"},
		},
		"the same file":               {[]Task{doing("B", "WS04", "a.go"), scoped("T1", "a.go")}, nil, nil},
		"one of several":              {[]Task{doing("B", "WS04", "x", "a.go"), scoped("T1", "b.go", "a.go", "c.go")}, nil, nil},
		"another file":                {[]Task{doing("B", "WS04", "a.go"), scoped("T1", "a.gox", "a", "b/a.go")}, nil, []string{"assign WS01 T1"}},
		"a file in a directory":       {[]Task{doing("B", "WS04", "api"), scoped("T1", "api/deep/a.go")}, nil, nil},
		"a directory around a file":   {[]Task{doing("B", "WS04", "api/deep/a.go"), scoped("T1", "api")}, nil, nil},
		"a directory with that start": {[]Task{doing("B", "WS04", "api"), scoped("T1", "api2/a.go")}, nil, []string{"assign WS01 T1"}},
		"a glob around a file":        {[]Task{doing("B", "WS04", "api/a.go"), scoped("T1", "api/*.go")}, nil, nil},
		"a file in a glob":            {[]Task{doing("B", "WS04", "api/**/x"), scoped("T1", "api/q/x")}, nil, nil},
		"two globs":                   {[]Task{doing("B", "WS04", "api/*.go"), scoped("T1", "api/v*/x")}, nil, nil},
		"globs elsewhere":             {[]Task{doing("B", "WS04", "api/*.go"), scoped("T1", "web/*.go")}, nil, []string{"assign WS01 T1"}},
		"everything":                  {[]Task{doing("B", "WS04", "api"), scoped("T1", "."), scoped("T2", "**/x")}, nil, nil},
		"everything is busy":          {[]Task{doing("B", "WS04", "*"), scoped("T1", "z")}, nil, nil},
		"everything, and it is free":  {[]Task{scoped("T1", "."), scoped("T2", "x")}, nil, []string{"assign WS01 T1"}},
		"a lease":                     {[]Task{doing("B", "WS04"), scoped("T1", "a.go"), scoped("T2", "a"), scoped("T3", ".")}, held("a.go:WS04/B", "a/x:WS04/B"), nil},
		"a lease of one that is idle": {[]Task{scoped("T1", "a.go")}, held("a.go:WS02"), nil},
		"a lease of nobody's":         {[]Task{scoped("T1", "a.go")}, held("a.go:WS77"), nil},
		"an assigned task counts as a running one": {
			func() []Task {
				b := doing("B", "WS04", "a.go")
				b.Status = TaskAssigned
				return []Task{b, scoped("T1", "a.go")}
			}(), nil, nil,
		},
		"one that is over doesn't": {
			func() []Task {
				b := doing("B", "WS04", "a.go")
				b.Status = TaskDone
				return []Task{b, scoped("T1", "a.go")}
			}(), nil, []string{"assign WS01 T1"},
		},
		"given out in the same tick": {
			[]Task{scoped("T1", "api"), scoped("T2", "api/x.go"), scoped("T3", "web"), scoped("T4", "w*")}, nil, []string{"assign WS01 T1", "assign WS02 T3"},
		},
		"no head of the line": {
			[]Task{doing("B", "WS04", "api"), scoped("T1", "api/a"), scoped("T2", "api/b"), todo("T3"), scoped("T4", "web")},
			nil,
			[]string{"assign WS01 T3", "assign WS02 T4"},
		},
	} {
		if c.leases == nil {
			c.leases = LeaseMap{}
		}
		s := &State{Now: now, Workstreams: append(slices.Clone(idle), busy), Tasks: c.tasks, Leases: c.leases}
		eq(t, name, plan(s, everybody), c.want)
	}
}

// A pinned task doesn't meet what its own workstream holds, but what others do, even the same directory at once.
func TestSchedulePinnedScopes(t *testing.T) {
	own := pinned("T1", "WS01")
	own.Scope = []string{"api"}
	for name, c := range map[string]struct {
		leases LeaseMap
		want   []string
	}{
		"its own lease":     {held("api/a.go:WS01"), []string{"assign WS01 T1"}},
		"another's lease":   {held("api/a.go:WS02"), nil},
		"theirs and others": {held("api/a.go:WS01", "api/b.go:WS02"), nil},
	} {
		s := &State{Now: now, Workstreams: []Workstream{lane("WS01"), lane("WS02")}, Tasks: []Task{own}, Leases: c.leases}
		eq(t, name, plan(s, everybody), c.want)
	}
	free := own
	free.Pinned = false // whoever gets it may not be who holds the file
	s := &State{Now: now, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{free}, Leases: held("api/a.go:WS01")}
	eq(t, "not pinned", plan(s, everybody), []string(nil))
}

// CF-39: never assigned first, then whose last assignment is longest ago, then by name.
func TestScheduleIdleOrder(t *testing.T) {
	s := &State{Now: now, Workstreams: []Workstream{lane("WS01"), lane("WS02"), lane("WS03"), lane("WS04"), lane("WS05")}, Leases: LeaseMap{}}
	s.Workstreams[3].Name, s.Workstreams[4].Name = "b", "a"
	had := func(id, ws string, age time.Duration) Task {
		t := todo(id)
		t.Status, t.Workstream, t.AssignedAt = TaskDone, ws, ago(age)
		return t
	}
	s.Tasks = []Task{
		had("D1", "WS01", time.Minute), had("D2", "WS02", time.Hour), had("D3", "WS03", 2*time.Hour), had("D4", "WS03", time.Second),
		todo("T1"), todo("T2"), todo("T3"), todo("T4"), todo("T5"),
	}
	eq(t, "plan", plan(s, everybody), []string{"assign WS05 T1", "assign WS04 T2", "assign WS02 T3", "assign WS01 T4", "assign WS03 T5"})
}

// Who may be given which task. CF-36, CF-39; CF-27 by intent: idle, busy and offline are what a status comes to here.
func TestScheduleFits(t *testing.T) {
	brainy := func(brain string) Task { t := todo("T1"); t.Brain = brain; return t }
	own := pinned("T1", "WS01")
	own.Brain = "grok" // its workstream counts, whatever serves it
	for name, c := range map[string]struct {
		change func(*Workstream)
		task   Task
		want   bool
	}{
		"idle":                       {func(*Workstream) {}, todo("T1"), true},
		"interactive":                {func(w *Workstream) { w.Mode = Interactive }, todo("T1"), true},
		"done with its own":          {func(w *Workstream) { w.Status = Done }, todo("T1"), true},
		"waits after a veto":         {func(w *Workstream) { w.Status, w.Notes = Blocked, "veto: a.go" }, todo("T1"), true},
		"only a person types":        {func(w *Workstream) { w.Mode = Manual }, todo("T1"), false},
		"only a person types, own":   {func(w *Workstream) { w.Mode = Manual }, own, false},
		"no worker yet":              {func(w *Workstream) { w.Status = Pending }, todo("T1"), false},
		"never had one":              {func(w *Workstream) { w.Epoch = 0 }, todo("T1"), false},
		"at work":                    {func(w *Workstream) { w.Status = Working }, todo("T1"), false},
		"asks a person":              {func(w *Workstream) { w.Status, w.Notes = Blocked, "asks: may I?" }, todo("T1"), false},
		"blocked":                    {func(w *Workstream) { w.Status, w.Notes = Blocked, "blocked: help" }, todo("T1"), false},
		"met a limit":                {func(w *Workstream) { w.Status, w.Notes = Blocked, "agent error: limit" }, todo("T1"), false},
		"landed":                     {func(w *Workstream) { w.Status = Landed }, todo("T1"), false},
		"dead":                       {func(w *Workstream) { w.Status = Dead }, todo("T1"), false},
		"pinned to it":               {func(*Workstream) {}, own, true},
		"pinned to another":          {func(*Workstream) {}, pinned("T1", "WS02"), false},
		"its brain":                  {func(w *Workstream) { w.Brain = "glm" }, brainy("glm"), true},
		"another brain":              {func(w *Workstream) { w.Brain = "glm" }, brainy("claude"), false},
		"a brain, and it names none": {func(*Workstream) {}, brainy("claude"), false},
		"has another task in hand":   {func(w *Workstream) { w.TaskID = "gone" }, todo("T1"), false},
	} {
		s := &State{Now: now, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{c.task}, Leases: LeaseMap{}}
		c.change(&s.Workstreams[0])
		eq(t, name, slices.Contains(plan(s, everybody), "assign WS01 T1"), c.want)
		eq(t, name+", and not alive", slices.Contains(plan(s, nobody), "assign WS01 T1"), false)
	}
	// One that nobody fits leaves the workers to others, and a worker that fits is found behind one that doesn't.
	s := &State{Now: now, Workstreams: []Workstream{lane("WS01"), lane("WS02")}, Tasks: []Task{brainy("x"), pinned("T2", "WS02"), todo("T3")}, Leases: LeaseMap{}}
	eq(t, "plan", plan(s, everybody), []string{"assign WS02 T2", "assign WS01 T3"})
}

// eventful is a snapshot that calls for everything at once.
func eventful() *State {
	s := &State{Now: now, Leases: held("lib/a.go:WS01/A", "b.go:WS02/B"), Workstreams: []Workstream{
		{ID: "WS01", Name: "dead", Status: Working, Epoch: 1, Mode: Headless, TaskID: "A"},
		{ID: "WS02", Name: "wedged", Status: Working, Epoch: 2, Mode: Headless, TaskID: "B"},
		lane("WS03"), lane("WS04"), lane("WS05"),
	}}
	b := doing("B", "WS02", "b.go")
	b.Deadline = ago(time.Millisecond)
	c := todo("C")
	c.Attempts = 3
	f := todo("F")
	f.Status = TaskGivenUp
	g := todo("G")
	g.DependsOn = []string{"F"}
	s.Tasks = []Task{doing("A", "WS01", "lib"), b, c, f, g, scoped("H", "lib/a.go"), scoped("I", "b.go"), scoped("J", "b.go")}
	return s
}

// CF-47: the order of the decisions is part of the contract, and what the first ones free is free for the last.
func TestScheduleContract(t *testing.T) {
	s := eventful()
	alive := func(ws string) bool { return ws != "WS01" }
	eq(t, "decisions", s.Schedule(alive), []Decision{
		{Do: DoMarkDead, WS: "WS01", Epoch: 1, Task: "A", Attempt: 1},
		{Do: DoTakeAway, WS: "WS02", Epoch: 2, Task: "B", Attempt: 1},
		{Do: DoGiveUp, Task: "C", Attempt: 3},
		{Do: DoBlockDownstream, Task: "F"},
		{Do: DoAssign, WS: "WS03", Epoch: 1, Task: "H"},
		{Do: DoAssign, WS: "WS04", Epoch: 1, Task: "I"},
	})
	tick(t, s, alive)
	eq(t, "tasks", statuses(s), []string{
		"A:pending", "B:pending", "C:failed", "F:failed", "G:blocked_upstream", "H:assigned", "I:assigned", "J:pending",
	})
	eq(t, "holders", holders(s), []string(nil))
	told := []string{}
	for _, e := range s.Events() {
		told = append(told, strings.TrimSpace(string(e.Type)+" "+e.WS+" "+e.Task))
	}
	eq(t, "events", told, []string{
		"worker_exited WS01 A", "lease_released WS01 A", "task_requeued WS01 A", "status_changed WS01",
		"lease_released WS02 B", "task_requeued WS02 B", "status_changed WS02",
		"task_failed  C", "task_blocked_upstream  G",
		"task_assigned WS03 H", "status_changed WS03 H", "task_assigned WS04 I", "status_changed WS04 I",
	})
}

// CF-47: idle comes last, in the very list whose other decisions end the last open tasks.
func TestScheduleIdleIsLast(t *testing.T) {
	last := func() *State {
		s := eventful()
		for i := range s.Tasks {
			if s.Tasks[i].Attempts > 0 {
				s.Tasks[i].MaxAttempts = s.Tasks[i].Attempts
			}
		}
		s.Tasks = s.Tasks[:5]
		return s
	}
	alive := func(ws string) bool { return ws != "WS01" }
	want := []string{"mark_dead WS01 A", "take_away WS02 B", "give_up C", "block_downstream F", "fleet_idle"}
	s := last()
	eq(t, "plan", plan(s, alive), want)
	tick(t, s, alive)
	eq(t, "events", count(s, FleetIdle), 1)
	eq(t, "the last event", s.Events()[len(s.Events())-1].Type, FleetIdle)

	s = last()
	s.Tasks = append(s.Tasks, doing("Z", "WS03"))
	eq(t, "one is at work still", plan(s, alive), want[:4])
}

func count(s *State, e EventType) int {
	n := 0
	for _, got := range s.Events() {
		if got.Type == e {
			n++
		}
	}
	return n
}

// CF-46: the same snapshot gives the same list, whoever asks and however often, and is as it was.
func TestSchedulePure(t *testing.T) {
	for _, alive := range []func(string) bool{everybody, nobody, func(ws string) bool { return ws != "WS01" }} {
		s := eventful()
		first := s.Schedule(alive)
		for range 3 {
			eq(t, "again", s.Schedule(alive), first)
		}
		same(t, s, eventful())
		eq(t, "events", said(s), []string{})
		eq(t, "wakes", s.Wakes(), false)
	}
}

// CF-48: a decision counts only if it still holds, and one that there isn't is an error.
func TestApplyChecksAgain(t *testing.T) {
	alive := func(ws string) bool { return ws != "WS01" }
	list := eventful().Schedule(alive)
	for name, c := range map[string]struct {
		at      int // decision
		between func(*State) error
	}{
		"dead: it was launched anew":     {0, func(s *State) error { _, err := s.Launch("WS01", Launch{}); return err }},
		"dead: it has left":              {0, func(s *State) error { return s.WorkerExited("WS01", 1, Exit{}) }},
		"dead: its row is gone":          {0, func(s *State) error { s.Workstreams = s.Workstreams[1:]; return nil }},
		"late: it has completed":         {1, func(s *State) error { _, err := s.Complete("WS02", 2, "B", 1, Outcome{OK: true}); return err }},
		"late: it was cancelled":         {1, func(s *State) error { return s.CancelTask("B") }},
		"late: it is another attempt":    {1, func(s *State) error { s.Task("B").Attempts = 2; return nil }},
		"late: it has more time":         {1, func(s *State) error { return s.StartTask("WS02", 2, "B", 1, time.Minute) }},
		"late: the worker died":          {1, func(s *State) error { return s.MarkDead("WS02", 2, "gone") }},
		"at the cap: retried":            {2, func(s *State) error { s.Task("C").Attempts = 0; return nil }},
		"at the cap: skipped":            {2, func(s *State) error { return s.SkipTask("C") }},
		"at the cap: cancelled":          {2, func(s *State) error { return s.CancelTask("C") }},
		"blocked: the ancestor is back":  {3, func(s *State) error { return s.RetryTask("F") }},
		"blocked: the ancestor was done": {3, func(s *State) error { return s.SkipTask("F") }},
		"assign: cancelled":              {4, func(s *State) error { return s.CancelTask("H") }},
		"assign: done, not resurrected":  {4, func(s *State) error { return s.SkipTask("H") }},
		"assign: gone":                   {4, func(s *State) error { s.Tasks = s.Tasks[:5]; return nil }},
		"assign: another has it": {4, func(s *State) error {
			_, err := s.Apply(Decision{Do: DoAssign, WS: "WS05", Epoch: 1, Task: "H"})
			return err
		}},
		"assign: the worker has another": {4, func(s *State) error {
			_, err := s.Apply(Decision{Do: DoAssign, WS: "WS03", Epoch: 1, Task: "J"})
			return err
		}},
		"assign: the worker is gone": {4, func(s *State) error { return s.MarkDead("WS03", 1, "gone") }},
		"assign: the worker is new":  {4, func(s *State) error { s.Workstreams[2].Epoch = 2; return nil }},
		"assign: the worker asks": {4, func(s *State) error {
			s.Workstreams[2].Mode = Interactive
			return s.NeedsPerson("WS03", 1, "dialog", "?")
		}},
		"assign: it backs off":       {4, func(s *State) error { s.Task("H").BackoffUntil = Time{now.Add(1)}; return nil }},
		"assign: it depends on more": {4, func(s *State) error { s.Task("H").DependsOn = []string{"J"}; return nil }},
		"assign: it is for another":  {4, func(s *State) error { s.Task("H").Brain = "glm"; return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s := eventful()
			must(t, c.between(s))
			before, events := clone(s), len(s.Events())
			applied, err := s.Apply(list[c.at])
			must(t, err)
			eq(t, "applied", applied, false)
			same(t, s, before)
			eq(t, "events", len(s.Events()), events)
			tick(t, s, alive)
		})
	}
	s := eventful()
	for _, d := range append(list, list...) { // a second time none holds, except that blocking again finds nothing to block
		_, err := s.Apply(d)
		must(t, err)
	}
	once := eventful()
	for _, d := range list {
		applied, err := once.Apply(d)
		must(t, err)
		eq(t, string(d.Do), applied, true)
	}
	same(t, s, once)
	eq(t, "events", said(s), said(once))

	if applied, err := s.Apply(Decision{Do: "nonsense"}); err == nil || applied {
		t.Error("an unknown decision was passed over in silence")
	}
	s = eventful()
	applied, err := s.Apply(Decision{Do: DoFleetIdle})
	must(t, err)
	eq(t, "idle while tasks are open", applied, false)
}

// CF-50, CF-51: all that depends on a failure is blocked, however far down, and names who failed. What is blocked is
// walked through and not reported again; what has succeeded is left alone. The failure's own transaction blocks nothing.
func TestCascade(t *testing.T) {
	dep := func(id string, status TaskStatus, deps ...string) Task {
		t := todo(id)
		t.Status, t.DependsOn = status, deps
		return t
	}
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{{ID: "WS01", Name: "a", Status: Working, Epoch: 1, Mode: Headless, TaskID: "F"}}}
	f := doing("F", "WS01")
	f.MaxAttempts = 1
	s.Tasks = []Task{
		f, dep("child", TaskPending, "F"), dep("blocked", TaskBlockedUpstream, "F", "X"), dep("below", TaskPending, "blocked"),
		dep("deep", TaskPending, "below", "child"), dep("done", TaskDone, "F"), dep("after", TaskPending, "done"),
		dep("X", TaskCancelled), dep("other", TaskPending, "X", "F"), dep("free", TaskPending), dep("joined", TaskPending, "X"),
	}
	_, err := s.Complete("WS01", 1, "F", 1, Outcome{Kind: ErrAgent, Reason: "no"})
	must(t, err)
	eq(t, "in the same transaction", count(s, TaskIsBlocked), 0)
	tick(t, s, nobody)
	blocked := map[string]any{}
	for _, e := range s.Events() {
		if e.Type == TaskIsBlocked {
			if _, twice := blocked[e.Task]; twice {
				t.Errorf("%s was reported twice", e.Task)
			}
			blocked[e.Task] = e.Data["ancestor"]
		}
	}
	eq(t, "blocked", blocked, map[string]any{"child": "F", "below": "F", "deep": "F", "other": "F", "joined": "X"})
	eq(t, "tasks", statuses(s), []string{
		"F:failed", "child:blocked_upstream", "blocked:blocked_upstream", "below:blocked_upstream", "deep:blocked_upstream", "done:succeeded",
		"after:pending", "X:cancelled", "other:blocked_upstream", "free:pending", "joined:blocked_upstream",
	})
	n := len(s.Events())
	tick(t, s, nobody)
	eq(t, "events of another tick", len(s.Events()), n)

	// CF-52, CF-53: a retry frees them all, except those that another failure blocks as well.
	s.events = nil
	must(t, s.RetryTask("F"))
	tick(t, s, nobody)
	eq(t, "after a retry", statuses(s), []string{
		"F:pending", "child:pending", "blocked:blocked_upstream", "below:blocked_upstream", "deep:blocked_upstream", "done:succeeded",
		"after:pending", "X:cancelled", "other:blocked_upstream", "free:pending", "joined:blocked_upstream",
	})
	eq(t, "the first event", said(s)[0], "task_requeued WS01 F reason=operator_retry")
}

// CF-49: who waits for nothing else any more is told of, and nothing about it is written: it waits like any other.
func TestUnblocked(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{
		{ID: "WS01", Name: "a", Status: Working, Epoch: 1, Mode: Headless, TaskID: "A"}, {ID: "WS02", Name: "b", Status: Working, Epoch: 1, Mode: Headless, TaskID: "B"},
	}}
	both, one := todo("both"), todo("one")
	both.DependsOn, one.DependsOn = []string{"A", "B"}, []string{"A"}
	s.Tasks = []Task{both, one, doing("A", "WS01"), doing("B", "WS02")}
	freed := func() (ids []string) {
		for _, e := range s.Events() {
			if e.Type == TaskUnblocked {
				ids = append(ids, e.Task+" by "+fmt.Sprint(e.Data["by"]))
			}
		}
		return ids
	}
	_, err := s.Complete("WS01", 1, "A", 1, Outcome{OK: true})
	must(t, err)
	eq(t, "by the first", freed(), []string{"one by A"})
	eq(t, "wakes", s.Wakes(), true)
	_, err = s.Complete("WS02", 1, "B", 1, Outcome{OK: true})
	must(t, err)
	eq(t, "by both", freed(), []string{"one by A", "both by B"})
	eq(t, "tasks", s.Tasks[:2], []Task{both, one})
}

// CF-88, CF-89: told once per batch, again after new work, never of an empty store or of one that nothing ended in.
func TestFleetIdle(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{lane("WS01")}}
	idle := func(what string, want int) {
		t.Helper()
		tick(t, s, everybody)
		tick(t, s, everybody)
		eq(t, what, count(s, FleetIdle), want)
	}
	add := func(id string, deps ...string) {
		t.Helper()
		_, err := s.AddTasks([]NewTask{{ID: id, Title: "x", DependsOn: deps, MaxAttempts: 1}})
		must(t, err)
	}
	finish := func(id string, o Outcome) {
		t.Helper()
		applied, err := s.Complete("WS01", 1, id, 1, o)
		must(t, err)
		eq(t, "applied", applied, true)
	}
	idle("an empty store", 0)
	add("T1")
	add("T2", "T1")
	idle("work", 0)
	finish("T1", Outcome{OK: true, InputTokens: 10, OutputTokens: 3, CostUSD: 0.25})
	idle("half of it", 0)
	finish("T2", Outcome{OK: true, InputTokens: 1, CostUSD: 0.5})
	idle("all of it", 1)
	eq(t, "tally", s.Events()[len(s.Events())-1].Data, map[string]any{"succeeded": 2, "input_tokens": int64(11), "output_tokens": int64(3), "cost_usd": 0.75})

	later := clone(s) // the next transaction
	eq(t, "another snapshot", plan(later, everybody), []string(nil))

	add("T3")
	add("T4", "T3")
	idle("new work", 1)
	finish("T3", Outcome{Kind: ErrBudget})
	idle("it failed, and the rest is blocked", 2)
	eq(t, "tally", s.Events()[len(s.Events())-1].Data["blocked_upstream"], any(1))
	must(t, s.CancelTask("T4")) // it was over already
	idle("what was blocked is cancelled", 2)
	must(t, s.SkipTask("T3"))
	idle("what failed is skipped", 2)
	s.RunEnded()
	eq(t, "run_finished", s.Events()[len(s.Events())-1].Data["cancelled"], any(1))
}
