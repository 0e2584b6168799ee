package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"fleet/hooks/effect"
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
	EnvTree   = "FLEET_TREE" // set for a worker that has a checkout of its own
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
	// ownTree says that the worker has a checkout of its own; which one, its row says.
	ownTree bool
	in      input
	shell   Shell
}

// Host is what a hook is called with.
type Host struct {
	Stdin  io.Reader
	Stdout io.Writer
	Getenv func(string) string
	Shell  Shell
	// Exit ends the program. It is called when the time is over, whatever takes it: the
	// lock, a file system, an input that doesn't end.
	Exit func(code int)
}

// Shell reads off a command line what it would do in a directory. It is handed in
// since its parser takes its time to initialise, and most calls don't need it.
type Shell func(command, dir string) (effect.Report, error)

const (
	// blocks is the exit code by which a hook stops what called it.
	blocks = 2
	// Unanswered is returned in place of an exit code for a call that is about a shell
	// command and has no Shell to read it. Its input is read, and nothing is done yet.
	Unanswered = -1
)

var errNoShell = errors.New("no shell reader")

// Known reports whether agents have an event of this name.
func Known(event string) bool { return handlers[event] != nil }

// Main runs a hook: args are the event and, for a worker, its workstream. The
// exit code is 0, or 2, which blocks: for an event that doesn't exist, and for an
// answer that could not be written, since one that isn't heard is none. Without a
// shell it may be Unanswered.
func Main(args []string, h Host) (code int) {
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
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var once sync.Once                              // one answer is given, by whoever has it first
	over := time.AfterFunc(limit+limit/20, func() { // later than ctx: who waits for the lock says so by itself
		once.Do(func() { code = h.say(event, nil, fmt.Errorf("no answer within %s", limit)) })
		h.Exit(code)
	})
	defer over.Stop()
	out, err := h.answer(ctx, event, ws)
	once.Do(func() { code = h.say(event, out, err) })
	return code
}

// say gives the answer to an event, and returns the exit code.
func (h Host) say(event string, out []byte, err error) int {
	if errors.Is(err, errNoShell) {
		return Unanswered
	}
	if err != nil {
		out = nil // half an answer could keep a turn from ending, for ever
	}
	if err != nil && event == preToolUse {
		out = deny("fleet can't check this write, so it is refused: " + err.Error())
	}
	if len(out) == 0 {
		return 0
	}
	if _, err := h.Stdout.Write(out); err != nil {
		return blocks
	}
	return 0
}

func (h Host) answer(ctx context.Context, event, ws string) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // a fault of ours denies, with a reason
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	if ws == "" {
		return h.operator(ctx, event)
	}
	s, err := h.open(ws)
	if err != nil {
		return nil, err
	}
	if s.in, err = readInput(h.Stdin); err != nil {
		return nil, err
	}
	return handlers[event](s, ctx)
}

// open finds out who calls. The settings file names the workstream and the
// environment must agree: a session that lost its identity is nobody's worker.
func (h Host) open(ws string) (*session, error) {
	if got := h.Getenv(EnvWS); got != ws {
		return nil, fmt.Errorf("this session should be %s, but its environment says %s=%q", ws, EnvWS, got)
	}
	epoch, err := strconv.Atoi(h.Getenv(EnvEpoch))
	if err != nil {
		return nil, fmt.Errorf("%s=%q is no incarnation", EnvEpoch, h.Getenv(EnvEpoch))
	}
	dir, err := rundir.Open(h.Getenv(EnvRunDir))
	if err != nil {
		return nil, err
	}
	return &session{dir: dir, ws: ws, epoch: epoch, ownTree: h.Getenv(EnvTree) != "", shell: h.Shell}, nil
}

// operator serves a session that people started themselves: it may write any
// file that no worker of any run in this repository holds. Outside of a fleet it
// costs nothing and says nothing.
func (h Host) operator(ctx context.Context, event string) ([]byte, error) {
	if event != preToolUse || h.Getenv(EnvWS) != "" {
		return nil, nil
	}
	dirs, err := h.operatorDirs()
	if err != nil || len(dirs) == 0 {
		return nil, err
	}
	in, err := readInput(h.Stdin)
	if err != nil {
		return nil, err
	}
	for _, path := range dirs {
		dir, err := rundir.Open(path)
		if err != nil {
			return nil, err
		}
		out, err := operatorCheck(ctx, dir, in, h.Shell)
		if out != nil || err != nil {
			return out, err
		}
	}
	return nil, nil
}

func (h Host) operatorDirs() ([]string, error) {
	if dir := h.Getenv(EnvRunDir); dir != "" {
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

func operatorCheck(ctx context.Context, dir *rundir.Dir, in input, shell Shell) ([]byte, error) {
	t, err := newTree(dir.Root, in.CWD)
	if err != nil {
		return nil, err
	}
	var w writes
	if in.ToolName == bashTool {
		w, err = shellWrites(t, in.ToolInput.Command, shell)
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
