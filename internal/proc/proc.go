// Package proc is the one place that runs other programs and waits for their
// answer: an argument vector, never a shell line, always under a deadline.
//
// Packages that need a program take a Runner as a field, so that a test can
// hand in a recording one.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DefaultTimeout bounds a command whose context has no deadline of its own.
const DefaultTimeout = 30 * time.Second

// Cmd describes one program to run.
type Cmd struct {
	Args  []string // program and arguments; Args[0] is looked up in PATH
	Dir   string   // working directory; empty means the caller's
	Env   []string // whole environment as KEY=VALUE; nil means the caller's
	Stdin []byte   // fed to the program; nil means no input

	As   *syscall.Credential // whom it runs as; nil means the caller
	Keep *os.File            // stays open in the program and in all that it leaves running; may be nil
}

// Runner runs a command to its end and returns what it wrote to stdout.
// The error is an *Error when the program could not be started or failed.
type Runner func(ctx context.Context, c Cmd) (stdout []byte, err error)

// Error tells which program failed and what it said.
type Error struct {
	Args   []string
	Code   int    // exit code; -1 when the program did not start, was killed or ran out of time
	Stderr string // trimmed
	Err    error
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("%s: %v", e.command(), e.Err)
	if e.Stderr != "" {
		msg += ": " + firstLine(e.Stderr)
	}
	return msg
}

// command names what was run by its first words, without the options between a program and its command.
func (e *Error) command() string {
	rest := e.Args[min(len(e.Args), 1):]
	for len(rest) > 1 && strings.HasPrefix(rest[0], "-") {
		if takesValue := slices.Contains([]string{"-c", "-L", "-S", "-f", "--git-dir"}, rest[0]); takesValue {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	return strings.Join(slices.Concat(e.Args[:min(len(e.Args), 1)], rest[:min(len(rest), 2)]), " ")
}

func (e *Error) Unwrap() error { return e.Err }

// Missing reports whether err says that the program is not installed.
func Missing(err error) bool { return errors.Is(err, exec.ErrNotFound) }

// steady marks a context.
type steady struct{}

// Steady is a context for what has to be finished once it is begun. It doesn't end
// with ctx, and what Run starts under it has no terminal, so that an interrupt typed
// there doesn't reach it: git, and whatever else shares our process group, dies of one.
func Steady(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), steady{}, true)
}

// Run is the Runner of the product.
func Run(ctx context.Context, c Cmd) ([]byte, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultTimeout)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.As, Setsid: ctx.Value(steady{}) != nil}
	if c.Keep != nil {
		cmd.ExtraFiles = []*os.File{c.Keep}
	}
	// A grandchild that inherited the pipes must not keep us waiting for ever.
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if cause := ctx.Err(); cause != nil {
		err = cause
	} else if interrupted(err) {
		err = context.Canceled // we have been, too, and only don't know yet
	}
	return stdout.Bytes(), &Error{
		Args:   c.Args,
		Code:   exitCode(err),
		Stderr: strings.TrimSpace(stderr.String()),
		Err:    err,
	}
}

// interrupted reports whether a program died of an interrupt.
func interrupted(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGINT
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// firstLine is the first line of a text, with the one that it announces by a colon.
func firstLine(s string) string {
	line, rest, _ := strings.Cut(s, "\n")
	if next := strings.TrimSpace(rest); strings.HasSuffix(line, ":") && next != "" {
		line += " " + firstLine(next)
	}
	return line
}
