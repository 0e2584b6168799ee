package tmux

import (
	"errors"
	"fmt"
	"strings"

	"fleet/internal/proc"
)

var (
	// ErrNoAnswer says that nothing is known: tmux is missing, ran out of time,
	// or could not be reached. It never means that a pane is gone, and what was
	// asked for may have happened all the same.
	ErrNoAnswer = errors.New("tmux did not answer")

	// ErrNoPane says that tmux answered and has no such pane.
	ErrNoPane = errors.New("no such pane")

	// ErrDead says that the pane is there but its program has ended.
	ErrDead = errors.New("the program in the pane has ended")

	errNoServer = fmt.Errorf("no tmux server is running: %w", ErrNoPane)
	errDropped  = fmt.Errorf("the tmux server went away: %w", ErrNoAnswer)
	errNoSpace  = errors.New("no space for another pane")
)

// ForeignSessionError says that a session has the wanted name but was not made
// for the run that asks.
type ForeignSessionError struct {
	Session string
	Owner   string // the run it belongs to; empty when no run made it
}

func (e *ForeignSessionError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("tmux session %s was not made by fleet", e.Session)
	}
	return fmt.Sprintf("tmux session %s belongs to run %s", e.Session, e.Owner)
}

// classify reads what tmux wrote to stderr: its exit code is 1 for every kind
// of failure. The texts are tmux's own and are not translated.
func classify(err error) error {
	failed, ok := errors.AsType[*proc.Error](err)
	if !ok || failed.Code < 0 {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	says := func(text string) bool { return strings.Contains(failed.Stderr, text) }
	switch {
	case says("no server running on"),
		says("no current target"), // a server without sessions, about to end
		says("error connecting to") && says("(No such file or directory)"):
		return fmt.Errorf("%w: %w", errNoServer, err)
	case says("error connecting to"):
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	case says("server exited"), says("lost server"):
		return fmt.Errorf("%w: %w", errDropped, err)
	case says("can't find pane"), says("no such pane"):
		return fmt.Errorf("%w: %w", ErrNoPane, err)
	case says("no space for"):
		return fmt.Errorf("%w: %w", errNoSpace, err)
	}
	return err
}
