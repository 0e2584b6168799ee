package hooks

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"fleet/roster"
	"fleet/roster/rundir"
)

// deadline is how long a hook may take in all, far below what agents grant. A test shortens it.
var deadline = 8 * time.Second

// slowest is for the end of a turn, which may wait for a check that has a limit of its own.
const slowest = 24 * time.Hour

// Environment variables that say who a session is. The pane wrapper sets them.
const (
	EnvRunDir = "FLEET_RUN_DIR"
	EnvWS     = "FLEET_WS"
	EnvEpoch  = "FLEET_EPOCH"
)

// Events that an agent may report, by the name that its settings call.
var handlers = map[string]func(*session, context.Context) ([]byte, error){
	preToolUse:           (*session).preToolUse,
	"post-tool-use":      (*session).postToolUse,
	"user-prompt-submit": (*session).userPromptSubmit,
	"stop":               (*session).stop,
	"stop-failure":       (*session).stopFailure,
	"notification":       (*session).notification,
	"session-start":      (*session).sessionStart,
	"session-end":        (*session).sessionEnd,
	"pre-compact":        (*session).preCompact,
}

const preToolUse = "pre-tool-use"

// session is one call of a worker's hook.
type session struct {
	dir   *rundir.Dir
	ws    string
	epoch int
	in    input
}

// blocks is the exit code by which a hook stops what called it.
const blocks = 2

// Known reports whether agents have an event of this name.
func Known(event string) bool { return handlers[event] != nil }

// Main runs a hook: args are the event and, for a worker, its workstream. The
// exit code is 0, or 2, which blocks: for an event that doesn't exist, and for an
// answer that could not be written, since one that isn't heard is none.
func Main(args []string, stdin io.Reader, stdout io.Writer, getenv func(string) string) (code int) {
	if len(args) == 0 || len(args) > 2 || !Known(args[0]) {
		return blocks
	}
	event, ws := args[0], ""
	if len(args) == 2 {
		ws = args[1]
	}
	limit := deadline
	if event == "stop" {
		limit = slowest
	}
	out, err := inTime(limit, func(ctx context.Context) ([]byte, error) { return answerEvent(ctx, event, ws, stdin, getenv) })
	if err != nil {
		out = nil // half an answer could keep a turn from ending, for ever
	}
	if err != nil && event == preToolUse {
		out = deny("fleet can't check this write, so it is refused: " + err.Error())
	}
	if len(out) == 0 {
		return 0
	}
	if _, err := stdout.Write(out); err != nil {
		return blocks
	}
	return 0
}

// inTime gives up waiting for an answer when the time is over, whatever takes it:
// the lock, a file system, an input that doesn't end.
func inTime(limit time.Duration, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	type answer struct {
		out []byte
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil { // a fault of ours denies, with a reason
				a = answer{err: fmt.Errorf("internal error: %v", r)}
			}
			answers <- a
		}()
		a.out, a.err = fn(ctx)
	}()
	over := time.After(limit + limit/20) // later than ctx: who waits for the lock says so by itself
	select {
	case a := <-answers:
		return a.out, a.err
	case <-over:
		return nil, fmt.Errorf("no answer within %s", limit)
	}
}

func answerEvent(ctx context.Context, event, ws string, stdin io.Reader, getenv func(string) string) (out []byte, err error) {
	if ws == "" {
		return operator(ctx, event, stdin, getenv)
	}
	s, err := open(ws, getenv)
	if err != nil {
		return nil, err
	}
	if s.in, err = readInput(stdin); err != nil {
		return nil, err
	}
	return handlers[event](s, ctx)
}

// open finds out who calls. The settings file names the workstream and the
// environment must agree: a session that lost its identity is nobody's worker.
func open(ws string, getenv func(string) string) (*session, error) {
	if got := getenv(EnvWS); got != ws {
		return nil, fmt.Errorf("this session should be %s, but its environment says %s=%q", ws, EnvWS, got)
	}
	epoch, err := strconv.Atoi(getenv(EnvEpoch))
	if err != nil {
		return nil, fmt.Errorf("%s=%q is no incarnation", EnvEpoch, getenv(EnvEpoch))
	}
	dir, err := rundir.Open(getenv(EnvRunDir))
	if err != nil {
		return nil, err
	}
	return &session{dir: dir, ws: ws, epoch: epoch}, nil
}

// operator serves a session that people started themselves: it may write any
// file that no worker of any run in this repository holds. Outside of a fleet it
// costs nothing and says nothing.
func operator(ctx context.Context, event string, stdin io.Reader, getenv func(string) string) ([]byte, error) {
	if event != preToolUse || getenv(EnvWS) != "" {
		return nil, nil
	}
	dirs, err := operatorDirs(getenv)
	if err != nil || len(dirs) == 0 {
		return nil, err
	}
	in, err := readInput(stdin)
	if err != nil {
		return nil, err
	}
	for _, path := range dirs {
		dir, err := rundir.Open(path)
		if err != nil {
			return nil, err
		}
		out, err := operatorCheck(ctx, dir, in)
		if out != nil || err != nil {
			return out, err
		}
	}
	return nil, nil
}

func operatorDirs(getenv func(string) string) ([]string, error) {
	if dir := getenv(EnvRunDir); dir != "" {
		return []string{dir}, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dirs, err := rundir.Find(cwd)
	if err != nil {
		return nil, nil //nolint:nilerr // no run dir: not in a fleet
	}
	return dirs, nil
}

func operatorCheck(ctx context.Context, dir *rundir.Dir, in input) ([]byte, error) {
	t, err := newTree(dir.Root, in.CWD)
	if err != nil {
		return nil, err
	}
	var w writes
	if in.ToolName == bashTool {
		w, err = shellWrites(t, in.ToolInput.Command)
	} else {
		w.paths, err = t.keys(in.paths())
	}
	if err != nil {
		return nil, err
	}
	var denials []roster.Denial
	err = dir.View(ctx, func(s *roster.State) error {
		denials = s.CheckWrite(w.paths, w.trees, dir.Alive)
		return nil
	})
	if err != nil || len(denials) == 0 {
		return nil, err
	}
	return deny(denialText(denials)), nil
}
