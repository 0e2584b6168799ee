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

// model is a run as simply as it can be told: who holds and who claims what, and which worker is the present one.
type model struct {
	s      *State
	holder map[string]string
	claims map[string][]string
	epoch  map[string]int
	alive  map[string]bool // whether its worker runs, which nobody may have noticed yet
	log    map[string]string
	read   int // events that are in log already
}

func newModel() *model {
	return &model{
		s: &State{Now: now, Leases: LeaseMap{}}, holder: map[string]string{}, claims: map[string][]string{},
		epoch: map[string]int{}, alive: map[string]bool{}, log: map[string]string{},
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
		if m.alive[by] {
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
		if m.alive[other] || w.Epoch == 0 || w.Status != Started && w.Status != Working && w.TaskID == "" {
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
	epoch, err := m.s.Launch(id, Launch{Brain: "claude"})
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
	fenced(t, m, func(id string, epoch int) error { return m.s.PromptSubmitted(id, epoch, "go") })
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
		keeps = m.s.Workstreams[m.at(id)].saysBlocked()
		return m.s.TurnEnded(id, epoch, "there")
	})
	if ok && !keeps {
		m.drop(id)
	}
}

func (m *model) Fail(t *rapid.T) {
	if id, ok := fenced(t, m, func(id string, epoch int) error { return m.s.TurnFailed(id, epoch, "limit") }); ok {
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
	if strings.HasPrefix(note, "done:") {
		m.drop(id)
	}
}

func (m *model) Tick(t *rapid.T) {
	m.s.Now = m.s.Now.Add(time.Duration(rapid.IntRange(1, 10_000).Draw(t, "ms")) * time.Millisecond)
}

func (m *model) Check(t *rapid.T) {
	m.yield(t)
	got := map[string]string{}
	for l := range m.s.Leases.All() {
		got[l.Path] = l.WS
		w, err := m.s.Workstream(l.WS)
		if err != nil || !w.Live() || l.Epoch != w.Epoch {
			t.Fatalf("%s is leased to %s in incarnation %d, whose row is %+v", l.Path, l.WS, l.Epoch, w)
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
	}
	m.read = len(m.s.Events())
	if !maps.Equal(m.log, m.holder) {
		t.Fatalf("the events say %v, the table %v", m.log, m.holder)
	}
	m.checkRows(t)
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
		if task.Status == TaskRunning {
			running[task.Workstream] = task.ID
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

// CF-20, CF-55, CF-57, CF-65, CF-66, CF-68, CF-146, CFN-40: whatever is asked, in whatever order and by whatever
// zombie, no file has two holders, no lease outlives its worker's epoch, none is lost, and live claims don't overlap.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { t.Repeat(rapid.StateMachineActions(newModel())) })
}
