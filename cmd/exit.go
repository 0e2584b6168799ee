package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fleet/hooks"
	"fleet/internal/agent"
	"fleet/internal/git"
	"fleet/internal/master"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// Exit codes. Hooks are apart: they exit 0, or 2 to block.
const (
	exitOK       = 0
	exitFailed   = 1  // done, but not with the result that was wanted
	exitCached   = 3  // nothing new: the result is there already, or there is none
	exitMissing  = 5  // a needed program is missing
	exitNoAnswer = 7  // something could not be reached
	exitGate     = 10 // a worker or a check failed
	exitEscape   = 12 // a worker wrote into the main checkout
	exitUsage    = 64
	exitData     = 65
	exitRefused  = 66
	exitInternal = 71
	exitBusy     = 75
)

// codedError is an error that has chosen its exit code.
type codedError struct {
	code int
	msg  string // empty: everything has been said
	hint string
}

func (e *codedError) Error() string { return e.msg }

// report prints an error as one line and a hint, and returns its exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	code, hint := classify(err)
	if msg := strings.TrimSpace(err.Error()); msg != "" {
		msg = strings.ReplaceAll(msg, context.Canceled.Error(), "interrupted")
		parts := slices.Compact(strings.Split(msg, "\n")) // what keeps one worker from us keeps all of them
		a.talk("fleet: %s", strings.Join(parts, "; "))
	}
	if hint != "" {
		a.talk("  %s", hint)
	}
	return code
}

// classify is the one table from errors to exit codes.
func classify(err error) (code int, hint string) {
	var coded *codedError
	var rule *roster.Error
	var stale *roster.StaleEpochError
	var missing *agent.MissingError
	var foreign *tmux.ForeignSessionError
	var noKey *agent.NoKeyError
	var dying *master.DyingError
	var gate *master.GateError
	var unowned *master.UnownedError
	var rejected *lane.RejectedError
	switch {
	case errors.As(err, &coded):
		return coded.code, coded.hint
	case errors.As(err, &rule):
		return map[roster.Kind]int{roster.Usage: exitUsage, roster.Data: exitData, roster.Refused: exitRefused}[rule.Kind], rule.Hint
	case errors.As(err, &stale):
		return exitRefused, "end this session: it no longer counts"
	case errors.Is(err, rundir.ErrAlive), errors.As(err, &foreign), errors.Is(err, tmux.ErrDead), errors.Is(err, tmux.ErrNoPane):
		return exitRefused, ""
	case errors.As(err, &unowned):
		return exitRefused, "claim them (fleet claim " + unowned.WS + " <path>), commit them yourself, or put them away"
	case errors.Is(err, lane.ErrMissing):
		return exitCached, "fleet lane resume asks for it"
	case errors.As(err, &rejected):
		return exitGate, ""
	case errors.As(err, &gate):
		return exitGate, "the base branch is where it was; mend it, then: fleet land " + gate.WS
	case errors.As(err, &dying):
		return exitGate, "see: fleet events --type worker_exited; and their logs in logs/ of the run dir"
	case errors.Is(err, rundir.ErrBusy):
		return exitBusy, "somebody holds the lock for long: try again"
	case errors.As(err, &noKey):
		return exitMissing, ""
	case errors.As(err, &missing):
		return exitMissing, "install it, then: fleet doctor"
	case errors.Is(err, git.ErrNoRepo):
		return exitUsage, "git init, or go to a repository"
	case errors.Is(err, tmux.ErrNoAnswer):
		return exitNoAnswer, "nothing is known, so nothing was changed: try again, or fleet doctor"
	case errors.Is(err, context.Canceled):
		return exitFailed, ""
	}
	return exitInternal, ""
}

// talk writes a line for people to stderr.
func (a *app) talk(format string, args ...any) { fmt.Fprintf(a.errOut, format+"\n", args...) }

// epoch is the incarnation that the environment names; -1, which never is, when it names none.
func (a *app) epoch() int {
	n, err := strconv.Atoi(a.getenv(hooks.EnvEpoch))
	if err != nil {
		return -1
	}
	return n
}

func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes of every command:

   0  ok
   1  done, but not with the result that was wanted (a message that was typed and not seen to arrive)
   3  nothing has changed since the last result (lane spawn), or there is none (lane collect, import)
   5  a program that is needed is missing
   7  something did not answer, tmux for instance; nothing is known
  10  a worker did not come up, or a check failed (doctor)
  12  the main checkout was written to (check-main)
  64  the words of the call are off, or there is no run dir
  65  the call names something that isn't there or isn't valid
  66  a guard refused it
  71  an internal error
  75  the lock could not be had in time

"fleet hook" is apart: 0, or 2, which blocks the tool call that asked.`,
	}
}
