package master

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"fleet/internal/agent"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/lane/schema"
	"fleet/roster/rundir"
)

// LaneOptions say how lanes are run.
type LaneOptions struct {
	Force       bool             // also what has a result already
	DryRun      bool             // only tell
	PerProvider int              // how many lanes may use one service at once
	Said        func(LaneReport) // is told how it goes with each, as soon as it is known
}

// LaneReport is what has come of asking for a lane's result.
type LaneReport struct {
	ID       string `json:"id"`
	Status   string `json:"status"` // one of those below
	RC       int    `json:"rc"`
	Artifact string `json:"artifact,omitempty"` // absolute
	Reason   string `json:"reason,omitempty"`
	Err      error  `json:"-"` // of one that failed
}

// How it goes with a lane that was asked for.
const (
	Ran      = "ran"
	Cached   = "cached" // nothing has changed since it was asked last
	Failed   = "failed"
	Imported = "imported" // another program's, which can't be asked again
	Planned  = "planned"  // what a dry run would ask
	Waiting  = "waiting"  // for its turn, for a limit of its service or for a file; or it waited when this was interrupted
	Running  = "running"  // it ran when this was interrupted, and goes on
)

// fan runs lanes, as many at once as their services take.
type fan struct {
	*Fleet
	LaneOptions
	all, waits, runs []*laneRun
	ready            map[string]error // by brain: whether it can be started
	trees            func() error     // whether worktrees can be made
}

// laneRun is one packet on its way.
type laneRun struct {
	lane.Packet
	brain   agent.Brain
	prompt  []byte // as it is sent
	schema  []byte
	repairs bool // the reply that it had before
	ws      string
	opened  Launched // whose wrapper has yet to be awaited, if it has an epoch
	record  lane.Record
	told    string // what was said last of why it waits
	report  *LaneReport
}

// RunLanes enters packets into the manifest and sees to it that each has a result: those that have
// one already cost nothing. It returns when all are over; when it is interrupted, the lanes that run go on.
func (f *Fleet) RunLanes(ctx context.Context, packets []lane.Packet, o LaneOptions) ([]LaneReport, error) {
	fan := &fan{Fleet: f, LaneOptions: o, ready: make(map[string]error), trees: sync.OnceValue(func() error { return f.inRepository(ctx) })}
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
		if p.Imported != "" {
			f.report(l, Imported, nil)
			continue
		}
		err := f.prepare(l)
		if err == nil && !f.Force && f.cached(l, &journal) {
			continue
		}
		if err == nil {
			err = f.canStart(ctx, l)
		}
		if err != nil {
			f.report(l, Failed, err)
			continue
		}
		f.waits = append(f.waits, l)
	}
	return ctx.Err()
}

// cached reports a lane that has a result already, if it has.
func (f *fan) cached(l *laneRun, journal *lane.Journal) bool {
	hit, ok := journal.Hit(l.Key)
	if !ok {
		return false
	}
	if _, err := os.Stat(f.Dir.File(hit.Artifact)); err != nil {
		return false
	}
	l.record = hit
	f.report(l, Cached, nil)
	return true
}

// canStart is why a lane can't be started. Its brain is asked once, since it may run a command of the user's.
func (f *fan) canStart(ctx context.Context, l *laneRun) error {
	if l.Worktree {
		if err := f.trees(); err != nil {
			return err
		}
	}
	b := l.brain
	if err, known := f.ready[b.Name]; known {
		return err
	}
	f.ready[b.Name] = b.Ready(ctx)
	return f.ready[b.Name]
}

func (f *fan) reports() []LaneReport {
	for _, l := range f.runs {
		l.report.Status = Running
	}
	for _, l := range f.waits {
		l.report.Status = Waiting
	}
	reports := make([]LaneReport, len(f.all))
	for i, l := range f.all {
		reports[i] = *l.report
	}
	return reports
}

// prepare reads what a packet is made of, and computes its key.
func (f *fan) prepare(l *laneRun) (err error) {
	if err := l.Check(); err != nil {
		return err
	}
	if l.brain, err = agent.Find(l.Brain); err != nil {
		return err
	}
	if !l.brain.Headless() {
		return roster.Usagef("%s takes no packets by itself", l.Brain)
	}
	text, err := promptOf(l.Packet)
	if err != nil {
		return err
	}
	guard, form := "", "GUARD"
	if !l.brain.Commits {
		form = "GUARD_NO_COMMIT"
	}
	if !l.NoGuard {
		if guard, err = f.Dir.LaneForm(form, nil); err != nil {
			return err
		}
	}
	var embedded []byte
	if l.Schema != "" {
		if l.schema, err = os.ReadFile(l.Schema); err != nil {
			return roster.Dataf("its schema: %v", err)
		}
		if _, err := schema.Parse(l.schema); err != nil {
			return err
		}
		if !l.brain.Schemas {
			embedded = l.schema
		}
	}
	l.Text, l.prompt = text, lane.Sent([]byte(guard), text, embedded)
	effective := f.bounded(l.Packet)
	l.Key = effective.KeyOf(l.brain.Identity(), l.prompt, l.schema)
	return nil
}

// promptOf is what a packet says.
func promptOf(p lane.Packet) (text []byte, err error) {
	if text = p.Text; text == nil {
		if text, err = os.ReadFile(p.PromptFile); err != nil {
			return nil, roster.Dataf("its prompt: %v", err)
		}
	}
	if roster.Title(string(text)) == "" {
		return nil, roster.Dataf("its prompt is empty")
	}
	return text, nil
}

// bounded is a packet with the model of the run where it names none, and with bounds of its time and turns. Those of
// the run's tasks are not for lanes, which are larger.
func (f *Fleet) bounded(p lane.Packet) lane.Packet {
	p.Model = cmp.Or(p.Model, f.Dir.Config.Model)
	p.MaxTurns = cmp.Or(p.MaxTurns, lane.DefaultMaxTurns)
	p.Timeout.Duration = cmp.Or(p.Timeout.Duration, lane.DefaultTimeout)
	return p
}

// enter writes the packets into the manifest, and makes a workstream of each that has to be asked.
func (f *fan) enter(ctx context.Context) error {
	refused := make(map[*laneRun]error)
	if len(f.waits) > 0 {
		err := f.Dir.Update(ctx, func(s *roster.State) error {
			free := s.FreeIDs(len(f.waits))
			for i, l := range f.waits {
				if err := f.register(s, l, free[i]); err != nil {
					refused[l] = err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	f.waits = slices.DeleteFunc(f.waits, func(l *laneRun) bool {
		if refused[l] != nil {
			f.report(l, Failed, refused[l])
		}
		return refused[l] != nil
	})
	var packets []lane.Packet
	for _, l := range f.all {
		if l.report.Status == Failed {
			continue
		}
		if l.PromptFile == "" {
			l.PromptFile = f.Dir.Packet(l.ID)
			if err := f.Dir.Write(l.PromptFile, l.Text); err != nil {
				return err
			}
		}
		packets = append(packets, l.Packet)
	}
	if len(packets) == 0 {
		return nil
	}
	return f.Dir.PutPackets(ctx, packets...)
}

// register finds the workstream of a lane, or makes one of a free id.
func (f *fan) register(s *roster.State, l *laneRun, free string) error {
	n := roster.NewWorkstream{ID: free, Name: l.ID, Text: roster.Title(string(l.Text)), Brain: l.Brain, Lane: roster.Shared, Tree: roster.MainTree}
	if l.Isolated {
		n.Lane = roster.Isolated
	}
	if l.Worktree {
		n.Tree = roster.LaneTree(f.Dir.Slug(), l.ID)
	}
	i := slices.IndexFunc(s.Workstreams, func(w roster.Workstream) bool { return w.Name == l.ID })
	if i < 0 {
		l.ws = free
		return s.AddSlot(n)
	}
	w := &s.Workstreams[i]
	l.ws = w.ID
	switch {
	case w.Lane == "":
		return roster.Refusef("the name %s is that of %s, which is no lane", l.ID, w.ID).Hinted("choose another --id")
	case w.Status == roster.Landed:
		return roster.Refusef("it has landed as %s", w.ID).Hinted("choose another --id for further work")
	case w.Lane != n.Lane || w.Tree != n.Tree:
		return roster.Refusef("it was made to work in %s, %s", w.Tree, w.Lane).Hinted("choose another --id for one that is otherwise")
	}
	return nil
}

// run starts what waits as others end, until nothing is left.
func (f *fan) run(ctx context.Context) error {
	if len(f.waits) == 0 {
		return nil
	}
	err := f.lookout(ctx, shortRest, func(bool) (again time.Time, err error) {
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

// waveTime is for how long lanes are begun before what has come of others is looked at again.
const waveTime = 5 * time.Second

// start gives those that wait their turn, in their order, while their services take more.
func (f *fan) start(ctx context.Context) error {
	if len(f.waits) == 0 {
		return nil
	}
	unlock, err := f.lockStart(ctx, "wave") // so that two who start lanes see each other's
	if errors.Is(err, rundir.ErrBusy) {
		return nil // somebody's trees take long to set up
	}
	if err != nil {
		return err
	}
	defer unlock()
	busy, err := f.busy(ctx)
	if err != nil {
		return err
	}
	waits, began := f.waits, time.Now()
	f.waits = nil
	for _, l := range waits {
		if ctx.Err() != nil || time.Since(began) > waveTime {
			f.waits = append(f.waits, l)
			continue
		}
		begun, err := f.begin(proc.Steady(ctx), l, busy) // or nobody would know what has been begun
		switch {
		case err != nil:
			f.report(l, Failed, err)
		case begun:
			f.runs = append(f.runs, l)
		case l.report.Status == "":
			f.waits = append(f.waits, l)
		}
	}
	f.awaitOpened(proc.Steady(ctx))
	return nil
}

// awaitOpened waits until the wrappers of the lanes that were begun run.
func (f *fan) awaitOpened(ctx context.Context) {
	f.runs = slices.DeleteFunc(f.runs, func(l *laneRun) bool {
		if l.opened.Epoch == 0 {
			return false
		}
		err := f.awaitWrapper(ctx, l.opened)
		l.opened = Launched{}
		if err != nil {
			f.report(l, Failed, f.abandon(ctx, l, err))
		}
		return err != nil
	})
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

// begin sees to it that the worker of a lane is at the packet, if its service takes one more. Somebody else may have
// seen to that since we looked, and may even have its result.
func (f *fan) begin(ctx context.Context, l *laneRun, busy map[string]int) (begun bool, err error) {
	journal, err := f.Dir.Journal()
	if err != nil {
		return false, err
	}
	last, _ := journal.Last(l.ID)
	asked := last.Type == lane.Started && last.Key == l.Key && !l.repairs
	alive := f.Dir.Alive(l.ws)
	switch {
	case alive && asked:
		l.record = last
		return true, nil
	case !f.Force && !l.repairs && f.cached(l, &journal):
		return false, nil
	case alive && last.Type != lane.Started: // it has ended, and its worker is about to
		return false, nil
	case alive:
		return false, roster.Refusef("%s is at work on another packet", l.ID).Hinted("wait for it, or: fleet stop %s", l.ws)
	case busy[l.brain.Provider()] >= f.PerProvider:
		return false, nil
	}
	if asked, err = f.unfinished(ctx, asked, last); err != nil {
		return false, err
	}
	l.record = last
	if !asked {
		if err := f.assign(ctx, l, &journal); err != nil {
			return false, err
		}
	}
	l.opened, err = f.open(ctx, l.ws, SpawnOptions{Brain: l.Brain, Headless: true, Base: l.Base}, nil)
	if err != nil {
		return false, f.abandon(ctx, l, err)
	}
	busy[l.brain.Provider()]++
	return true, nil
}

// abandon takes a packet back whose worker could not be started: nobody else will do it.
func (f *fan) abandon(ctx context.Context, l *laneRun, why error) error {
	undo := f.Dir.Update(ctx, func(s *roster.State) error { return s.CancelTask(l.record.Task) })
	return errors.Join(why, undo, f.Dir.WriteJournal(ctx, l.record.End("", why.Error(), now())))
}

// unfinished reports whether a packet that was asked still waits for a worker: the last one was stopped, or killed.
func (f *fan) unfinished(ctx context.Context, asked bool, last lane.Record) (open bool, err error) {
	if !asked {
		return false, nil
	}
	err = f.Dir.View(ctx, func(s *roster.State) error {
		t := s.Task(last.Task)
		open = t != nil && t.Open()
		return nil
	})
	return open, err
}

// assign makes a task of a packet, in place of what the lane was asked before, and writes down what that is.
func (f *fan) assign(ctx context.Context, l *laneRun, journal *lane.Journal) error {
	if err := f.Dir.Update(ctx, func(s *roster.State) error { return s.Supersede(l.ws) }); err != nil {
		return err
	}
	l.record = journal.Start(f.bounded(l.Packet), l.ws, "", now())
	if err := f.Dir.Write(f.Dir.File(l.record.File("prompt.txt")), l.prompt); err != nil {
		return err
	}
	if len(l.schema) > 0 {
		if err := f.Dir.Write(f.Dir.File(l.record.File(schemaFile)), l.schema); err != nil {
			return err
		}
	}
	ids, err := f.Dir.AddTasks(ctx, []roster.NewTask{{
		Workstream: l.ws, Title: l.ID + ": " + roster.Title(string(l.Text)), Brain: l.Brain, MaxAttempts: 1,
		Description: "The prompt is " + f.Dir.Rel(f.Dir.File(l.record.File("prompt.txt"))) + ".",
	}})
	if err != nil {
		return err
	}
	l.record.Task = ids[0]
	return f.Dir.WriteJournal(ctx, l.record)
}

// collect takes those that have ended from those that run, and says why others wait.
func (f *fan) collect(ctx context.Context) error {
	running := f.runs
	f.runs = nil
	for i, l := range running {
		w, err := f.Dir.Workstream(ctx, l.ws)
		if err == nil && !f.Dir.Alive(l.ws) {
			err = f.end(ctx, l)
		} else {
			f.runs = append(f.runs, l)
		}
		if err != nil {
			f.runs = append(f.runs, running[i+1:]...)
			return err
		}
		if w.Parked() && w.Notes != l.told {
			l.told = w.Notes
			f.Said(LaneReport{ID: l.ID, Status: Waiting, Reason: w.Notes})
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
	asked := l.record
	end, ok := journal.Ended(asked.Task)
	if !ok {
		if end, err = f.unsettled(ctx, asked); err != nil {
			return err
		}
	}
	l.record = end
	switch {
	case end.Good():
		f.report(l, Ran, nil)
		return nil
	case l.Repair && f.askAgain(l, asked) == nil:
		return nil
	}
	f.report(l, Failed, &lane.RejectedError{Why: end.Reason})
	return nil
}

// unsettled is the end of a packet whose worker could not write it down: its task says whether it was done.
func (f *fan) unsettled(ctx context.Context, asked lane.Record) (end lane.Record, err error) {
	done := false
	err = f.Dir.View(ctx, func(s *roster.State) error {
		t := s.Task(asked.Task)
		done = t != nil && t.Status == roster.TaskDone
		return nil
	})
	if err != nil {
		return end, err
	}
	end = asked.End("", "its worker was stopped, or killed", now())
	if done {
		end = asked.End(asked.File(artifactFile), "", now())
	}
	return end, f.Dir.WriteJournal(ctx, end)
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
