package roster

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Action is what a Decision asks for.
type Action string

// The actions, in the order in which a list of decisions has them. The order is
// part of the contract: what the first ones free, the assignments may use.
const (
	DoMarkDead        Action = "mark_dead"        // a worker is gone
	DoTakeAway        Action = "take_away"        // a worker has missed the deadline of its task
	DoGiveUp          Action = "give_up"          // a waiting task has no attempts left
	DoBlockDownstream Action = "block_downstream" // a task failed or was cancelled, and others depend on it
	DoResume          Action = "resume"           // the limit of a parked worker is over
	DoAssign          Action = "assign"
	DoFleetIdle       Action = "fleet_idle" // nothing is left to do
)

// Decision is one step that a snapshot calls for.
type Decision struct {
	Do      Action
	WS      string
	Epoch   int
	Task    string
	Attempt int // of the task, when it was decided
}

// Schedule decides what is to be done next: it reads the snapshot and nothing
// else, so the same snapshot always gives the same list. alive reports whether
// the worker of a workstream runs.
func (s *State) Schedule(alive func(ws string) bool) []Decision {
	p := planner{s: s, g: s.graph(), alive: make(map[string]bool, len(s.Workstreams)), freed: make(map[string]bool)}
	for w := range rows(s.Workstreams) {
		p.alive[w.ID] = alive(w.ID)
	}
	p.buryDead()
	p.takeAway()
	p.giveUp()
	p.blockDownstream()
	p.resume()
	p.assign()
	p.idle()
	return p.decisions
}

// planner is one pass over a snapshot. It changes nothing there.
type planner struct {
	s         *State
	g         graph
	alive     map[string]bool
	freed     map[string]bool // workstreams whose leases and task are free once the decisions so far are carried out
	closed    int             // open tasks that they end
	decisions []Decision
}

func (p *planner) decide(d Decision) { p.decisions = append(p.decisions, d) }

func (p *planner) buryDead() {
	for w := range rows(p.s.Workstreams) {
		if w.manned() && !p.alive[w.ID] && !p.s.isBetween(w) {
			p.free(w, DoMarkDead)
		}
	}
}

func (p *planner) free(w *Workstream, do Action) {
	d := Decision{Do: do, WS: w.ID, Epoch: w.Epoch, Task: w.TaskID}
	if t := p.g.find(w.TaskID); t != nil {
		d.Attempt = t.Attempts
		if t.InHand() && t.Attempts >= t.MaxAttempts {
			p.closed++
		}
	}
	p.freed[w.ID] = true
	p.decide(d)
}

func (p *planner) takeAway() {
	for w := range rows(p.s.Workstreams) {
		if t := p.g.find(w.TaskID); t != nil && !p.freed[w.ID] && p.s.overdue(t) {
			p.free(w, DoTakeAway)
		}
	}
}

// overdue reports whether an attempt has missed its deadline.
func (s *State) overdue(t *Task) bool {
	return t.InHand() && !t.Deadline.IsZero() && s.Now.After(t.Deadline.Time)
}

func (p *planner) giveUp() {
	for t := range rows(p.g.tasks) {
		if t.Status == TaskPending && t.Attempts >= t.MaxAttempts {
			p.closed++
			p.decide(Decision{Do: DoGiveUp, Task: t.ID, Attempt: t.Attempts})
		}
	}
}

// blockDownstream finds the tasks that can never run as things stand.
func (p *planner) blockDownstream() {
	if !slices.ContainsFunc(p.g.tasks, func(t Task) bool { return t.lost() }) {
		return
	}
	found := p.g.downstream()
	for t := range rows(p.g.tasks) {
		if !t.lost() {
			continue
		}
		if n := len(found.below(t.ID)); n > 0 {
			p.closed += n
			p.decide(Decision{Do: DoBlockDownstream, Task: t.ID})
		}
	}
}

func (p *planner) resume() {
	for w := range rows(p.s.Workstreams) {
		if w.Parked() && !p.s.Now.Before(w.ParkedUntil.Time) && p.alive[w.ID] {
			p.decide(Decision{Do: DoResume, WS: w.ID, Epoch: w.Epoch})
		}
	}
}

// assign pairs what can run with who is idle, most urgent first. A task whose
// scope is busy is passed over, not waited for.
func (p *planner) assign() {
	idle := p.idleWorkers()
	if len(idle) == 0 {
		return
	}
	busy := p.busyScope()
	for _, t := range p.runnable() {
		if len(idle) == 0 {
			return
		}
		if busy.clashes(t) {
			continue
		}
		i := slices.IndexFunc(idle, func(w *Workstream) bool { return fits(w, t) && !p.s.claimedFrom(w, t) })
		if i < 0 {
			continue
		}
		p.decide(Decision{Do: DoAssign, WS: idle[i].ID, Epoch: idle[i].Epoch, Task: t.ID, Attempt: t.Attempts})
		busy.add(idle[i].ID, t.Scope...)
		idle = slices.Delete(idle, i, i+1)
	}
}

// claimedFrom reports whether the file that a task was denied is claimed by others than the workstream.
func (s *State) claimedFrom(w *Workstream, t *Task) bool {
	if t.BlockedOn == "" || s.holds(w, t.BlockedOn) {
		return false
	}
	other, _ := s.claimant(w, func(c string) bool { return Covers(c, t.BlockedOn) })
	return other != nil
}

// fits reports whether a workstream may be given a task.
func fits(w *Workstream, t *Task) bool {
	if t.Pinned || w.Lane != "" { // what a lane does is asked of it by name
		return t.Workstream == w.ID
	}
	return t.Brain == "" || t.Brain == w.Brain
}

// runnable are the tasks that may be given out, most urgent first: a total order.
func (p *planner) runnable() []*Task {
	var tasks []*Task
	for t := range rows(p.g.tasks) {
		if p.s.runnable(p.g.find, t) {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, urgency)
	return tasks
}

// urgency is the total order in which tasks are given out.
func urgency(a, b *Task) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt.Time), compareIDs(a.ID, b.ID))
}

// idleWorkers are those that wait for a task, longest unemployed first.
func (p *planner) idleWorkers() []*Workstream {
	var idle []*Workstream
	for w := range rows(p.s.Workstreams) {
		if w.Waits() && p.alive[w.ID] && !p.freed[w.ID] {
			idle = append(idle, w)
		}
	}
	if len(idle) < 2 {
		return idle
	}
	last := make(map[string]time.Time)
	for t := range rows(p.g.tasks) {
		if t.AssignedAt.After(last[t.Workstream]) {
			last[t.Workstream] = t.AssignedAt.Time
		}
	}
	slices.SortStableFunc(idle, func(a, b *Workstream) int {
		return cmp.Or(last[a.ID].Compare(last[b.ID]), cmp.Compare(a.Name, b.Name))
	})
	return idle
}

// busyScope is what is being worked on: the scopes of all tasks in hand, and every file that is held.
func (p *planner) busyScope() scopes {
	busy := newScopes()
	for t := range rows(p.g.tasks) {
		if t.InHand() && !p.freed[t.Workstream] {
			busy.add(t.Workstream, t.Scope...)
		}
	}
	for l := range p.s.Leases.All() {
		if !p.freed[l.WS] {
			busy.add(l.WS, l.Path)
		}
	}
	return busy
}

func (p *planner) idle() {
	if (p.s.closed || p.closed > 0) && p.s.openTasks() == p.closed {
		p.decide(Decision{Do: DoFleetIdle})
	}
}

// Tick decides what is to be done and does it, until nothing is left. Anyone may
// tick, at any time, and two that do so one after the other do no harm.
func (s *State) Tick(alive func(ws string) bool) error {
	for again := true; again; {
		again, s.wakes = false, false
		for _, d := range s.Schedule(alive) {
			applied, err := s.Apply(d)
			if err != nil {
				return err
			}
			again = again || applied
		}
	}
	return nil
}

// Wakes reports whether something changed since the snapshot that the scheduler should see.
func (s *State) Wakes() bool { return s.wakes }

// Apply carries out a decision if it still holds: it may have been made from an
// older snapshot, and what has changed since then counts.
func (s *State) Apply(d Decision) (applied bool, err error) {
	t := s.Task(d.Task)
	w, _ := s.Workstream(d.WS)
	present := w != nil && w.Epoch == d.Epoch
	switch d.Do {
	case DoMarkDead:
		if applied = present && w.manned(); applied {
			s.markDead(w, "its worker is gone")
		}
	case DoTakeAway:
		if applied = present && t != nil && w.TaskID == t.ID && t.Attempts == d.Attempt && s.overdue(t); applied {
			s.takeAway(w, t)
		}
	case DoGiveUp:
		if applied = t != nil && t.Status == TaskPending && t.Attempts >= t.MaxAttempts; applied {
			s.fail(t, ErrExhausted, map[string]any{"reason": "no attempts left", "attempt": t.Attempts})
		}
	case DoBlockDownstream:
		if applied = t != nil && t.lost(); applied {
			s.blockDownstream(t)
		}
	case DoResume:
		if applied = present && w.Parked() && !s.Now.Before(w.ParkedUntil.Time); applied {
			w.ParkedUntil, w.Notes = Time{}, ""
			s.setStatus(w, s.restStatus(w), "")
		}
	case DoAssign:
		if applied = present && t != nil && w.Waits() && fits(w, t) && s.runnable(s.Task, t); applied {
			s.assignTask(w, t)
		}
	case DoFleetIdle:
		if applied = s.openTasks() == 0; applied {
			s.closed = false
			s.Note(FleetIdle, "", "", s.Tally())
		}
	default:
		return false, fmt.Errorf("no rule for the decision %q", d.Do)
	}
	return applied, nil
}

// takeAway ends the incarnation of a worker that has missed its deadline.
func (s *State) takeAway(w *Workstream, t *Task) {
	reason := t.ID + " missed its deadline"
	s.releaseLeases(w, reason)
	s.requeue(w, t, ErrTimeout, reason)
	s.setStatus(w, Dead, reason)
	w.Epoch++
}

// blockDownstream marks what depends on a task that will not succeed, however far down.
func (s *State) blockDownstream(ancestor *Task) {
	for _, t := range s.graph().downstream().below(ancestor.ID) {
		s.close(t, TaskBlockedUpstream, "")
		s.Note(TaskIsBlocked, t.Workstream, t.ID, map[string]any{"ancestor": ancestor.ID})
	}
}

func (s *State) openTasks() int {
	n := 0
	for t := range rows(s.Tasks) {
		if t.Open() {
			n++
		}
	}
	return n
}

// Tally counts the tasks by status and adds up what they cost.
func (s *State) Tally() map[string]any {
	data := make(map[string]any)
	var in, out int64
	var cost float64
	for t := range rows(s.Tasks) {
		n, _ := data[string(t.Status)].(int)
		data[string(t.Status)] = n + 1
		in, out, cost = in+t.InputTokens, out+t.OutputTokens, cost+t.CostUSD
	}
	data["input_tokens"], data["output_tokens"], data["cost_usd"] = in, out, cost
	return data
}
