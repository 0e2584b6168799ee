// Package runner works off tasks in headless agent sessions, one session a task.
//
// It decides nothing: which task, whether it counts, what comes next and whether
// this worker is still the one to do it are answers of its Desk. So it knows of
// no file, lock or rule of the run, and can be killed at any moment.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"fleet/internal/agent"
	"fleet/internal/proc"
	"fleet/roster"
)

// Task is an assignment with the program that carries it out.
type Task struct {
	ID      string
	Attempt int
	Brain   agent.Brain // that knows how to read what the program says
	Args    []string
	Env     []string
	Dir     string
	Timeout time.Duration
	Stdin   string    // path of a file; empty is nothing
	Out     io.Writer // is given what it writes, as it is; nil is nobody
	Err     io.Writer // beside the runner's own; nil is nobody
}

// Report is how a session ended.
type Report struct {
	roster.Outcome
	Session agent.Session
	Exit    int // exit code of its program, 128 and the signal for one that was killed; -1 when it did not start
}

// Desk is where a runner gets its tasks and leaves its reports.
type Desk interface {
	// Next waits for a task and notes that it is begun. io.EOF says that there will be no more.
	Next(ctx context.Context) (Task, error)
	// Hold returns a context that ends when the task is no longer this worker's.
	Hold(ctx context.Context, t Task) (context.Context, context.CancelFunc)
	// Complete takes a report and says in a few words what became of the task.
	Complete(ctx context.Context, t Task, r Report) (verdict string, err error)
}

// Runner is one worker.
type Runner struct {
	Desk Desk
	Out  io.Writer // shows what the agent does
	Err  io.Writer // takes what it writes to stderr
}

// errTimeout is why a session is killed whose time is over.
var errTimeout = errors.New("its time is over")

// Run works off tasks until there are no more or the context ends, which kills
// the session that runs. A session whose task was taken away is killed, too, and
// what it did is reported to nobody.
func (r *Runner) Run(ctx context.Context) error {
	for {
		t, err := r.Desk.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "\n[fleet] %s, attempt %d\n", t.ID, t.Attempt)
		report, mine := r.session(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !mine {
			fmt.Fprintf(r.Out, "[fleet] %s was taken away\n", t.ID)
			continue
		}
		verdict, err := r.Desk.Complete(ctx, t, report)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "[fleet] %s %s\n", t.ID, verdict)
	}
}

// session runs a task's program to its end. mine says that the task was this worker's all the time.
func (r *Runner) session(ctx context.Context, t Task) (report Report, mine bool) {
	held, release := r.Desk.Hold(ctx, t)
	defer release()
	timed, cancel := context.WithTimeoutCause(held, t.Timeout, errTimeout)
	defer cancel()
	began := time.Now()
	s, exit, err := r.run(timed, t)
	timedOut := errors.Is(context.Cause(timed), errTimeout)
	if s.CWD != "" && s.CWD != t.Dir {
		fmt.Fprintf(r.Err, "[fleet] warning: the session of %s works in %s, not in %s\n", t.ID, s.CWD, t.Dir)
	}
	report = Report{Outcome: s.Outcome(exit, timedOut), Session: s, Exit: exit}
	if err != nil && !timedOut {
		report.Outcome = roster.Outcome{Kind: roster.ErrInfra, Reason: err.Error(), SessionID: s.ID}
	}
	if report.DurationMS == 0 {
		report.DurationMS = time.Since(began).Milliseconds()
	}
	return report, held.Err() == nil
}

func (r *Runner) run(ctx context.Context, t Task) (s agent.Session, exit int, err error) {
	group, err := proc.NewGroup()
	if err != nil {
		return s, -1, err
	}
	// With the report its files are free for others: nothing that it started may write any more,
	// and that is as true when we are killed.
	defer group.End()
	cmd := exec.CommandContext(ctx, t.Args[0], t.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = t.Dir, t.Env, both(r.Err, t.Err)
	group.Add(cmd)
	// Killing the group is not enough to end the reading: what left the group may keep the pipe.
	pr, pw := io.Pipe()
	cmd.Stdout = both(pw, t.Out)
	if t.Stdin != "" {
		in, err := os.Open(t.Stdin)
		if err != nil {
			return s, -1, err
		}
		defer func() { _ = in.Close() }()
		cmd.Stdin = in
	}
	if err := cmd.Start(); err != nil {
		return s, -1, fmt.Errorf("start %s: %w", t.Args[0], err)
	}
	read := make(chan error, 1)
	go func() {
		var readErr error
		s, readErr = t.Brain.ReadSession(pr, func(line string) { fmt.Fprintln(r.Out, line) })
		_ = pr.CloseWithError(readErr)
		read <- readErr
	}()
	_ = cmd.Wait() // how it ended stands in its state
	_ = pw.Close()
	err = <-read
	return s, proc.ExitStatus(cmd.ProcessState), err
}

// both writes to a second writer, too, if there is one.
func both(w, second io.Writer) io.Writer {
	if second == nil {
		return w
	}
	return io.MultiWriter(w, second)
}
