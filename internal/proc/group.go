package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// leash is the first process of a group: it waits for the end of whoever made the
// group, sees it by the end of its input, and then kills the group, itself included.
const leash = "read _; kill -KILL 0"

// Group is a process group that doesn't outlive this process, however that ends.
// What leaves the group, as a daemon does, is beyond its reach.
type Group struct {
	leash *exec.Cmd
	hold  *os.File // its other end is the input of the leash
}

// NewGroup makes a group without a program.
func NewGroup() (*Group, error) {
	input, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = input.Close() }()
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", leash)
	cmd.Stdin = input
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = hold.Close()
		return nil, fmt.Errorf("start the leash of a process group: %w", err)
	}
	return &Group{cmd, hold}, nil
}

// Add lets a command that has yet to be started run in the group, all of which is killed when its context ends.
func (g *Group) Add(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.leash.Process.Pid}
	cmd.Cancel = g.kill
	cmd.WaitDelay = time.Second // what left the group may keep the pipes
}

// The id of the group can't be another's: the leash is not reaped before End.
func (g *Group) kill() error { return syscall.Kill(-g.leash.Process.Pid, syscall.SIGKILL) }

// End kills what is left of the group.
func (g *Group) End() {
	_ = g.kill() // of the leash alone, most of the time
	_ = g.hold.Close()
	_ = g.leash.Wait() // it was killed
}
