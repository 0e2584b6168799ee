package master

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fleet/roster"
)

const (
	wrapperTimeout = 10 * time.Second
	upTimeout      = 45 * time.Second
	screenEvery    = 500 * time.Millisecond
	shownLines     = 10
)

// Up is how a worker came up.
type Up struct {
	State  UpState
	Reason string
}

// UpState says whether an agent has reported.
type UpState string

// The ways in which a start can go.
const (
	IsUp      UpState = "up"      // its session-start hook has reported
	IsBlocked UpState = "blocked" // it waits at a dialog
	IsGone    UpState = "gone"    // it has ended
	IsSilent  UpState = "silent"  // it runs, but nothing was heard of it
)

var errUp = errors.New("up")

// AwaitUp waits until the agent's session-start hook has reported, until it ends,
// or until its screen shows a dialog, which only a person can answer.
func (f *Fleet) AwaitUp(ctx context.Context, l Launched) (Up, error) {
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	up := Up{State: IsSilent}
	dialogs := make(chan string, 1)
	go f.watchScreen(ctx, l, dialogs)
	events := make(chan error, 1)
	go func() {
		events <- f.Dir.Follow(ctx, l.After, func(e roster.Event) error {
			if e.WS != l.WS.ID || !sameEpoch(e, l.Epoch) {
				return nil
			}
			switch e.Type {
			case roster.WorkerUp:
				up.State = IsUp
				return errUp
			case roster.WorkerExited:
				up = Up{IsGone, exitText(e)}
				return errUp
			}
			return nil
		})
	}()
	select {
	case err := <-events:
		if errors.Is(err, errUp) {
			err = nil
		}
		if up.State == IsSilent {
			up.Reason = "its session-start hook has not reported\n" + f.lastLines(context.WithoutCancel(ctx), l.WS.ID)
		}
		return up, err
	case dialog := <-dialogs:
		cancel()
		if err := <-events; errors.Is(err, errUp) {
			return up, nil // it came up, or ended, all the same
		}
		err := f.Dir.Update(context.WithoutCancel(ctx), func(s *roster.State) error {
			return s.NeedsPerson(l.WS.ID, l.Epoch, "dialog", dialog)
		})
		return Up{IsBlocked, dialog}, err
	}
}

func sameEpoch(e roster.Event, epoch int) bool {
	n, ok := e.Data["epoch"].(float64)
	return ok && int(n) == epoch
}

func exitText(e roster.Event) string {
	code, _ := e.Data["code"].(float64)
	lines, _ := e.Data["last_lines"].(string)
	return strings.TrimRight(fmt.Sprintf("it exited with code %d\n%s", int(code), lines), "\n")
}

// watchScreen looks for a dialog on the screen of an agent that hasn't reported yet.
func (f *Fleet) watchScreen(ctx context.Context, l Launched, found chan<- string) {
	before := ""
	for sleep(ctx, screenEvery) == nil {
		// Dialogs move while they are drawn; what counts is one that stands still.
		now := l.Brain.WaitsFor(f.screen(ctx, l.WS.ID))
		if now != "" && now == before {
			found <- now
			return
		}
		before = now
	}
}

// Screen is what a workstream's pane shows, empty where it has none.
func (f *Fleet) Screen(ctx context.Context, ws string) (string, error) {
	p, ok, err := f.Pane(ctx, ws)
	if err != nil || !ok {
		return "", err
	}
	server, err := f.Tmux()
	if err != nil {
		return "", err
	}
	return server.Capture(ctx, p.ID, 0)
}

// screen is what a workstream's pane shows, empty where that can't be told.
func (f *Fleet) screen(ctx context.Context, ws string) string {
	text, err := f.Screen(ctx, ws)
	if err != nil {
		return ""
	}
	return text
}

func (f *Fleet) lastLines(ctx context.Context, ws string) string {
	return tailLines(f.screen(ctx, ws), shownLines)
}

// tailLines is the last n lines of a text that say something.
func tailLines(text string, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
