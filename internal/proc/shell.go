package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// tailSize is how much of a check's output is kept, its end: that is where the failure stands.
const tailSize = 8 << 10

// Shell runs a command line of the user's own through sh and returns the end of
// what it wrote. When the time is over, everything that it started is killed. The
// error says in a few words how it failed.
func Shell(ctx context.Context, dir, line string, timeout time.Duration) (output string, err error) {
	var out tail
	err = ShellTo(ctx, dir, line, timeout, &out)
	return strings.ToValidUTF8(strings.TrimSpace(string(out)), "?"), err
}

// ShellTo is Shell for who wants all that the command line writes. What it
// started doesn't outlive us either.
func ShellTo(ctx context.Context, dir, line string, timeout time.Duration, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	group, err := NewGroup()
	if err != nil {
		return err
	}
	defer group.End()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	group.Add(cmd)
	err = cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no end after %s", timeout)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well, and left something running
	}
	return err
}

// Quote makes one line for sh out of an argument vector.
func Quote(argv ...string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// OwnGroup lets a command begin a process group of its own, all of which is
// killed when its context ends.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // what it left in the background may keep the pipes
}

// tail keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - tailSize; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// ExitStatus is an exit code as a shell gives it: 128 and the signal for a process that was killed.
func ExitStatus(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
