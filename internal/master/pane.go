package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"fleet/internal/agent"
	"fleet/internal/proc"
	"fleet/roster"
)

// stopGrace is how long an agent has to end after it was asked to.
const stopGrace = 5 * time.Second

// PaneOptions say how a worker runs.
type PaneOptions struct {
	agent.Limits
	Trust bool // start the agent without its question whether the folder is trusted
	Serve bool // headless: stay for whatever task comes, not for the workstream's own alone
	// Session is the conversation of an earlier worker that the agent goes on with; empty is a new one.
	Session string
	// Ungated starts an agent that no hooks gate, in the checkout of the others too.
	Ungated bool
	goOn    bool // where an earlier worker stopped, by its handoff
}

// RunPane is the program of a worker's pane: it runs the worker for as long as
// that lives, and records its end. It holds the liveness lock meanwhile, so that
// whatever kills it tells the others. The code is the worker's exit code.
func (f *Fleet) RunPane(ctx context.Context, ws string, epoch int, o PaneOptions) (code int, err error) {
	release, err := f.Dir.HoldLife(ws)
	if err != nil {
		return 0, err
	}
	defer release()
	return f.runWorker(ctx, ws, epoch, o)
}

// runWorker runs a worker whose liveness lock is held.
func (f *Fleet) runWorker(ctx context.Context, ws string, epoch int, o PaneOptions) (code int, err error) {
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return 0, err
	}
	if w.Epoch != epoch {
		return 0, &roster.StaleEpochError{WS: ws, Epoch: epoch, Now: w.Epoch}
	}
	exit, err := f.serve(ctx, &w, o)
	if err != nil {
		exit = roster.Exit{Code: -1, LastLines: err.Error()}
	}
	ctx = context.WithoutCancel(ctx)
	recordErr := f.Dir.Update(ctx, func(s *roster.State) error { return s.WorkerExited(ws, w.Epoch, exit) })
	if roster.IsStale(recordErr) {
		recordErr = nil // somebody was quicker to declare it dead
	}
	return exit.Code, errors.Join(err, recordErr)
}

// serve is a worker's work, on its screen or without one.
func (f *Fleet) serve(ctx context.Context, w *roster.Workstream, o PaneOptions) (roster.Exit, error) {
	brain, err := agent.Find(w.Brain)
	if err != nil {
		return roster.Exit{}, err
	}
	if o.Ungated {
		brain.Hooks = false
	}
	if w.Mode == roster.Headless {
		return f.runTasks(ctx, brain, w, o)
	}
	return f.runScreen(ctx, brain, w, o)
}

// runScreen runs an agent with the terminal attached, and types into it the tasks
// that it is given later.
func (f *Fleet) runScreen(ctx context.Context, b agent.Brain, w *roster.Workstream, o PaneOptions) (roster.Exit, error) {
	ctx = context.WithoutCancel(ctx) // an interrupt is for the agent; what ends us is passed on below
	first, err := f.firstTask(ctx, w.ID)
	if err != nil {
		return roster.Exit{}, err
	}
	j := f.job(w, o)
	j.Session, j.Script = o.Session, f.Dir.Script(w.ID)
	if first.ID != "" {
		j.Prompt = f.Dir.Prompt(first.ID)
	}
	if o.goOn {
		j.Prompt = f.Dir.HandoffPrompt(w.ID, cmp.Or(first.ID, w.ID))
	}
	return f.runAgent(ctx, b, w, j, func(ctx context.Context) error { return f.deliver(ctx, w, first) })
}

// job is what a worker's agent needs to know, whatever it is to do.
func (f *Fleet) job(w *roster.Workstream, o PaneOptions) agent.Job {
	return agent.Job{
		Name: f.Dir.Slug() + "-" + w.Name, Mode: w.Mode, Settings: f.Dir.HookSettings(w.ID),
		Root: f.Dir.Root, RunDir: f.Dir.Path, Trust: o.Trust, Limits: o.Limits,
	}
}

// runAgent starts the agent and waits for its end. What runs beside it, if
// anything does, ends with it, and an error there ends the agent.
func (f *Fleet) runAgent(ctx context.Context, b agent.Brain, w *roster.Workstream, j agent.Job, beside func(context.Context) error) (roster.Exit, error) {
	c, err := b.Command(ctx, f.Exe, j)
	if err != nil {
		return roster.Exit{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = f.Dir.Tree(w)
	cmd.Env = f.workerEnv(w, c)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Interrupts typed at the terminal reach the agent itself, which shares our process
	// group; we only must not die of them. The others are passed on.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return roster.Exit{}, fmt.Errorf("start %s: %w", b.Name, err)
	}
	if !b.Hooks {
		err = f.Dir.Update(ctx, func(s *roster.State) error { return s.SessionUp(w.ID, w.Epoch, "", "pane") })
	}
	lost := make(chan error, 1)
	if beside != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { lost <- beside(ctx) }()
	}
	exit := waitAgent(cmd, cmp.Or(b.Stop, syscall.SIGTERM), signals, lost)
	exit.LastLines = f.ownLastLines(ctx, w.ID)
	return exit, err
}

// waitAgent waits for the end of the agent, and ends it when we are asked to end.
func waitAgent(cmd *exec.Cmd, ask os.Signal, signals <-chan os.Signal, lost <-chan error) (exit roster.Exit) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var kill <-chan time.Time
	stop := func() {
		if !exit.Stopped {
			exit.Stopped = true
			_ = cmd.Process.Signal(ask) // it may have ended by itself just now
			kill = time.After(stopGrace)
		}
	}
	for {
		select {
		case <-done:
			exit.Code = proc.ExitStatus(cmd.ProcessState)
			return exit
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				stop()
			}
		case err := <-lost:
			if err != nil {
				stop()
			}
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

// workerEnv is our environment with the worker's identity in it, and without
// what would lead it to our terminal multiplexer or into its master's session.
func (f *Fleet) workerEnv(w *roster.Workstream, c agent.Command) []string {
	return append(
		c.Environ(os.Environ()),
		"FLEET_RUN_DIR="+f.Dir.Path, "FLEET_WS="+w.ID, "FLEET_EPOCH="+strconv.Itoa(w.Epoch), "FLEET_TREE="+ownTree(w),
		// A worker calls fleet in its shell; where it isn't installed, this one is found, last.
		"PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(f.Exe),
	)
}

// ownTree names the tree of a worker that has one of its own.
func ownTree(w *roster.Workstream) string {
	if w.Tree == roster.MainTree {
		return ""
	}
	return w.Tree
}

// ownLastLines reads what the agent left on the screen of this pane.
func (f *Fleet) ownLastLines(ctx context.Context, ws string) string {
	if os.Getenv("TMUX_PANE") == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return f.lastLines(ctx, ws)
}
