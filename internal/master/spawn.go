package master

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"fleet/hooks/settings"
	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// SpawnOptions say how workers are started.
type SpawnOptions struct {
	PaneOptions
	Brain    string // instead of the workstream's own
	Headless bool
	Resume   bool   // go on with the conversation of the workstream's last worker, where there is one
	Base     string // branch at which a new worktree starts; empty is the run's
	Manual   bool   // in a terminal of the user's, which fleet can't type into
	Instead  bool   // a worker that runs hands over to the new one, and is ended
}

// Plan is how one worker will be started. Making it changes nothing.
type Plan struct {
	WS       roster.Workstream
	Brain    agent.Brain
	Mode     string
	Tree     string // as in the row
	Dir      string // working directory, absolute
	Branch   string // of a worktree that has yet to be made
	Base     string // at which that starts; empty is the run's
	Brief    string
	Settings string
	Spare    int  // that will be the worker; 0 is none
	Over     bool // an earlier worker handed over to it
	PaneOptions
}

// Plan checks everything that can be checked before a worker is started.
func (f *Fleet) Plan(ctx context.Context, ws string, o SpawnOptions) (Plan, error) {
	row, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return Plan{}, err
	}
	if o.Instead && o.Resume { // as the one that runs was started
		o.Headless = row.Mode == roster.Headless
		if err := f.readStart(ws, &o.PaneOptions); err != nil {
			return Plan{}, err
		}
	}
	p := Plan{WS: row, Base: o.Base, PaneOptions: o.PaneOptions}
	o.Headless = o.Headless || row.Lane != ""
	p.Brief, p.Settings = f.Dir.Brief(ws), f.Dir.HookSettings(ws)
	p.Trust = o.Trust || f.Dir.Config.Trust
	if _, err := os.Stat(p.Brief); err != nil && row.Task != "" {
		return p, roster.Dataf("%s: its brief %s is missing", ws, f.Dir.Rel(p.Brief)).Hinted("write it: the worker reads it first")
	}
	if p.WS.Status == roster.Landed {
		return p, roster.Refusef("%s has landed", ws)
	}
	if f.Dir.Alive(ws) && !o.Instead {
		return p, roster.Refusef("%s has a live worker already", ws).Hinted("fleet attach to see it, fleet stop %s to end it", ws)
	}
	name := o.Brain
	if name == "" {
		name = p.WS.Brain
	}
	if p.Brain, err = agent.Find(name); err != nil {
		return p, err
	}
	if err := p.Brain.Ready(ctx); err != nil {
		return p, err
	}
	if err := f.planGate(ctx, &p); err != nil {
		return p, err
	}
	switch {
	case o.Headless && !p.Brain.Headless():
		return p, roster.Usagef("--headless: %s takes no tasks by itself", p.Brain.Name)
	case o.Headless:
		p.Mode = roster.Headless
		p.Limits = f.limits(p.Limits)
	case o.Manual || !p.Brain.Hooks:
		p.Mode = roster.Manual
	default:
		p.Mode = roster.Interactive
	}
	if o.Resume && p.Mode == roster.Interactive && name == row.Brain && p.Brain.Transcript(row.SessionID, os.Environ()) != "" {
		p.Session = row.SessionID
	}
	return p, f.planTree(ctx, &p)
}

// planGate sees to it that an agent whose writes nothing checks is kept apart from the
// others by a worktree, unless the user says that it needn't be. A shell is a person's.
func (f *Fleet) planGate(ctx context.Context, p *Plan) error {
	why := p.Brain.Ungated(ctx)
	if why == "" || !p.Brain.Headless() {
		p.Ungated = false
		return nil
	}
	if !f.apart(&p.WS) && !p.Ungated {
		return roster.Refusef("%s: nothing would keep %s off files that others hold", why, p.WS.ID).
			Hinted("FLEET_WORKTREE=on in fleet.env gives it a worktree of its own; --ungated starts it here all the same")
	}
	p.Brain.Hooks, p.Ungated = false, true
	return nil
}

// limits fills in what the run's settings say of headless sessions.
func (f *Fleet) limits(l agent.Limits) agent.Limits {
	c := f.Dir.Config
	l.Model = cmp.Or(l.Model, c.Model)
	l.Timeout = cmp.Or(l.Timeout, c.TaskTimeout)
	l.MaxTurns = cmp.Or(l.MaxTurns, c.MaxTurns)
	l.BudgetUSD = cmp.Or(l.BudgetUSD, c.TaskBudget)
	return l
}

// String is the plan in the form of spawn --dry-run.
func (p Plan) String() string {
	line := fmt.Sprintf("PLAN spawn %s name=%s brain=%s mode=%s cwd=%s brief=%s", p.WS.ID, p.WS.Name, p.Brain.Name, p.Mode, p.Dir, p.Brief)
	if p.Branch != "" {
		line += fmt.Sprintf("\nPLAN worktree %s path=%s branch=%s", p.WS.ID, p.Dir, p.Branch)
	}
	return line
}

// Launched is a new incarnation that is registered and has yet to be started.
type Launched struct {
	Plan
	Epoch int
	After int64  // the last event before it
	Pane  string // once it has one
}

// Launch registers a new incarnation of a worker whose program somebody else will start.
func (f *Fleet) Launch(ctx context.Context, ws string, o SpawnOptions) (Launched, error) {
	return f.start(ctx, ws, o, f.launch)
}

// start carries out a fresh plan while nobody else starts a worker of that workstream.
func (f *Fleet) start(ctx context.Context, ws string, o SpawnOptions, how func(context.Context, Plan) (Launched, error)) (Launched, error) {
	unlock, err := f.lockStart(ctx, ws)
	if err != nil {
		return Launched{}, err
	}
	defer unlock()
	p, err := f.Plan(ctx, ws, o)
	if err != nil {
		return Launched{}, err
	}
	return how(ctx, p)
}

// spawnLock is shared by those who start something. Who has it alone may take away what nobody seems to use.
const spawnLock = "spawn"

// lockStart keeps two apart who start the same, such as the worker of one workstream. Others go on meanwhile:
// a tree may take minutes to set up.
func (f *Fleet) lockStart(ctx context.Context, what string) (unlock func(), err error) {
	others, err := f.Dir.Shared(ctx, spawnLock)
	if err != nil {
		return nil, err
	}
	own, err := f.Dir.Exclusive(ctx, spawnLock+"-"+what)
	if err != nil {
		others()
		return nil, err
	}
	return func() { own(); others() }, nil
}

// launch makes what a plan needs, its tree and its hook settings, and begins a new epoch.
func (f *Fleet) launch(ctx context.Context, p Plan) (Launched, error) {
	l := Launched{Plan: p}
	if f.apart(&p.WS) {
		if err := f.firstBaseline(ctx); err != nil {
			return l, err
		}
	}
	if p.Branch != "" {
		if err := f.makeTree(ctx, p); err != nil {
			return l, err
		}
	}
	if err := f.writeStart(p); err != nil {
		return l, err
	}
	text, err := settings.Worker(f.Exe, p.WS.ID, f.Dir.Config.VerifyTimeout)
	if err != nil {
		return l, err
	}
	if err := f.Dir.Write(p.Settings, text); err != nil {
		return l, err
	}
	for name, text := range p.Brain.Files {
		if err := f.Dir.Write(filepath.Join(filepath.Dir(p.Settings), name), []byte(text)); err != nil {
			return l, err
		}
	}
	if l.After, err = f.Dir.LastEvent(); err != nil {
		return l, err
	}
	return l, f.Dir.Update(ctx, func(s *roster.State) (err error) {
		l.Epoch, err = s.Launch(p.WS.ID, roster.Launch{Brain: p.Brain.Name, Mode: p.Mode, Tree: p.Tree, Spare: p.Spare, Over: p.Over})
		return err
	})
}

// startFile keeps how a worker was started, for a restart.
func (f *Fleet) startFile(ws string) string {
	return filepath.Join(filepath.Dir(f.Dir.HookSettings(ws)), ws+".start.json")
}

func (f *Fleet) writeStart(p Plan) error {
	o := p.PaneOptions
	o.Session = ""
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return f.Dir.Write(f.startFile(p.WS.ID), text)
}

func (f *Fleet) readStart(ws string, o *PaneOptions) error {
	text, err := os.ReadFile(f.startFile(ws))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, o)
	}
	return err
}

// PaneArgs is the command that runs in a worker's pane.
func (f *Fleet) PaneArgs(l Launched) []string {
	args := []string{"pane", l.WS.ID, "--epoch", strconv.Itoa(l.Epoch)}
	if l.Trust {
		args = append(args, "--trust")
	}
	if l.Session != "" {
		args = append(args, "--session", l.Session)
	}
	if l.Ungated {
		args = append(args, "--ungated")
	}
	if l.Mode == roster.Headless {
		args = append(args, "--task-timeout", l.Timeout.String(), "--max-turns", strconv.Itoa(l.MaxTurns),
			"--task-budget-usd", strconv.FormatFloat(l.BudgetUSD, 'f', -1, 64), "--model", l.Model, "--effort", l.Effort,
			"--sealed="+strconv.FormatBool(l.Sealed), "--serve="+strconv.FormatBool(l.Serve))
	}
	return f.command(args...)
}

// Spawn starts a worker in a pane of its own and returns once its wrapper runs, so that
// the next spawn sees it. Whether the agent comes up is AwaitUp's question.
func (f *Fleet) Spawn(ctx context.Context, ws string, o SpawnOptions) (Launched, error) {
	return f.open(ctx, ws, o, f.awaitWrapper)
}

// open starts a worker in a pane of its own. What is done then, is done while nobody else starts one.
func (f *Fleet) open(ctx context.Context, ws string, o SpawnOptions, then func(context.Context, Launched) error) (Launched, error) {
	server, err := f.Tmux()
	if err != nil {
		return Launched{}, err
	}
	return f.start(ctx, ws, o, func(ctx context.Context, p Plan) (Launched, error) {
		if _, err := exec.LookPath("tmux"); err != nil {
			return Launched{}, &agent.MissingError{Program: "tmux", For: "fleet spawn (or use --no-tmux, --here)"}
		}
		if o.Instead {
			if err := f.handOver(ctx, &p); err != nil {
				return Launched{}, err
			}
		} else if err := f.clearPanes(ctx, ws); err != nil {
			return Launched{}, err
		}
		l, err := f.launch(ctx, p)
		if err == nil {
			l, err = f.openPane(ctx, server, l)
		}
		if err == nil && then != nil {
			err = then(ctx, l)
		}
		return l, err
	})
}

// Up starts the workers of workstreams one after the other, or, where none is named,
// of all that have a task of their own and no worker. The first that can't be started ends it.
func (f *Fleet) Up(ctx context.Context, ids []string, o SpawnOptions, started func(Launched)) error {
	if len(ids) == 0 {
		need, _, err := f.Needs(ctx, 0, "")
		if err != nil {
			return err
		}
		ids = need.Own
	}
	for _, id := range ids {
		l, err := f.Spawn(ctx, id, o)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		started(l)
	}
	return nil
}

func (f *Fleet) openPane(ctx context.Context, server *tmux.Server, l Launched) (Launched, error) {
	id, err := f.newPane(ctx, server, tmux.PaneSpec{
		Session: f.Session(), Window: "workers", Dir: l.Dir, Args: f.PaneArgs(l), OnDeath: f.reapArgs(l),
		Tags: tmux.Tags{Run: f.Dir.Path, WS: l.WS.ID, Epoch: l.Epoch},
	})
	return f.settle(ctx, l, id, err)
}

// reapArgs is the command that runs when a worker's pane ends.
func (f *Fleet) reapArgs(l Launched) []string {
	return f.command("reap", l.WS.ID, "--epoch", strconv.Itoa(l.Epoch))
}

// settle gives a new incarnation the pane that was made ready for it, or ends it
// where that failed.
func (f *Fleet) settle(ctx context.Context, l Launched, id tmux.PaneID, err error) (Launched, error) {
	l.Pane = string(id)
	if err == nil {
		return l, nil
	}
	undo := f.Dir.Update(context.WithoutCancel(ctx), func(s *roster.State) error {
		return s.MarkDead(l.WS.ID, l.Epoch, "its pane could not be opened")
	})
	return l, errors.Join(err, undo)
}

// awaitWrapper waits for the wrapper's sign of life, or for its end.
func (f *Fleet) awaitWrapper(ctx context.Context, l Launched) error {
	return f.awaitLife(ctx, l.WS.ID, func(ctx context.Context, due bool) (bool, error) {
		over, err := f.over(ctx, l)
		if err != nil || over || !due {
			return over, err
		}
		if runs, err := f.runs(ctx, l); err == nil && !runs { // tmux can miss a death
			return false, f.Reap(ctx, l.WS.ID, l.Epoch)
		}
		return false, nil
	})
}

// awaitLife waits until a wrapper runs, or until look says that it is over with it. Its pane may be looked at when that is due.
func (f *Fleet) awaitLife(ctx context.Context, name string, look func(ctx context.Context, due bool) (over bool, err error)) error {
	wait, cancel := context.WithTimeout(ctx, wrapperTimeout)
	defer cancel()
	wake, stop := f.Dir.Changes("live")
	defer stop()
	tick := time.NewTicker(lookAtPane)
	defer tick.Stop()
	for due := false; !f.Dir.Alive(name); {
		if over, err := look(ctx, due); err != nil || over {
			return err
		}
		select {
		case <-wait.Done():
			return cmp.Or(ctx.Err(), notUp(name))
		case <-wake:
			due = false
		case <-tick.C:
			due = true
		}
	}
	return nil
}

func notUp(name string) error {
	return roster.Refusef("%s has not come up: nothing runs in its pane", name).Hinted("fleet attach --panes shows why")
}

// runs reports whether the program is there that is to be the wrapper.
func (f *Fleet) runs(ctx context.Context, l Launched) (runs bool, err error) {
	if l.Spare > 0 {
		return f.Dir.Alive(rundir.Spare(l.WS.ID, l.Spare)), nil
	}
	_, runs, err = f.Pane(ctx, l.WS.ID)
	return runs, err
}

// lookAtPane is how often a pane is looked at whose wrapper has not shown up.
const lookAtPane = time.Second

// over reports whether an incarnation has ended already.
func (f *Fleet) over(ctx context.Context, l Launched) (bool, error) {
	over := false
	err := f.Dir.View(ctx, func(s *roster.State) error {
		over = s.Fence(l.WS.ID, l.Epoch) != nil
		return nil
	})
	return over, err
}

// OtherRuns tells the other runs of the same repository.
func OtherRuns(d *rundir.Dir) []string {
	dirs, _ := rundir.Find(d.Root)
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == d.Path })
}
