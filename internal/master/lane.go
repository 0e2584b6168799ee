package master

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/lane"
)

// LaneOptions say how lanes are run.
type LaneOptions struct {
	Force       bool             // also what has a result already
	DryRun      bool             // only tell
	PerProvider int              // how many lanes may use one service at once
	Said        func(LaneReport) // is told what has come of each, as soon as it is known
}

// LaneReport is what has come of asking for a lane's result.
type LaneReport struct {
	ID       string `json:"id"`
	Status   string `json:"status"` // Ran, Cached, Failed or Imported
	RC       int    `json:"rc"`
	Artifact string `json:"artifact,omitempty"` // absolute
	Reason   string `json:"reason,omitempty"`
	Err      error  `json:"-"` // why it could not even be asked
}

// What comes of asking for a lane's result.
const (
	Ran      = "ran"
	Cached   = "cached" // nothing has changed since it was asked last
	Failed   = "failed"
	Planned  = "planned"  // what a dry run would ask
	Imported = "imported" // another program's, which can't be asked again
)

// fan runs lanes, as many at once as their services take.
type fan struct {
	*Fleet
	LaneOptions
	all, waits, runs []*laneRun
}

// laneRun is one packet on its way.
type laneRun struct {
	lane.Packet
	brain  agent.Brain
	packet []byte   // as it was given
	prompt []byte   // as it is sent
	of     *laneRun // whose reply it repairs
	ws     string
	record lane.Record
	report *LaneReport
}

// RunLanes enters packets into the manifest and sees to it that each has a result: those that have
// one already cost nothing. It returns when all are over; when it is interrupted, the lanes that run go on.
func (f *Fleet) RunLanes(ctx context.Context, packets []lane.Packet, o LaneOptions) ([]LaneReport, error) {
	fan := &fan{Fleet: f, LaneOptions: o}
	err := fan.sort(ctx, packets)
	if err == nil && o.DryRun {
		for _, l := range fan.waits {
			fan.report(l, Planned, nil)
		}
		return fan.reports(), nil
	}
	if err == nil {
		err = fan.enter(ctx)
	}
	if err == nil {
		err = fan.run(ctx)
	}
	return fan.reports(), err
}

// sort finds those that have to be asked.
func (f *fan) sort(ctx context.Context, packets []lane.Packet) error {
	journal, err := f.Dir.Journal()
	if err != nil {
		return err
	}
	for _, p := range packets {
		l := &laneRun{Packet: p, report: &LaneReport{ID: p.ID}}
		f.all = append(f.all, l)
		if p.Brain == lane.Native {
			f.report(l, Imported, nil)
			continue
		}
		if err := f.prepare(l); err != nil {
			f.report(l, Failed, err)
			continue
		}
		if hit, ok := journal.Hit(l.Key); ok && !f.Force && f.Dir.Has(hit.Artifact) {
			l.record = hit
			f.report(l, Cached, nil)
			continue
		}
		if err := l.brain.Ready(ctx); err != nil {
			f.report(l, Failed, err)
			continue
		}
		f.waits = append(f.waits, l)
	}
	return ctx.Err()
}

func (f *fan) reports() []LaneReport {
	reports := make([]LaneReport, len(f.all))
	for i, l := range f.all {
		reports[i] = *l.report
	}
	return reports
}

// prepare reads what a packet is made of, and computes its key.
func (f *fan) prepare(l *laneRun) (err error) {
	if err := lane.CheckID(l.ID); err != nil {
		return err
	}
	if l.brain, err = agent.Find(l.Brain); err != nil {
		return err
	}
	if !l.brain.Headless() {
		return roster.Usagef("%s: %s takes no packets by itself", l.ID, l.Brain)
	}
	if l.packet, err = os.ReadFile(l.PromptFile); err != nil {
		return roster.Dataf("%s: its prompt: %v", l.ID, err)
	}
	var guard string
	if !l.NoGuard {
		if guard, err = f.Dir.Guard(l.brain.Commits); err != nil {
			return err
		}
	}
	var schema, embedded []byte
	if l.Schema != "" {
		if schema, err = os.ReadFile(l.Schema); err != nil {
			return roster.Dataf("%s: its schema: %v", l.ID, err)
		}
		if _, err := lane.ParseSchema(schema); err != nil {
			return err
		}
		if !l.brain.Schemas {
			embedded = schema
		}
	}
	l.prompt = lane.Sent([]byte(guard), l.packet, embedded)
	l.Key = l.KeyOf(l.prompt, schema)
	return nil
}

// enter writes down the packets: in the manifest, and those that have to be asked also with their
// prompts as they are sent, and as a workstream each.
func (f *fan) enter(ctx context.Context) error {
	if len(f.waits) > 0 {
		err := f.Dir.Update(ctx, func(s *roster.State) error {
			free := s.FreeIDs(len(f.waits))
			for i, l := range f.waits {
				if err := f.register(s, l, free[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, l := range f.waits {
		if err := f.Dir.Write(f.Dir.Lane(l.ID, "prompt.txt"), l.prompt); err != nil {
			return err
		}
	}
	var packets []lane.Packet
	for _, l := range f.all {
		if l.report.Status != Failed {
			packets = append(packets, l.Packet)
		}
	}
	return f.Dir.PutPackets(ctx, packets...)
}

// register finds the workstream of a lane, or makes one of a free id.
func (f *fan) register(s *roster.State, l *laneRun, free string) error {
	i := slices.IndexFunc(s.Workstreams, func(w roster.Workstream) bool { return w.Name == l.ID })
	if i >= 0 {
		l.ws = s.Workstreams[i].ID
		if s.Workstreams[i].Lane == "" {
			return roster.Refusef("the name %s is that of %s, which is no lane", l.ID, l.ws).Hinted("choose another --id")
		}
		return nil
	}
	l.ws = free
	n := roster.NewWorkstream{ID: free, Name: l.ID, Text: roster.Title(string(l.packet)), Brain: l.Brain, Lane: roster.Shared}
	if l.Isolated {
		n.Lane = roster.Isolated
	}
	if l.Worktree {
		n.Tree = roster.LaneTree(f.Dir.Slug(), l.ID)
	}
	return s.AddSlot(n)
}

// run starts what waits as others end, until nothing is left.
func (f *fan) run(ctx context.Context) error {
	if len(f.waits) == 0 {
		return nil
	}
	err := f.lookout(ctx, func(bool) (again time.Time, err error) {
		if err := f.collect(ctx); err != nil {
			return again, err
		}
		if err := f.start(ctx); err != nil {
			return again, err
		}
		if len(f.waits)+len(f.runs) == 0 {
			return again, errSeen
		}
		return time.Now().Add(lookAtPane), nil // the end of a wrapper is no change of a file
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return err
}

// start gives those that wait their turn, in their order, while their services take more.
func (f *fan) start(ctx context.Context) error {
	unlock, err := f.Dir.Exclusive(ctx, "wave") // so that two who start lanes count each other's
	if err != nil {
		return err
	}
	defer unlock()
	busy, err := f.busy(ctx)
	if err != nil {
		return err
	}
	f.waits = slices.DeleteFunc(f.waits, func(l *laneRun) bool {
		provider := l.brain.Provider()
		if busy[provider] >= f.PerProvider || ctx.Err() != nil {
			return false
		}
		if err := f.launchLane(context.WithoutCancel(ctx), l); err != nil { // or nobody would know what has been begun
			f.report(l, Failed, err)
			return true
		}
		busy[provider]++
		f.runs = append(f.runs, l)
		return true
	})
	return nil
}

// busy counts the lanes of this run that use each service now.
func (f *fan) busy(ctx context.Context) (map[string]int, error) {
	rows, err := f.rows(ctx)
	busy := make(map[string]int)
	for _, w := range rows {
		if w.Lane == "" || !f.Dir.Alive(w.ID) {
			continue
		}
		if b, err := agent.Find(w.Brain); err == nil {
			busy[b.Provider()]++
		}
	}
	return busy, err
}

// launchLane starts the worker of a lane, unless one is already at this very packet.
func (f *fan) launchLane(ctx context.Context, l *laneRun) error {
	journal, err := f.Dir.Journal()
	if err != nil {
		return err
	}
	last, _ := journal.Last(l.ID)
	asked := last.Type == lane.Started && last.Key == l.Key
	open, err := f.open(ctx, last.Task)
	if err != nil {
		return err
	}
	alive := f.Dir.Alive(l.ws)
	switch {
	case alive && asked && open:
		l.record = last
		return nil
	case alive:
		return roster.Refusef("%s is at work on another packet", l.ID).Hinted("wait for it, or: fleet stop %s", l.ws)
	case asked && open: // it was stopped, or killed
		l.record = last
	default:
		if err := f.assign(ctx, l); err != nil {
			return err
		}
	}
	_, err = f.Spawn(ctx, l.ws, SpawnOptions{
		Brain: l.Brain, Headless: true, Base: l.Base,
		PaneOptions: PaneOptions{Limits: agent.Limits{
			Model: l.Model, Effort: l.Effort, BudgetUSD: l.BudgetUSD,
			MaxTurns: cmp.Or(l.MaxTurns, lane.DefaultMaxTurns), Timeout: cmp.Or(l.Timeout, lane.DefaultTimeout),
		}},
	})
	if err == nil {
		return nil
	}
	// Nobody else will do it.
	undo := f.Dir.Update(ctx, func(s *roster.State) error { return s.CancelTask(l.record.Task) })
	return errors.Join(err, undo, f.Dir.WriteJournal(ctx, l.record.End(err.Error(), now())))
}

// open reports whether a task is not over.
func (f *fan) open(ctx context.Context, task string) (open bool, err error) {
	err = f.Dir.View(ctx, func(s *roster.State) error {
		t := s.Task(task)
		open = t != nil && t.Open()
		return nil
	})
	return open, err
}

// assign makes a task of a packet, in place of what the lane was asked before.
func (f *fan) assign(ctx context.Context, l *laneRun) error {
	if err := f.Dir.Update(ctx, func(s *roster.State) error { return s.Supersede(l.ws) }); err != nil {
		return err
	}
	ids, err := f.Dir.AddTasks(ctx, []roster.NewTask{{
		Workstream: l.ws, Title: l.ID + ": " + roster.Title(string(l.packet)), Brain: l.Brain, MaxAttempts: 1,
		Description: "The prompt is " + f.Dir.Rel(f.Dir.Lane(l.ID, "prompt.txt")) + ".",
	}})
	if err != nil {
		return err
	}
	l.record = l.Start(l.ws, ids[0], now())
	return f.Dir.WriteJournal(ctx, l.record)
}

// collect takes those that have ended from those that run.
func (f *fan) collect(ctx context.Context) error {
	running := f.runs
	f.runs = nil
	for _, l := range running {
		if f.Dir.Alive(l.ws) {
			f.runs = append(f.runs, l)
		} else if err := f.end(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// end reads what the worker of a lane has written into the journal. One that was stopped or killed has written nothing.
func (f *fan) end(ctx context.Context, l *laneRun) error {
	journal, err := f.Dir.Journal()
	if err != nil {
		return err
	}
	last, _ := journal.Last(l.ID)
	if last.Type != lane.Result || last.Task != l.record.Task {
		w, err := f.Dir.Workstream(ctx, l.ws)
		if err != nil {
			return err
		}
		last = l.record.End(cmp.Or(w.Notes, "its worker was stopped"), now())
		if err := f.Dir.WriteJournal(ctx, last); err != nil {
			return err
		}
	}
	if l.of != nil {
		return f.repaired(ctx, l.of, last)
	}
	l.record = last
	if last.Good() {
		f.report(l, Ran, nil)
		return nil
	}
	if l.Repair {
		if _, err := f.askAgain(l); err == nil {
			return nil
		}
	}
	f.report(l, Failed, &lane.RejectedError{Why: last.Reason})
	return nil
}

// report tells what has come of a lane.
func (f *fan) report(l *laneRun, status string, err error) {
	r := l.report
	r.Status, r.Err = status, err
	if err != nil {
		r.RC, r.Reason = lane.RCFailed, err.Error()
	}
	if l.record.Artifact != "" {
		r.Artifact = f.Dir.File(l.record.Artifact)
	}
	f.Said(*r)
}

func now() roster.Time { return roster.Time{Time: time.Now()} }
