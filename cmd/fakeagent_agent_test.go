package cmd_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"fleet/internal/scripted"
)

// agent is the interactive program. One loop owns its state; turns run beside it
// and reach it through channels.
type agent struct {
	options
	log    *truth
	player *scripted.Player

	up         bool // the session has started
	transcript strings.Builder
	draft      string    // what stands in the box
	hint       string    // what is shown in it when it is empty
	pasted     time.Time // when the last paste came
	stranded   bool
	eaten      int // Enters that were swallowed
	queue      []prompt
	busy       bool
	dialog     *dialog // nil when none is up
	leaving    bool    // ctrl-c was pressed once

	said  chan string  // texts of the turn
	asks  chan *dialog // questions of the turn
	over  chan struct{}
	steps int
}

// prompt is a submission, and whether any of it was pasted.
type prompt struct {
	text   string
	pasted bool
}

func newAgent(o options, log *truth) *agent {
	return &agent{options: o, log: log, hint: `Try "how does <filepath> work?"`, said: make(chan string), asks: make(chan *dialog), over: make(chan struct{})}
}

// Write takes what the player prints.
func (a *agent) Write(text []byte) (int, error) {
	a.said <- string(text)
	return len(text), nil
}

func (a *agent) run() (code int, err error) {
	f := a.faults()
	for f.StartWhen != "" && !exists(f.StartWhen) {
		time.Sleep(10 * time.Millisecond)
	}
	if a.player, err = player(a.options, a); err != nil {
		return 1, err
	}
	a.player.Before = a.before
	cooked, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return 1, fmt.Errorf("raw mode is not supported: %w", err)
	}
	fmt.Print(pastesOn)
	defer func() {
		fmt.Print(pastesOff, leaveScreen)
		_ = term.Restore(int(os.Stdin.Fd()), cooked)
	}()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	keys := make(chan key)
	go readKeys(os.Stdin, keys)
	if f.TrustDialog && os.Getenv("CLAUDE_CODE_SANDBOXED") != "1" {
		a.dialog = trustDialog()
		a.dialog.done = func(choice int) (int, bool) {
			if choice == 0 {
				return 1, true
			}
			a.begin()
			return 0, false
		}
	} else {
		a.begin()
	}
	return a.loop(keys, signals), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// begin starts the session, and with the prompt of the command line its first turn.
func (a *agent) begin() {
	fmt.Print(enterScreen, "\x1b]2;✳ "+a.name+"\a")
	a.up = true
	a.player.Report(context.Background(), "SessionStart", map[string]any{"source": "startup"})
	if a.prompt != "" {
		a.take(prompt{text: a.prompt})
	}
}

func (a *agent) loop(keys <-chan key, signals <-chan os.Signal) (code int) {
	for {
		a.draw()
		select {
		case k, open := <-keys:
			if !open {
				if !a.busy || !a.faults().IgnoreSignals {
					return a.end("other", 0)
				}
				keys = nil // a terminal that is gone doesn't end the turn of one that ignores hangups
				continue
			}
			if code, over := a.press(k); over {
				return code
			}
		case text := <-a.said:
			a.transcript.WriteString(text)
		case a.dialog = <-a.asks:
		case <-a.over:
			a.busy = false
			if a.hint = ""; a.faults().Limit {
				a.hint = "Resend your message to try again"
			}
			switch {
			case keys == nil:
				return a.end("other", 0)
			case len(a.queue) > 0:
				next := a.queue[0]
				a.queue = a.queue[1:]
				a.take(next)
			}
		case s := <-signals:
			if !a.faults().IgnoreSignals {
				return a.end("other", 128+int(s.(syscall.Signal)))
			}
		}
	}
}

// end tells the hooks, if there was a session, and is the exit code.
func (a *agent) end(reason string, code int) int {
	if a.up {
		a.player.Report(context.Background(), "SessionEnd", map[string]any{"reason": reason})
	}
	return code
}

// faults are those of this moment. A control file that can't be read was checked at the start.
func (a *agent) faults() faults {
	f, err := load()
	if err != nil {
		panic(err)
	}
	return f
}
