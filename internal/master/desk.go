package master

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"fleet/internal/agent"
	"fleet/internal/runner"
	"fleet/roster"
	"fleet/roster/rundir"
)

// runTasks is a headless worker: it works off the tasks that the scheduler gives
// it. w follows the row through its incarnations.
func (f *Fleet) runTasks(ctx context.Context, b agent.Brain, w *roster.Workstream, o PaneOptions) (roster.Exit, error) {
	log, err := os.OpenFile(f.Dir.Log(w.ID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return roster.Exit{}, err
	}
	defer func() { _ = log.Close() }()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // its pane was closed
	defer stop()
	d := &desk{f: f, brain: b, w: w, o: o}
	if err := d.checkIn(ctx); err != nil {
		return roster.Exit{}, err
	}
	r := runner.Runner{Desk: d, Out: os.Stdout, Err: io.MultiWriter(os.Stderr, log)}
	err = r.Run(ctx)
	if errors.Is(err, context.Canceled) {
		return roster.Exit{Code: 143, Stopped: true}, nil
	}
	return roster.Exit{}, err
}

// desk serves a runner from the run dir. It holds no rule either: it asks and reports.
type desk struct {
	f     *Fleet
	brain agent.Brain
	w     *roster.Workstream // the row as this worker last was it
	o     PaneOptions
	lane  *errand // the packet that is the task in hand, of a lane
	after int64   // the last event before the session that runs
}

// checkIn tells that the worker is there and takes tasks.
func (d *desk) checkIn(ctx context.Context) error {
	return d.f.Dir.Update(ctx, func(s *roster.State) error { return s.SessionUp(d.w.ID, d.w.Epoch, "", "pane") })
}

// again makes this worker a new incarnation, after the last one was fenced. Nobody
// else can be it, since the liveness lock is ours.
func (d *desk) again(ctx context.Context) error {
	return d.f.Dir.Update(ctx, func(s *roster.State) (err error) {
		if w, err := s.Workstream(d.w.ID); err == nil && w.HandedOver() {
			return io.EOF // to somebody who is on the way
		}
		d.w.Epoch, err = s.Launch(d.w.ID, roster.Launch{Brain: d.w.Brain, Mode: d.w.Mode, Tree: d.w.Tree})
		if err != nil {
			return err
		}
		return s.SessionUp(d.w.ID, d.w.Epoch, "", "pane")
	})
}

// Next waits for an assignment and begins it.
func (d *desk) Next(ctx context.Context) (t runner.Task, err error) {
	err = d.f.lookout(ctx, shortRest, func(due bool) (time.Time, error) {
		a, err := d.f.assigned(ctx, d.w.ID, d.w.Epoch, due)
		switch {
		case roster.IsStale(err):
			err = d.again(ctx)
			a.due = time.Now()
		case err == nil && a.ID != "":
			if d.lane, err = d.errand(a.ID); err == nil {
				err = d.persist(ctx, func(s *roster.State) error {
					return s.StartTask(d.w.ID, d.w.Epoch, a.ID, a.Attempt, d.limits().Timeout)
				})
			}
			if err == nil {
				if t, err = d.task(ctx, a.given); err == nil {
					err = errSeen
				}
			}
		case err == nil && !d.o.Serve:
			err = d.nothingLeft(ctx)
		}
		if passing(err) {
			return time.Now().Add(time.Second), nil
		}
		return a.due, err
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return t, err
}

// passing reports whether an error will go by itself: somebody was quicker, or the lock is busy.
func passing(err error) bool {
	return roster.IsStale(err) || errors.Is(err, rundir.ErrBusy) || roster.KindOf(err) == roster.Refused
}

// nothingLeft is io.EOF when no task of the workstream's own is left to do.
func (d *desk) nothingLeft(ctx context.Context) error {
	left := false
	err := d.f.Dir.View(ctx, func(s *roster.State) error {
		left = slices.ContainsFunc(s.Tasks, func(t roster.Task) bool { return t.Workstream == d.w.ID && t.Open() })
		return nil
	})
	if err == nil && !left {
		return io.EOF
	}
	return err
}

// limits bound the session of the task in hand.
func (d *desk) limits() agent.Limits {
	if d.lane != nil {
		return d.lane.limits()
	}
	return d.o.Limits
}

// task is the program of an assignment.
func (d *desk) task(ctx context.Context, g given) (t runner.Task, err error) {
	if d.after, err = d.f.Dir.LastEvent(); err != nil {
		return t, err
	}
	o := d.o
	o.Limits = d.limits()
	j := d.f.job(d.w, o)
	j.Prompt, j.Script, j.Attempt = d.f.Dir.Prompt(g.ID), d.f.Dir.Script(g.ID), g.Attempt
	if d.lane != nil {
		d.lane.job(d, &j)
	}
	c, err := d.brain.Command(ctx, d.f.Exe, j)
	if err != nil {
		return t, err
	}
	t = runner.Task{
		ID: g.ID, Attempt: g.Attempt, Brain: d.brain, Args: c.Args, Env: d.f.workerEnv(d.w, c), Dir: d.f.Dir.Tree(d.w), Stdin: c.Stdin, Timeout: o.Timeout,
	}
	if d.lane != nil {
		d.lane.keep(d, &t)
	}
	return t, nil
}

// Hold watches over an assignment.
func (d *desk) Hold(ctx context.Context, _ runner.Task) (context.Context, context.CancelFunc) {
	held, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_ = d.f.lookout(held, longRest, func(bool) (time.Time, error) {
			err := d.f.Dir.View(held, func(s *roster.State) error { return s.Fence(d.w.ID, d.w.Epoch) })
			if roster.IsStale(err) {
				return time.Time{}, err
			}
			return time.Time{}, nil // what can't be read now changes again
		})
	}()
	return held, cancel
}

// report is the file that is kept of an attempt.
type report struct {
	Task         string           `json:"task_id"`
	Attempt      int              `json:"attempt"`
	WS           string           `json:"ws_id"`
	Epoch        int              `json:"epoch"`
	OK           bool             `json:"ok"`
	ErrorKind    roster.ErrorKind `json:"error_kind,omitempty"`
	Reason       string           `json:"reason,omitempty"`
	Summary      string           `json:"summary"`
	FilesWritten []string         `json:"files_written"`
	InputTokens  int64            `json:"input_tokens"`
	OutputTokens int64            `json:"output_tokens"`
	CostUSD      float64          `json:"cost_usd"`
	DurationMS   int64            `json:"duration_ms"`
	SessionID    string           `json:"session_id"`
	ExitCode     int              `json:"exit_code"`
	Init         json.RawMessage  `json:"init,omitempty"`
}

// Complete keeps the report and tells the run. That the session's own hooks have
// reported is the proof that its writes were checked; without it, it doesn't count.
func (d *desk) Complete(ctx context.Context, t runner.Task, r runner.Report) (verdict string, err error) {
	o := r.Outcome
	err = d.persist(ctx, func(s *roster.State) error {
		row, err := s.Workstream(d.w.ID)
		if err != nil {
			return err
		}
		if d.brain.Hooks && o.Kind != roster.ErrInfra && o.Kind != roster.ErrTimeout && row.SessionID != o.SessionID {
			o = roster.Outcome{Kind: roster.ErrInfra, Reason: "its hooks have not reported: nothing checked its writes", SessionID: o.SessionID}
		}
		o = s.Judge(d.w.ID, t.ID, o)
		return nil
	})
	if err == nil && d.lane != nil {
		o, err = d.lane.judge(ctx, d, o)
	}
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(report{
		Task: t.ID, Attempt: t.Attempt, WS: d.w.ID, Epoch: d.w.Epoch, OK: o.OK, ErrorKind: o.Kind, Reason: o.Reason, Summary: o.Summary,
		FilesWritten: d.written(), InputTokens: o.InputTokens, OutputTokens: o.OutputTokens, CostUSD: o.CostUSD,
		DurationMS: o.DurationMS, SessionID: o.SessionID, ExitCode: r.Exit, Init: r.Session.Init,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	if err := d.f.Dir.Write(d.f.Dir.Result(t.ID, t.Attempt), append(text, '\n')); err != nil {
		fmt.Fprintf(os.Stderr, "[fleet] the report of %s could not be kept: %v\n", t.ID, err)
	}
	err = d.persist(ctx, func(s *roster.State) error {
		verdict = "came too late: it has been taken away"
		applied, err := s.Complete(d.w.ID, d.w.Epoch, t.ID, t.Attempt, o)
		if applied {
			row := s.Task(t.ID)
			verdict = strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", row.Status, row.ErrorKind, o.Reason)), " ")
		}
		return err
	})
	if roster.IsStale(err) {
		err = nil // the next assignment begins with a new incarnation
	}
	if err == nil && d.lane != nil {
		err = d.lane.settle(ctx, d, r.Session.Tools, o)
	}
	return verdict, err
}

// written are the files that the session wrote.
func (d *desk) written() []string {
	files := []string{}
	for e, err := range d.f.Dir.Events(d.after) {
		if err != nil {
			break
		}
		if path, _ := e.Data["path"].(string); e.Type == roster.FileChanged && e.WS == d.w.ID && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files
}

// retries are the waits between tries to write to a run dir that is busy or full. After the last the worker gives up, loudly.
var retries = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// persist applies a transition, however long the run dir can't take it, within reason.
func (d *desk) persist(ctx context.Context, fn func(*roster.State) error) error {
	return d.patiently(ctx, func() error { return d.f.Dir.Update(ctx, fn) })
}

// patiently tries again what the run dir doesn't take.
func (d *desk) patiently(ctx context.Context, write func() error) error {
	for try := 0; ; try++ {
		err := write()
		if err == nil || roster.IsStale(err) || roster.KindOf(err) != 0 || ctx.Err() != nil || try == len(retries) {
			return err
		}
		fmt.Fprintf(os.Stderr, "[fleet] %v; trying again in %s\n", err, retries[try])
		if err := sleep(ctx, retries[try]); err != nil {
			return err
		}
	}
}
