package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fleet/internal/proc"
	"fleet/roster/rundir"
)

const fleetName = "fleet"

// world is a repository with a run of scripted workers, and nothing in it is the user's.
type world struct {
	t    *testing.T
	home string // also the mark by which every process of this world is known
	repo string
	exe  string // the fleet program
	dir  *rundir.Dir
}

// newWorld makes a world, and install a fleet program in it.
func newWorld(t *testing.T, install func(exe string) error) *world {
	t.Helper()
	for _, program := range []string{"tmux", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("this test needs %s: %v", program, err)
		}
	}
	home, err := os.MkdirTemp("/tmp", "fc") //nolint:usetesting // short: a tmux socket's path is limited
	check(t, err)
	w := &world{t: t, home: home, repo: filepath.Join(home, "repo"), exe: filepath.Join(home, "bin", fleetName)}
	t.Cleanup(w.end)
	for _, dir := range []string{w.repo, filepath.Dir(w.exe)} {
		check(t, os.MkdirAll(dir, 0o755))
	}
	check(t, install(w.exe))
	w.write("README.md", "start\n")
	w.must("git", "init", "-q")
	w.must("git", "add", ".")
	w.must("git", "-c", "user.name=chaos", "-c", "user.email=chaos@localhost", "commit", "-qm", "start")
	w.must(w.exe, "init", "x", "--brain", "scripted")
	w.dir, err = rundir.Open(filepath.Join(w.repo, "planning/fleet-x"))
	check(t, err)
	return w
}

// product builds fleet as it is shipped: hooks are what a run spends its time with, and a test binary starts slowly.
func product(exe string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	_, err := proc.Run(ctx, proc.Cmd{Args: []string{"go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "fleet/cmd/fleet"}})
	return err
}

// double gives this test binary the name by which it is fleet, see TestMain.
func double(exe string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if os.Link(self, exe) == nil {
		return nil
	}
	from, err := os.Open(self) // it is on another file system
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(exe, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.home, "TMUX_TMPDIR=" + w.home, "SHELL=/bin/sh",
		"LANG=C.UTF-8", "TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1",
		"GORACE=atexit_sleep_ms=0", // else each hook of a binary with the race detector takes a second more
	}
}

// start begins a program in the repository. What it says goes to out.
func (w *world) start(out io.Writer, name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.repo, w.env(), out, out
	cmd.WaitDelay = time.Second
	return cmd, cmd.Start()
}

func (w *world) must(name string, args ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := proc.Run(ctx, proc.Cmd{Args: append([]string{name}, args...), Dir: w.repo, Env: w.env()})
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.repo, name)
	check(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(w.t, os.WriteFile(path, []byte(text), 0o644))
}

// servers are the tmux servers of this world that answer, each with its panes.
func (w *world) servers() map[string]string {
	found := make(map[string]string)
	sockets, err := filepath.Glob(filepath.Join(w.home, "tmux-*", "*"))
	check(w.t, err)
	for _, s := range sockets {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		out, err := proc.Run(ctx, proc.Cmd{
			Args: []string{"tmux", "-S", s, "list-panes", "-a", "-F", "#{pane_id} #{@fleet_ws} dead=#{pane_dead} #{pane_start_command}"}, Env: w.env(),
		})
		cancel()
		if err == nil {
			found[s] = string(out)
		}
	}
	return found
}

// end removes the world with everything that runs in it. When the test has gone well there is nothing.
func (w *world) end() {
	for socket := range w.servers() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, _ = proc.Run(ctx, proc.Cmd{Args: []string{"tmux", "-S", socket, "kill-server"}, Env: w.env()})
		cancel()
	}
	w.endAll(w.mine(func(process) bool { return true }))
	if w.t.Failed() && os.Getenv("CHAOS_KEEP") != "" {
		w.t.Logf("kept: %s", w.home)
		return
	}
	deadline := time.Now().Add(10 * time.Second)
	for err := os.RemoveAll(w.home); err != nil; err = os.RemoveAll(w.home) { // what was killed may write for a moment
		if time.Now().After(deadline) {
			w.t.Error(err)
			return
		}
	}
}

// plight says how the run stands, for the log of a test that failed.
func (w *world) plight() string {
	var b bytes.Buffer
	for _, args := range [][]string{{"status"}, {"tasks"}, {"leases"}, {"events"}} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		out, err := proc.Run(ctx, proc.Cmd{Args: append([]string{w.exe}, args...), Dir: w.repo, Env: w.env()})
		cancel()
		if lines := bytes.SplitAfter(out, []byte("\n")); len(lines) > 150 {
			out = bytes.Join(lines[len(lines)-150:], nil)
		}
		fmt.Fprintf(&b, "--- fleet %s: %v\n%s\n", strings.Join(args, " "), err, out)
	}
	for _, p := range w.mine(func(process) bool { return true }) {
		fmt.Fprintf(&b, "%d %s\n", p.pid, strings.Join(p.args, " "))
	}
	return b.String()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
