// Package demo shows the main job on a throw-away repository: five tasks, one
// after another where they must be and at once where they can, on three workers;
// a write that is denied while another worker holds the file, and goes through
// when it is tried again; and at the end the repository's own tests pass.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fleet/internal/agent"
	"fleet/internal/master"
	"fleet/internal/proc"
	"fleet/internal/progress"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// files are what the demo's repository starts with, and what its scripted workers
// write. The endings keep the Go files from being taken for ours.
//
//go:embed repo work
var files embed.FS

// Options say how the demo runs.
type Options struct {
	Brain string // scripted needs no key and no network
	Exe   string // the fleet program, absolute
	Keep  bool   // leave the repository and the run dir behind
	Color progress.Painter
	Out   io.Writer
	Limit time.Duration // of the whole
}

// runners is how many workers the graph is given.
const runners = 3

// demo is one run of it.
type demo struct {
	Options
	fleet *master.Fleet
	repo  string
	signs string // where a scripted worker waits for a file, outside the repository
	parts []part
	began time.Time
}

// Run shows the demo. It reports whether the veto happened, every task succeeded and the repository's tests pass.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	for _, program := range []string{"git", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			return false, &agent.MissingError{Program: program, For: "the demo"}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	home, err := os.MkdirTemp("/tmp", "fleet-demo-") // short, for the path of a socket is limited
	if err != nil {
		return false, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return false, err
	}
	d := &demo{Options: o, repo: filepath.Join(home, "shelf"), signs: filepath.Join(home, "signs")}
	d.parts = parts(d.signs)
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
	if err := d.drain(ctx); err != nil {
		return false, err
	}
	return d.summary(ctx)
}

// build makes the repository, the run and its graph.
func (d *demo) build(ctx context.Context) error {
	if err := os.MkdirAll(d.signs, 0o755); err != nil {
		return err
	}
	if err := d.copyRepository(); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=fleet demo", "-c", "user.email=demo@localhost", "commit", "--quiet", "--message", "Start the shelf"},
	} {
		if _, err := proc.Run(ctx, proc.Cmd{Args: append([]string{"git"}, args...), Dir: d.repo}); err != nil {
			return err
		}
	}
	config := rundir.ConfigText(map[string]string{"FLEET_BRAIN": d.Brain, "FLEET_TRUST": "on"})
	run, err := rundir.Create(d.repo, "demo", planningtemplate.Files, config)
	if err != nil {
		return err
	}
	d.fleet = &master.Fleet{Dir: run, Exe: d.Exe, Run: proc.Run}
	batch := make([]roster.NewTask, len(d.parts))
	for i, p := range d.parts {
		batch[i] = p.NewTask
		if err := run.Write(run.Script(p.ID), p.script()); err != nil {
			return err
		}
	}
	if _, err := run.AddTasks(ctx, batch); err != nil {
		return err
	}
	d.say("repository  %s", d.repo)
	d.say("look inside TMUX_TMPDIR=%s %s attach --run-dir %s\n", os.Getenv("TMUX_TMPDIR"), proc.Quote(d.Exe), run.Path)
	return nil
}

func (d *demo) copyRepository() error {
	return fs.WalkDir(files, "repo", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(d.repo, strings.TrimSuffix(strings.TrimPrefix(path, "repo"), ".txt"))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// drain runs the graph to its end and tells what happens.
func (d *demo) drain(ctx context.Context) error {
	d.began = time.Now()
	told := progress.Tell(ctx, d.fleet.Dir, 0, d.tell)
	err := d.fleet.Drain(ctx, master.DrainOptions{
		Runners: runners, Brain: d.Brain, Limits: agent.Limits{Sealed: true}, Said: func(line string) { d.say("%5.1fs  %s", time.Since(d.began).Seconds(), line) },
	})
	err = errors.Join(err, told())
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the demo was not over after %s", d.Limit)
	}
	return err
}

// tell prints an event, and gives the scripted workers their signs.
func (d *demo) tell(e roster.Event) error {
	if line := d.Color.Line(e); line != "" {
		d.say("%5.1fs  %s", e.At.Sub(d.began).Seconds(), line)
	}
	sign := map[roster.EventType]string{roster.LeaseAcquired: isHeld, roster.LeaseDenied: isDenied}[e.Type]
	if sign == "" || e.Data["path"] != contested {
		return nil
	}
	return os.WriteFile(filepath.Join(d.signs, sign), nil, 0o644)
}
