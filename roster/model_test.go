package roster

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The small world of the model: what covers what, and which claims overlap, is
// written down here by hand, so that the rules are compared with an answer of another's.
var (
	worldFiles = []string{"api/x.go", "api/y.go", "web/p.css", "web/q.js", "doc.md"}
	worldIDs   = []string{"WS01", "WS02", "WS03"}
	covered    = map[string][]string{
		"api":       {"api/x.go", "api/y.go"},
		"api/x.go":  {"api/x.go"},
		"web/*.css": {"web/p.css"},
		"web/q.js":  {"web/q.js"},
		"doc.md":    {"doc.md"},
		"*.md":      {"doc.md"},
	}
	overlapping = map[string][]string{
		"api":       {"api", "api/x.go", "*.md"},
		"api/x.go":  {"api", "api/x.go", "*.md"},
		"web/*.css": {"web/*.css", "web/q.js", "*.md"},
		"web/q.js":  {"web/*.css", "web/q.js", "*.md"},
		"doc.md":    {"doc.md", "*.md"},
		"*.md":      {"api", "api/x.go", "web/*.css", "web/q.js", "doc.md", "*.md"},
	}
)

// model is a run as simply as it can be told: who holds and who claims what, which worker is the present one, and what the events say of the tasks.
type model struct {
	s      *State
	holder map[string]string
	claims map[string][]string
	epoch  map[string]int
	alive  map[string]bool // whether its worker runs, which nobody may have noticed yet
	log    map[string]string
	told   map[string]TaskStatus // of each task, by the events
	hand   map[string]string     // task → workstream that has it in hand, by the events
	used   map[string]int64      // tokens of each task, by the reports that counted
	idle   bool                  // fleet_idle was told, and nothing waits since
	ticked bool                  // the last action was a tick
	read   int                   // events that are in log already
}

func newModel() *model {
	return &model{
		s: &State{Now: now, Leases: LeaseMap{}}, holder: map[string]string{}, claims: map[string][]string{},
		epoch: map[string]int{}, alive: map[string]bool{}, log: map[string]string{},
		told: map[string]TaskStatus{}, hand: map[string]string{}, used: map[string]int64{},
	}
}

// populate makes of an empty run one in which all workers are up and there is something to do.
func (m *model) populate(t *rapid.T) {
	for i, id := range worldIDs {
		if err := m.s.Add(NewWorkstream{ID: id, Text: "work"}); err != nil {
			t.Fatal(err)
		}
		m.claims[id], m.alive[id], m.epoch[id] = nil, true, 1
		if _, err := m.s.Launch(id, Launch{Mode: []string{Headless, Interactive, Headless}[i]}); err != nil {
			t.Fatal(err)
		}
		if err := m.s.SessionUp(id, 1, "s", "startup"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.s.AddTasks([]NewTask{
		{ID: "T1", Title: "x", MaxAttempts: 1, Scope: []string{"api"}},
		{ID: "T2", Title: "x", MaxAttempts: 2, Scope: []string{"api/x.go"}, DependsOn: []string{"T1"}},
		{ID: "T3", Title: "x", MaxAttempts: 1, Scope: []string{"web/*.css"}, DependsOn: []string{"T1"}},
		{ID: "T4", Title: "x", DependsOn: []string{"T2", "T3"}},
	}); err != nil {
		t.Fatal(err)
	}
}

func (m *model) live(id string) bool {
	w, err := m.s.Workstream(id)
	return err == nil && w.Live()
}

func (m *model) drop(id string) {
	maps.DeleteFunc(m.holder, func(_, by string) bool { return by == id })
}

// die is the end of an incarnation.
func (m *model) die(id string) {
	m.drop(id)
	m.epoch[id]++
	m.alive[id] = false
}

// clash tells whether a claim of id would overlap what others claim or cover what they write.
func (m *model) clash(id, claim string) bool {
	for other, theirs := range m.claims {
		if other != id && m.live(other) && slices.ContainsFunc(theirs, func(c string) bool { return slices.Contains(overlapping[claim], c) }) {
			return true
		}
	}
	for _, f := range covered[claim] {
		if by := m.holder[f]; by != "" && by != id {
			return true
		}
	}
	return false
}

// inTheWay says who keeps id from a file. Dead workers that stand there are buried.
func (m *model) inTheWay(id, file string) string {
	if by := m.holder[file]; by == id {
		return ""
	} else if by != "" {
		if m.alive[by] || m.between(by) {
			return by
		}
		m.die(by)
		m.s.Workstreams[m.at(by)].Status = Dead // for live; the rule does it on its own copy
	}
	for _, other := range slices.Sorted(maps.Keys(m.claims)) {
		if other == id || !m.live(other) || !slices.ContainsFunc(m.claims[other], func(c string) bool { return slices.Contains(covered[c], file) }) {
			continue
		}
		w := &m.s.Workstreams[m.at(other)]
		if m.alive[other] || m.between(other) || !w.manned() {
			return other
		}
		m.die(other)
		w.Status = Dead
	}
	return ""
}

func (m *model) at(id string) int {
	return slices.IndexFunc(m.s.Workstreams, func(w Workstream) bool { return w.ID == id })
}

func known(t *rapid.T, m *model) string {
	ids := slices.Sorted(maps.Keys(m.claims))
	if len(ids) == 0 {
		t.Skip("nobody is there")
	}
	return rapid.SampledFrom(ids).Draw(t, "ws")
}

// caller draws a workstream and an epoch, which may be of an earlier worker, or of none.
func caller(t *rapid.T, m *model) (id string, epoch int, present bool) {
	id = known(t, m)
	epoch = m.epoch[id]
	if rapid.IntRange(0, 3).Draw(t, "zombie") == 0 {
		epoch = rapid.IntRange(-1, m.epoch[id]+1).Draw(t, "epoch")
	}
	return id, epoch, epoch == m.epoch[id]
}

func (m *model) Add(t *rapid.T) {
	id := rapid.SampledFrom(worldIDs).Draw(t, "ws")
	claims := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(covered))), 0, 2, rapid.ID).Draw(t, "claims")
	_, there := m.claims[id]
	want := !there && !slices.ContainsFunc(claims, func(c string) bool { return m.clash(id, c) })
	if err := m.s.Add(NewWorkstream{ID: id, Text: "work", Claims: claims}); (err == nil) != want {
		t.Fatalf("Add %s %v: %v, want success: %v", id, claims, err, want)
	}
	if want {
		m.claims[id] = claims
	}
}

func (m *model) Claim(t *rapid.T) {
	id, c := known(t, m), rapid.SampledFrom(slices.Sorted(maps.Keys(covered))).Draw(t, "claim")
	mine := slices.Contains(m.claims[id], c)
	want := mine || !m.clash(id, c)
	if err := m.s.Claim(id, []string{c}); (err == nil) != want {
		t.Fatalf("Claim %s %s: %v, want success: %v", id, c, err, want)
	}
	if want && !mine {
		m.claims[id] = append(slices.Clone(m.claims[id]), c)
	}
}

func (m *model) Release(t *rapid.T) {
	id := known(t, m)
	if rapid.Bool().Draw(t, "all") {
		_, _, err := m.s.Release(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.drop(id)
		m.claims[id] = nil
		return
	}
	p := rapid.SampledFrom(append(slices.Clone(worldFiles), "api", "web/*.css", "*.md")).Draw(t, "path")
	want := m.holder[p] == id || slices.Contains(m.claims[id], p)
	if _, _, err := m.s.Release(id, []string{p, p}); (err == nil) != want {
		t.Fatalf("Release %s %s: %v, want success: %v", id, p, err, want)
	}
	if want {
		if m.holder[p] == id {
			delete(m.holder, p)
		}
		m.claims[id] = slices.DeleteFunc(slices.Clone(m.claims[id]), func(c string) bool { return c == p })
	}
}

func (m *model) Acquire(t *rapid.T) {
	id, epoch, present := caller(t, m)
	paths := rapid.SliceOfN(rapid.SampledFrom(worldFiles), 1, 3).Draw(t, "paths")
	if present && m.headless(id) && m.s.Workstreams[m.at(id)].TaskID == "" {
		present = false // what its last session left
	}
	var want []string // path and who keeps it
	if present {
		// The model buries the dead in a copy first, so that the rule sees the state as it was.
		was := clone(m.s)
		for _, p := range paths {
			if by := m.inTheWay(id, p); by != "" {
				want = append(want, p+" "+by)
			}
		}
		events := m.s.events
		m.s = was
		m.s.events = events
	}
	denials := m.s.AcquireLeases(WriteRequest{WS: id, Epoch: epoch, Paths: paths, Tool: "Edit", Alive: func(ws string) bool { return m.alive[ws] || ws == id }})
	if !present {
		if len(denials) != 1 || denials[0].Reason != DenyStale {
			t.Fatalf("a stale caller was answered %v", denials)
		}
		return
	}
	var got []string
	for _, d := range denials {
		got = append(got, d.Path+" "+d.Holder)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Acquire %s %v: denied %v, want %v", id, paths, got, want)
	}
	if len(want) == 0 {
		for _, p := range paths {
			m.holder[p] = id
		}
	}
}

func (m *model) Launch(t *rapid.T) {
	id := known(t, m)
	if m.alive[id] {
		t.Skip("its worker holds the liveness lock")
	}
	mode := rapid.SampledFrom([]string{Interactive, Headless, Headless, Manual}).Draw(t, "mode")
	epoch, err := m.s.Launch(id, Launch{Brain: "claude", Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	m.drop(id)
	m.epoch[id]++
	m.alive[id] = true
	if epoch != m.epoch[id] {
		t.Fatalf("epoch %d, want %d", epoch, m.epoch[id])
	}
}

// HandOver fences a worker, whose wrapper may run on for a while, for another, which may never come.
func (m *model) HandOver(t *rapid.T) {
	id := known(t, m)
	if err := m.s.HandOver(id); err != nil {
		t.Fatal(err)
	}
	m.epoch[id]++
}

// Follow starts the worker that something was handed over to.
func (m *model) Follow(t *rapid.T) {
	id := known(t, m)
	if m.alive[id] || !m.between(id) {
		t.Skip("nobody is called")
	}
	held := len(m.s.Held(id))
	if _, err := m.s.Launch(id, Launch{Brain: "claude", Mode: Interactive, Over: true}); err != nil {
		t.Fatal(err)
	}
	if m.alive[id] = true; len(m.s.Held(id)) != held {
		t.Fatalf("%s holds %d files of %d", id, len(m.s.Held(id)), held)
	}
}

// between tells whether what id handed over waits for its next worker: for half a minute since it, or a report for it, came.
func (m *model) between(id string) bool {
	w := m.s.Workstreams[m.at(id)]
	waits := w.Notes == "handed over" && (w.Status == Pending || w.Status == Done)
	return waits && m.s.Now.Before(time.Unix(w.Heartbeat, 0).Add(30*time.Second))
}

// fenced makes a call and tells whether it counted, which it must for the present worker alone.
func fenced(t *rapid.T, m *model, call func(id string, epoch int) error) (id string, ok bool) {
	id, epoch, present := caller(t, m)
	if err := call(id, epoch); (err == nil) != present {
		t.Fatalf("%s, epoch %d of %d: %v", id, epoch, m.epoch[id], err)
	}
	return id, present
}

func (m *model) Session(t *rapid.T) {
	fenced(t, m, func(id string, epoch int) error { return m.s.SessionUp(id, epoch, "s", "startup") })
}

func (m *model) Prompt(t *rapid.T) {
	fenced(t, m, func(id string, epoch int) error {
		prompt := rapid.SampledFrom([]string{"go", "read briefs/" + m.s.FirstTask(&m.s.Workstreams[m.at(id)]) + ".md"}).Draw(t, "prompt")
		return m.s.PromptSubmitted(id, epoch, prompt)
	})
}

func (m *model) Act(t *rapid.T) {
	fenced(t, m, func(id string, epoch int) error { return m.s.Activity(id, epoch) })
}

func (m *model) Ask(t *rapid.T) {
	fenced(t, m, func(id string, epoch int) error { return m.s.NeedsPerson(id, epoch, "dialog", "?") })
}

func (m *model) Stop(t *rapid.T) {
	var keeps bool
	id, ok := fenced(t, m, func(id string, epoch int) error {
		keeps = m.s.Workstreams[m.at(id)].saysBlocked() || m.headless(id)
		return m.s.TurnEnded(id, epoch, "there")
	})
	if ok && !keeps {
		m.drop(id)
	}
}

func (m *model) Fail(t *rapid.T) {
	if id, ok := fenced(t, m, func(id string, epoch int) error { return m.s.TurnFailed(id, epoch, "limit") }); ok && !m.headless(id) {
		m.drop(id)
	}
}

func (m *model) Exit(t *rapid.T) {
	e := Exit{Code: rapid.IntRange(0, 1).Draw(t, "code"), Stopped: rapid.Bool().Draw(t, "stopped")}
	if id, ok := fenced(t, m, func(id string, epoch int) error { return m.s.WorkerExited(id, epoch, e) }); ok {
		m.die(id)
	}
}

func (m *model) Reap(t *rapid.T) {
	if id, ok := fenced(t, m, func(id string, epoch int) error { return m.s.MarkDead(id, epoch, "gone") }); ok {
		m.die(id)
	}
}

// Vanish is a death that nobody has noticed.
func (m *model) Vanish(t *rapid.T) { m.alive[known(t, m)] = false }

func (m *model) Report(t *rapid.T) {
	id, note := known(t, m), rapid.SampledFrom([]string{"", "note", "blocked: x", "done: x"}).Draw(t, "note")
	if err := m.s.Heartbeat(id, note); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(note, "done:") && !m.headless(id) {
		m.drop(id)
	}
}

func (m *model) Wait(t *rapid.T) {
	m.s.Now = m.s.Now.Add(time.Duration(rapid.SampledFrom([]int{1, 100, 3_000, 40_000, 700_000}).Draw(t, "ms")) * time.Millisecond)
}

// headless tells whether the wrapper of id ends its tasks, and not its turns.
func (m *model) headless(id string) bool { return m.s.Workstreams[m.at(id)].Mode == Headless }

func (m *model) AddTask(t *rapid.T) {
	if len(m.s.Tasks) > 12 {
		t.Skip("that is enough to do")
	}
	n := NewTask{Title: "x", Priority: rapid.IntRange(0, 5).Draw(t, "priority"), MaxAttempts: rapid.IntRange(0, 3).Draw(t, "max attempts")}
	known := []string{}
	for i := range m.s.Tasks {
		known = append(known, m.s.Tasks[i].ID)
	}
	n.DependsOn = rapid.SliceOfN(rapid.SampledFrom(append(known, "nix")), 0, 2).Draw(t, "depends on")
	n.Scope = rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(covered))), 0, 2).Draw(t, "scope")
	n.Workstream = rapid.SampledFrom(append(slices.Sorted(maps.Keys(m.claims)), "")).Draw(t, "pinned to")
	if n.Workstream == "" || rapid.Bool().Draw(t, "named") {
		n.ID = rapid.SampledFrom([]string{"T1", "T2", "T3", "T4", "T5", "T6"}).Draw(t, "id")
	}
	want := !slices.Contains(known, n.ID) && !slices.Contains(n.DependsOn, "nix")
	if _, err := m.s.AddTasks([]NewTask{n}); (err == nil) != want {
		t.Fatalf("AddTasks %+v: %v, want success: %v", n, err, want)
	}
}

// Tick lets the scheduler do what it finds after a while. Who is dead, and who has missed a deadline, is known beforehand.
func (m *model) Tick(t *rapid.T) {
	m.Wait(t)
	for _, w := range m.s.Workstreams {
		switch task := m.s.Task(w.TaskID); {
		case w.manned() && !m.alive[w.ID] && !m.between(w.ID):
			m.die(w.ID)
		case task != nil && !task.Deadline.IsZero() && task.Deadline.Before(m.s.Now):
			m.drop(w.ID)
			m.epoch[w.ID]++ // though it runs
		}
	}
	alive := func(ws string) bool { return m.alive[ws] }
	if err := m.s.Tick(alive); err != nil {
		t.Fatal(err)
	}
	if left := m.s.Schedule(alive); len(left) > 0 {
		t.Fatalf("after a tick there is left %+v", left)
	}
	m.ticked = true
}

func (m *model) anyTask(t *rapid.T) *Task {
	if len(m.s.Tasks) == 0 {
		t.Skip("there is no task")
	}
	return &m.s.Tasks[rapid.IntRange(0, len(m.s.Tasks)-1).Draw(t, "task")]
}

// report draws who says something about which attempt: mostly whoever has the task in hand, but also late ones, strangers and zombies.
func report(t *rapid.T, m *model) (id string, epoch int, task *Task, attempt int) {
	task = m.anyTask(t)
	id, epoch, _ = caller(t, m)
	if task.InHand() && rapid.IntRange(0, 3).Draw(t, "stranger") > 0 {
		id, epoch = task.Workstream, m.epoch[task.Workstream]
	}
	return id, epoch, task, task.Attempts - rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "attempts ago")
}

func (m *model) Start(t *rapid.T) {
	id, epoch, task, attempt := report(t, m)
	want := epoch == m.epoch[id] && task.InHand() && task.Workstream == id && task.Attempts == attempt
	if err := m.s.StartTask(id, epoch, task.ID, attempt, time.Minute); (err == nil) != want {
		t.Fatalf("StartTask %s %d %s %d: %v, want success: %v", id, epoch, task.ID, attempt, err, want)
	}
}

func (m *model) Complete(t *rapid.T) {
	id, epoch, task, attempt := report(t, m)
	o := Outcome{OK: rapid.Bool().Draw(t, "ok"), Kind: rapid.SampledFrom(reported).Draw(t, "kind"), InputTokens: 1}
	late := !task.InHand() || task.Attempts != attempt
	want := !late && epoch == m.epoch[id] && task.Workstream == id
	applied, err := m.s.Complete(id, epoch, task.ID, attempt, o)
	if applied != want || (err == nil) != (want || late) {
		t.Fatalf("Complete %s %d %s %d: %v, %v, want %v", id, epoch, task.ID, attempt, applied, err, want)
	}
	if want {
		m.drop(id)
		m.used[task.ID]++
		if again, err := m.s.Complete(id, epoch, task.ID, attempt, o); again || err != nil {
			t.Fatalf("a second report counted: %v, %v", again, err)
		}
	}
}

func (m *model) Cancel(t *rapid.T) {
	task := m.anyTask(t)
	want := !task.Terminal()
	if task.InHand() {
		m.drop(task.Workstream)
		m.epoch[task.Workstream]++
	}
	if err := m.s.CancelTask(task.ID); (err == nil) != want {
		t.Fatalf("CancelTask %s: %v, want success: %v", task.ID, err, want)
	}
}

func (m *model) Retry(t *rapid.T) {
	task := m.anyTask(t)
	want := task.Status == TaskGivenUp
	if err := m.s.RetryTask(task.ID); (err == nil) != want {
		t.Fatalf("RetryTask %s: %v, want success: %v", task.ID, err, want)
	}
}

func (m *model) Skip(t *rapid.T) {
	task := m.anyTask(t)
	want := task.Status != TaskDone && !task.InHand()
	if err := m.s.SkipTask(task.ID); (err == nil) != want {
		t.Fatalf("SkipTask %s: %v, want success: %v", task.ID, err, want)
	}
}

func (m *model) Check(t *rapid.T) {
	m.yield(t)
	got := map[string]string{}
	for l := range m.s.Leases.All() {
		got[l.Path] = l.WS
		w, err := m.s.Workstream(l.WS)
		if err != nil || !w.Live() && !l.Kept() || l.Epoch != w.Epoch {
			t.Fatalf("%s is leased to %s in incarnation %d, whose row is %+v", l.Path, l.WS, l.Epoch, w)
		}
		if task := m.s.Task(l.Task); l.Task != "" && !l.Kept() && (task == nil || !task.InHand() || task.Workstream != l.WS) {
			t.Fatalf("%s is leased to %s for %s, which is %+v", l.Path, l.WS, l.Task, task)
		}
	}
	if !maps.Equal(got, m.holder) {
		t.Fatalf("leases %v, want %v", got, m.holder)
	}
	for _, e := range m.s.Events()[m.read:] {
		if !slices.Contains(EventTypes, e.Type) {
			t.Fatalf("event of type %s", e.Type)
		}
		switch path, _ := e.Data["path"].(string); e.Type {
		case LeaseAcquired:
			if by, taken := m.log[path]; taken {
				t.Fatalf("%s was given to %s while %s held it", path, e.WS, by)
			}
			m.log[path] = e.WS
		case LeaseReleased:
			if m.log[path] != e.WS {
				t.Fatalf("%s was released by %s while %q held it", path, e.WS, m.log[path])
			}
			delete(m.log, path)
		}
		m.fold(t, e)
	}
	m.read = len(m.s.Events())
	if !maps.Equal(m.log, m.holder) {
		t.Fatalf("the events say %v, the table %v", m.log, m.holder)
	}
	m.checkRows(t)
	if m.ticked && len(m.s.Tasks) > 0 && m.s.openTasks() == 0 && !m.idle {
		t.Fatal("nothing is left to do, and a tick didn't say so")
	}
	m.ticked = false
}

// yield takes from the model the claims that a workstream lost when it came back to life.
func (m *model) yield(t *rapid.T) {
	for _, e := range m.s.Events()[m.read:] {
		if e.Type != ClaimReleased || e.Data["why"] == nil {
			continue
		}
		for _, c := range e.Data["paths"].([]string) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(m.claims)), func(other string) bool {
				return other != e.WS && slices.ContainsFunc(m.claims[other], func(o string) bool { return slices.Contains(overlapping[c], o) })
			}) {
				t.Fatalf("%s lost its claim %s to nobody", e.WS, c)
			}
			m.claims[e.WS] = slices.DeleteFunc(slices.Clone(m.claims[e.WS]), func(o string) bool { return o == c })
		}
	}
}

func (m *model) checkRows(t *rapid.T) {
	running := map[string]string{}
	for _, task := range m.s.Tasks {
		if task.InHand() {
			if other := running[task.Workstream]; other != "" {
				t.Fatalf("%s has both %s and %s in hand", task.Workstream, other, task.ID)
			}
			running[task.Workstream] = task.ID
		}
		if task.Status != m.told[task.ID] || task.InHand() && m.hand[task.ID] != task.Workstream {
			t.Fatalf("the events say that %s is %s, of %q; the table says %s, of %q", task.ID, m.told[task.ID], m.hand[task.ID], task.Status, task.Workstream)
		}
		if task.InputTokens != m.used[task.ID] {
			t.Fatalf("%s has used %d tokens, want %d", task.ID, task.InputTokens, m.used[task.ID])
		}
		if task.Attempts < 0 || task.Attempts > task.MaxAttempts {
			t.Fatalf("task %s: %d attempts of %d", task.ID, task.Attempts, task.MaxAttempts)
		}
	}
	for i, w := range m.s.Workstreams {
		if w.Epoch != m.epoch[w.ID] {
			t.Fatalf("%s: epoch %d, want %d", w.ID, w.Epoch, m.epoch[w.ID])
		}
		if !slices.Equal(w.Claims, m.claims[w.ID]) {
			t.Fatalf("%s claims %v, want %v", w.ID, w.Claims, m.claims[w.ID])
		}
		if w.TaskID != running[w.ID] {
			t.Fatalf("%s has task %q in hand, and %q runs", w.ID, w.TaskID, running[w.ID])
		}
		for _, other := range m.s.Workstreams[:i] {
			for _, c := range w.Claims {
				if w.Live() && other.Live() && slices.ContainsFunc(other.Claims, func(o string) bool { return slices.Contains(overlapping[c], o) }) {
					t.Fatalf("%s claims %v, and %s %v", w.ID, w.Claims, other.ID, other.Claims)
				}
			}
		}
	}
}

// fold tells the story of a task on by one event, which must follow from those before it. It is what makes sure that an
// attempt ends once, that nothing is given out that has to wait, and that the events replay to the state of the table.
func (m *model) fold(t *rapid.T, e Event) {
	inHand := []TaskStatus{TaskAssigned, TaskRunning}
	waits := []TaskStatus{TaskPending}
	step, counts := map[EventType]struct {
		from []TaskStatus
		to   TaskStatus
	}{
		TaskCreated:     {[]TaskStatus{""}, TaskPending},
		TaskAssignedTo:  {waits, TaskAssigned},
		TaskStarted:     {[]TaskStatus{TaskAssigned}, TaskRunning},
		TaskSucceeded:   {inHand, TaskDone},
		TaskRequeued:    {inHand, TaskPending},
		TaskFailed:      {inHand, TaskGivenUp},
		TaskIsBlocked:   {waits, TaskBlockedUpstream},
		TaskUnblocked:   {[]TaskStatus{TaskPending, TaskBlockedUpstream}, TaskPending},
		TaskIsCancelled: {[]TaskStatus{TaskPending, TaskAssigned, TaskRunning, TaskBlockedUpstream}, TaskCancelled},
	}[e.Type]
	if e.Type == FleetIdle {
		for id, status := range m.told {
			if task := (Task{Status: status}); m.idle || task.Open() {
				t.Fatalf("fleet_idle, twice: %v, and %s is %s", m.idle, id, status)
			}
		}
		m.idle = true
	}
	if !counts {
		return
	}
	m.idle = m.idle && step.to != TaskPending
	if e.Data["skipped"] == true {
		step.from = []TaskStatus{TaskPending, TaskGivenUp, TaskBlockedUpstream, TaskCancelled}
	}
	if e.Data["reason"] == "operator_retry" {
		step.from = []TaskStatus{TaskGivenUp}
	}
	if !slices.Contains(step.from, m.told[e.Task]) {
		t.Fatalf("%s is %s, and then comes %s of %s", e.Task, m.told[e.Task], e.Type, e.WS)
	}
	m.told[e.Task] = step.to
	switch {
	case e.Type == TaskAssignedTo:
		m.hand[e.Task] = e.WS
		for _, d := range m.s.Task(e.Task).DependsOn {
			if m.told[d] != TaskDone {
				t.Fatalf("%s was given out, and depends on %s, which is %s", e.Task, d, m.told[d])
			}
		}
	case !slices.Contains(inHand, step.to):
		delete(m.hand, e.Task)
	}
}

// CF-20, CF-43, CF-48, CF-55, CF-57, CF-65, CF-66, CF-68, CF-89, CF-101, CF-146, CF-150, CF-151, CFN-40: whatever is asked, in whatever
// order and by whatever zombie, no file and no task has two holders, no lease outlives its worker's epoch or its task,
// none is lost, live claims don't overlap, a task ends once an attempt, and fleet_idle comes once a batch.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel()
		if rapid.Bool().Draw(t, "populated") {
			m.populate(t)
		}
		actions := rapid.StateMachineActions(m)
		for range 4 { // a run of one length is over before much has failed
			t.Repeat(actions)
		}
	})
}
