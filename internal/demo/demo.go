// Package demo shows the main job on a throw-away repository: three workers, one
// file that two of them need, a write that is denied while the other holds the
// file and goes through afterwards, and nothing lost.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fleet/internal/agent"
	"fleet/internal/master"
	"fleet/internal/proc"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// Options say how the demo runs.
type Options struct {
	Brain string // scripted needs no key and no network
	Exe   string // the fleet program, absolute
	Keep  bool   // leave the repository and the run dir behind
	Color bool
	Out   io.Writer
}

// limits of a whole demo; a model takes its time.
const (
	scriptedLimit = time.Minute
	modelLimit    = 10 * time.Minute
)

// demo is one run of it.
type demo struct {
	Options
	fleet *master.Fleet
	repo  string
	signs string // where a scripted worker waits for a file, outside the repository
	began time.Time
	told  bool // the vetoed worker was called again
}

// Run shows the demo. It reports whether the veto happened and nothing was lost.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	limit := scriptedLimit
	if o.Brain != "scripted" {
		limit = modelLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	home, err := os.MkdirTemp("/tmp", "fleet-demo-") // short, for the path of a socket is limited
	if err != nil {
		return false, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return false, err
	}
	d := &demo{Options: o, repo: filepath.Join(home, "shop"), signs: filepath.Join(home, "signs")}
	// The tmux server's socket goes with the rest, since tmux leaves it behind.
	if err := os.Setenv("TMUX_TMPDIR", home); err != nil {
		return false, err
	}
	if !o.Keep {
		defer func() { _ = os.RemoveAll(home) }()
	}
	if err := d.build(ctx); err != nil {
		return false, err
	}
	defer func() {
		stopErr := d.fleet.StopAll(context.WithoutCancel(ctx), func(string) {})
		err = errors.Join(err, stopErr)
	}()
	if err := d.start(ctx); err != nil {
		return false, err
	}
	if err := d.follow(ctx); err != nil {
		return false, err
	}
	return d.summary()
}

// build makes the repository and the run.
func (d *demo) build(ctx context.Context) error {
	for _, dir := range []string{d.repo, d.signs} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for name, text := range repository {
		path := filepath.Join(d.repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=fleet demo", "-c", "user.email=demo@localhost", "commit", "--quiet", "--message", "Start the shop"},
	} {
		if _, err := proc.Run(ctx, proc.Cmd{Args: append([]string{"git"}, args...), Dir: d.repo}); err != nil {
			if proc.Missing(err) {
				return &agent.MissingError{Program: "git", For: "the demo"}
			}
			return err
		}
	}
	config := rundir.ConfigText(map[string]string{"FLEET_BRAIN": d.Brain, "FLEET_TRUST": "on"})
	run, err := rundir.Create(d.repo, "demo", planningtemplate.Files, config)
	if err != nil {
		return err
	}
	d.fleet = &master.Fleet{Dir: run, Exe: d.Exe, Run: proc.Run}
	d.say("repository  %s", d.repo)
	return nil
}

// start registers the workstreams and spawns their workers.
func (d *demo) start(ctx context.Context) error {
	for _, p := range parts {
		n := roster.NewWorkstream{ID: p.ws, Text: p.task, Name: p.name, Claims: p.claims, Brain: d.Brain}
		if err := d.fleet.Dir.Update(ctx, func(s *roster.State) error { return s.Add(n) }); err != nil {
			return err
		}
		row, err := d.fleet.Dir.Workstream(ctx, p.ws)
		if err != nil {
			return err
		}
		if _, err := d.fleet.Dir.WriteBrief(&row, p.task); err != nil {
			return err
		}
		if err := d.fleet.Dir.Write(d.fleet.Dir.Script(p.ws), d.script(p)); err != nil {
			return err
		}
	}
	d.say("look inside TMUX_TMPDIR=%s %s attach --run-dir %s\n", os.Getenv("TMUX_TMPDIR"), d.Exe, d.fleet.Dir.Path)
	d.began = time.Now()
	for _, p := range parts {
		if _, err := d.fleet.Spawn(ctx, p.ws, master.SpawnOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

var errOver = errors.New("over")

// follow prints what happens and plays the master: when the file is free again,
// it calls the worker that was denied. It ends when all work is done.
func (d *demo) follow(ctx context.Context) error {
	err := d.fleet.Dir.Follow(ctx, 0, func(e roster.Event) error {
		if line := d.line(e); line != "" {
			d.say("%5.1fs  %s", e.At.Sub(d.began).Seconds(), line)
		}
		if e.Type == roster.WorkerExited {
			return fmt.Errorf("the worker of %s ended: %v %v", e.WS, e.Data["reason"], e.Data["last_lines"])
		}
		return d.react(ctx, e)
	})
	if errors.Is(err, errOver) {
		return nil
	}
	if err == nil && ctx.Err() != nil {
		return fmt.Errorf("the demo was not over in time (%w)", ctx.Err())
	}
	return err
}

func (d *demo) react(ctx context.Context, e roster.Event) error {
	if e.Type != roster.StatusChanged {
		return nil
	}
	all := make(map[string]roster.Status)
	err := d.fleet.Dir.View(ctx, func(s *roster.State) error {
		for _, w := range s.Workstreams {
			all[w.ID] = w.Status
		}
		if s.AllDone() {
			return errOver
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case all[waiter] == roster.Blocked && all[holder] == roster.Working:
		return os.WriteFile(filepath.Join(d.signs, "denied"), nil, 0o644) // the holder goes on
	case all[waiter] == roster.Blocked && all[holder] == roster.Done && !d.told:
		d.told = true
		_, err := d.fleet.Send(ctx, waiter, contested+" is free now: go on with your task")
		return err
	}
	return nil
}
