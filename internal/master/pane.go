package master

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fleet/internal/agent"
	"fleet/roster"
)

// stopGrace is how long an agent has to end after it was asked to.
const stopGrace = 5 * time.Second

// RunPane is the program of a worker's pane: it runs the agent with the terminal
// attached, for as long as that lives, and records its end. It holds the liveness
// lock meanwhile, so that whatever kills it tells the others.
// The code is the agent's exit code.
func (f *Fleet) RunPane(ctx context.Context, ws string, epoch int, trust bool) (code int, err error) {
	release, err := f.Dir.HoldLife(ws)
	if err != nil {
		return 0, err
	}
	defer release()
	ctx = context.WithoutCancel(ctx) // an interrupt is for the agent; what ends us is passed on below
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return 0, err
	}
	if w.Epoch != epoch {
		return 0, &roster.StaleEpochError{WS: ws, Epoch: epoch, Now: w.Epoch}
	}
	brain, err := agent.Find(w.Brain)
	if err != nil {
		return 0, err
	}
	exit, err := f.runAgent(ctx, brain, &w, agent.Job{
		Name: f.Dir.Slug() + "-" + w.Name, Prompt: f.firstPrompt(ws), Trust: trust,
		Script: f.Dir.Script(ws),
	})
	if err != nil {
		exit = roster.Exit{Code: -1, LastLines: err.Error()}
	}
	recordErr := f.Dir.Update(ctx, func(s *roster.State) error { return s.WorkerExited(ws, epoch, exit) })
	if roster.IsStale(recordErr) {
		recordErr = nil // somebody was quicker to declare it dead
	}
	return exit.Code, errors.Join(err, recordErr)
}

// runAgent starts the agent and waits for its end.
func (f *Fleet) runAgent(ctx context.Context, b agent.Brain, w *roster.Workstream, j agent.Job) (roster.Exit, error) {
	j.Mode, j.Settings = w.Mode, f.Dir.HookSettings(w.ID)
	c := b.Command(f.Exe, j)
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = f.Dir.Tree(w)
	cmd.Env = f.workerEnv(os.Environ(), w, c)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	stderr, closeLog, err := f.stderrLog(w)
	if err != nil {
		return roster.Exit{}, err
	}
	defer closeLog()
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second // what the agent left in the background may keep its stderr
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
	exit := waitAgent(cmd, signals)
	exit.LastLines = f.ownLastLines(ctx, w.ID)
	return exit, err
}

// waitAgent waits for the end of the agent, and ends it when we are asked to end.
func waitAgent(cmd *exec.Cmd, signals <-chan os.Signal) (exit roster.Exit) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var kill <-chan time.Time
	stop := func() {
		if !exit.Stopped {
			exit.Stopped = true
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself just now
			kill = time.After(stopGrace)
		}
	}
	for {
		select {
		case <-done:
			exit.Code = exitCode(cmd.ProcessState)
			return exit
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				stop()
			}
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

// exitCode is the code as a shell gives it: 128 and the signal for one that was killed.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// workerEnv is our environment with the worker's identity in it, and without
// what would lead it to our terminal multiplexer or into its master's session.
func (f *Fleet) workerEnv(env []string, w *roster.Workstream, c agent.Command) []string {
	set := append([]string{
		"FLEET_RUN_DIR=" + f.Dir.Path, "FLEET_WS=" + w.ID, "FLEET_EPOCH=" + strconv.Itoa(w.Epoch),
		// A worker calls fleet in its shell; where it isn't installed, this one is found, last.
		"PATH=" + os.Getenv("PATH") + string(os.PathListSeparator) + filepath.Dir(f.Exe),
	}, c.Set...)
	drop := slices.Clone(c.Unset)
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		drop = append(drop, name)
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, name)
	})
	return append(kept, set...)
}

// firstPrompt is the one thin line with which a worker starts.
func (f *Fleet) firstPrompt(ws string) string {
	return fmt.Sprintf("read %s and start; coordinate only through fleet", f.Dir.Brief(ws))
}

// stderrLog gives a headless agent a log for its errors; an interactive one has the terminal.
func (f *Fleet) stderrLog(w *roster.Workstream) (out io.Writer, done func(), err error) {
	if w.Mode != roster.Headless {
		return os.Stderr, func() {}, nil
	}
	log, err := os.OpenFile(f.Dir.Log(w.ID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	return io.MultiWriter(os.Stderr, log), func() { _ = log.Close() }, nil
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
