package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fleet/internal/master"
	"fleet/roster"
)

// target is what an action is about: the selected workstream and the selected
// task, or, where no task is selected, the one of the workstream's that matters.
type target struct {
	ws   *row
	task *roster.TaskView
}

func (t target) id() string { return t.ws.ID }

// action is one thing that a person can do to the run. Each is a call of package
// master or a transition of the data plane, the one that the command line makes.
type action struct {
	name, key string
	help      string
	can       func(target) bool
	ask       string                     // what line to ask for, %s being the workstream; "" is none
	confirm   func(target) string        // what it would destroy; nil or "" asks nothing
	run       func(call) (string, error) // says what it has done
	open      func(call) (*exec.Cmd, error)
}

// call is an action with all that it needs.
type call struct {
	target
	ctx  context.Context //nolint:containedctx // lives as long as one call
	f    *master.Fleet
	text string
}

func anybody(target) bool    { return true }
func selected(t target) bool { return t.ws != nil }
func running(t target) bool  { return t.ws != nil && t.ws.alive }
func stopped(t target) bool  { return t.ws != nil && !t.ws.alive }

func taskIn(states ...roster.TaskStatus) func(target) bool {
	return func(t target) bool {
		for _, s := range states {
			if t.task != nil && t.task.Status == s {
				return true
			}
		}
		return false
	}
}

// actions is the table, in the order of the palette.
func actions() []action {
	openTask := taskIn(roster.TaskPending, roster.TaskAssigned, roster.TaskRunning, roster.TaskBlockedUpstream)
	notInHand := taskIn(roster.TaskPending, roster.TaskGivenUp, roster.TaskBlockedUpstream, roster.TaskCancelled)
	return []action{
		{name: "send", key: "m", help: "type a message into its pane", can: running, ask: "message for %s", run: send},
		{name: "open", key: "o", help: openHelp(""), can: running, open: openPane},
		{name: "add task", key: "a", help: "a task for it, after what it has to do", can: selected, ask: "task for %s", run: addTask},
		{name: "add task for anybody", key: "A", help: "a task for whoever is idle", can: anybody, ask: "task for whoever is idle", run: addFreeTask},
		{name: "new worker", key: "n", help: "a workstream with its first task, and its worker", can: anybody, ask: "first task of the new worker", run: addWorker},
		{name: "spawn", key: "s", help: "start its worker, or go on with its conversation", can: stopped, run: spawn},
		{
			name: "stop", key: "S", help: "end its worker; its files are free, its task waits", can: running, run: stop,
			confirm: func(t target) string { return "stop the worker of " + t.id() + "?" },
		},
		{
			name: "restart", key: "R", help: "end its worker and start it, with its conversation", can: running, run: restart,
			confirm: func(t target) string { return "restart the worker of " + t.id() + "?" },
		},
		{name: "retry", key: "r", help: "give a failed task its attempts again", can: taskIn(roster.TaskGivenUp), run: onTask("retried", (*roster.State).RetryTask)},
		{
			name: "skip", key: "x", help: "let a task count as done", can: notInHand, run: onTask("skipped", (*roster.State).SkipTask),
			confirm: func(t target) string { return "count " + t.task.ID + " as done, although nobody did it?" },
		},
		{
			name: "cancel", key: "c", help: "end a task, and the worker that has it in hand", can: openTask, run: onTask("cancelled", (*roster.State).CancelTask),
			confirm: func(t target) string { return "cancel " + t.task.ID + " for good?" },
		},
		{name: "block", key: "b", help: "say that it must not go on", can: selected, ask: "what %s waits for", run: block},
		{name: "unblock", key: "u", help: "say that it may go on", can: func(t target) bool { return t.ws != nil && t.ws.Status == roster.Blocked }, ask: "what to tell %s", run: unblock},
		{
			name: "handoff", key: "H", help: "a fresh agent in its place, on the same task", can: running, run: handoff,
			confirm: func(t target) string { return "end the agent of " + t.id() + " and have another one go on?" },
		},
		{
			name: "land", key: "L", help: "bring its commits into the base branch, tested", can: selected, run: land,
			confirm: func(t target) string { return "land " + t.id() + "?" },
		},
		{name: "brief", key: "e", help: "its brief in $EDITOR", can: selected, open: openBrief},
		{name: "diff", key: "d", help: "what it has changed, in $PAGER", can: selected, open: openDiff},
		{name: "start all", key: "U", help: "start every worker that is missing", can: anybody, run: startAll},
		{
			name: "stop all", key: "D", help: "end every worker of the run", can: anybody, run: stopAll,
			confirm: func(target) string { return "stop every worker of the run?" },
		},
	}
}

func send(c call) (string, error) {
	d, err := c.f.Send(c.ctx, c.id(), c.text)
	if err != nil {
		return "", err
	}
	said := map[master.Delivery]string{
		master.Delivered: "delivered to ", master.TypedOnly: "typed, not seen to arrive yet: ", master.Unknown: "tmux did not answer; not known to be typed: ",
	}[d]
	return said + c.id(), nil
}

func addTask(c call) (string, error) { return c.newTask(c.id()) }

func addFreeTask(c call) (string, error) { return c.newTask("") }

func (c call) newTask(ws string) (string, error) {
	ids, err := c.f.AddTasks(c.ctx, []roster.NewTask{{Description: c.text, Workstream: ws, Priority: roster.DefaultPriority}})
	if err != nil {
		return "", err
	}
	return "added " + ids[0], nil
}

func addWorker(c call) (string, error) {
	var free []string
	err := c.f.Dir.View(c.ctx, func(s *roster.State) error { free = s.FreeIDs(1); return nil })
	if err != nil {
		return "", err
	}
	if err := c.f.Dir.AddWorkstream(c.ctx, roster.NewWorkstream{ID: free[0], Text: c.text, Brain: c.f.Dir.Config.Brain}); err != nil {
		return "", err
	}
	return c.start(free[0], master.SpawnOptions{Resume: true})
}

func spawn(c call) (string, error) { return c.start(c.id(), master.SpawnOptions{Resume: true}) }

// start starts a worker and waits until it has come up.
func (c call) start(ws string, o master.SpawnOptions) (string, error) {
	l, err := c.f.Spawn(c.ctx, ws, o)
	if err != nil {
		return "", err
	}
	up, err := c.f.AwaitUp(c.ctx, l)
	if err == nil && up.State != master.IsUp {
		err = fmt.Errorf("%s is %s: %s", ws, up.State, strings.ReplaceAll(up.Reason, "\n", " "))
	}
	return ws + " is up", err
}

func stop(c call) (string, error) {
	_, err := c.f.Stop(c.ctx, c.id())
	return "stopped " + c.id(), err
}

func restart(c call) (string, error) {
	return c.start(c.id(), master.SpawnOptions{Resume: true, Instead: true})
}

func onTask(did string, rule func(*roster.State, string) error) func(call) (string, error) {
	return func(c call) (string, error) {
		return did + " " + c.task.ID, c.f.Dir.Update(c.ctx, func(s *roster.State) error { return rule(s, c.task.ID) })
	}
}

func block(c call) (string, error) {
	return c.id() + " is blocked", c.f.Dir.Update(c.ctx, func(s *roster.State) error { return s.Block(c.id(), c.text) })
}

// unblock answers a worker that waits for a person, which is what lets it go on.
func unblock(c call) (string, error) {
	if c.ws.alive {
		return send(c)
	}
	return c.id() + " may go on", c.f.Dir.Update(c.ctx, func(s *roster.State) error { return s.Heartbeat(c.id(), c.text) })
}

func handoff(c call) (string, error) {
	l, err := c.f.Replace(c.ctx, c.id())
	if err != nil {
		return "", err
	}
	up, err := c.f.AwaitUp(c.ctx, l)
	return fmt.Sprintf("%s goes on in a fresh agent, which is %s", c.id(), up.State), err
}

func land(c call) (string, error) {
	said := ""
	l, done, err := c.f.Lander(c.ctx, c.f.LandDefaults(), func(format string, args ...any) { said = " · " + fmt.Sprintf(format, args...) })
	if err != nil {
		return "", err
	}
	defer done()
	sha, err := l.Land(c.ctx, c.id())
	return "landed " + c.id() + " " + roster.ShortSHA(sha) + said, err
}

func startAll(c call) (string, error) {
	var started []string
	err := c.f.Up(c.ctx, nil, master.SpawnOptions{Resume: true}, func(l master.Launched) { started = append(started, l.WS.ID) })
	if len(started) == 0 {
		return "no worker is missing", err
	}
	return "started " + strings.Join(started, ", "), err
}

func stopAll(c call) (string, error) {
	n := 0
	err := c.f.StopAll(c.ctx, func(string) { n++ })
	return "stopped " + roster.Several(n, "worker"), err
}

// openHelp tells of the keys that come back from a pane, where they are known.
func openHelp(back string) string {
	if back == "" {
		return "its pane, whole"
	}
	return "its pane, whole; " + back + " comes back"
}

func openPane(c call) (*exec.Cmd, error) { return c.f.ShowPane(c.ctx, c.id()) }

func openBrief(c call) (*exec.Cmd, error) {
	task := c.id()
	if c.task != nil {
		task = c.task.ID
	}
	return shell("EDITOR", "vi", c.f.Dir.Brief(task))
}

func openDiff(c call) (*exec.Cmd, error) {
	patch, err := c.f.Diff(c.ctx, c.id(), os.Getenv("NO_COLOR") == "")
	if err != nil {
		return nil, err
	}
	return pager(patch + "\n"), nil
}

// pager shows a text. less stays, even where all of it fits the terminal, unless the person tells less otherwise.
func pager(text string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", cmp.Or(os.Getenv("PAGER"), "less -R"))
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append([]string{"LESS=R"}, os.Environ()...) // of two, the later one counts
	return cmd
}

// shell runs a program of the person's choice on a file; the variable may hold options, too.
func shell(variable, otherwise, path string) (*exec.Cmd, error) {
	program := cmp.Or(os.Getenv(variable), otherwise)
	return exec.Command("sh", "-c", program+` "$1"`, "sh", path), nil
}

// actionTimeout bounds an action; one that lands may have a long test to run.
const actionTimeout = time.Hour

// do carries an action out beside the event loop.
func (a *action) do(f *master.Fleet, t target, text string) tea.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), actionTimeout)
	c := call{target: t, ctx: ctx, f: f, text: text}
	return func() tea.Msg {
		defer cancel()
		if a.open == nil {
			text, err := a.run(c)
			return saidMsg{text, err}
		}
		cmd, err := a.open(c)
		if err != nil {
			return saidMsg{err: err}
		}
		return openMsg{cmd}
	}
}

// openMsg asks for the terminal to be given to a program.
type openMsg struct{ cmd *exec.Cmd }

func giveTerminal(cmd *exec.Cmd) tea.Cmd {
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return programEnded(cmd, err) })
}

func programEnded(cmd *exec.Cmd, err error) tea.Msg {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 2 { // a pager that was left, a session that ended
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(cmd.Args[:min(len(cmd.Args), 3)], " "), err)
	}
	return saidMsg{err: err}
}
