package master

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/tmux"
)

// Delivery says what became of a message. Only Delivered was seen to arrive.
type Delivery string

// What can become of a message.
const (
	Delivered Delivery = "delivered"  // the agent's own hook reported the prompt
	TypedOnly Delivery = "typed_only" // it is in the agent's input, not known to be taken
	Unknown   Delivery = "unknown"    // tmux did not answer in between
)

const (
	settle       = 150 * time.Millisecond // between a paste and its Enter: agents swallow one that comes right behind
	confirmEvery = 2 * time.Second        // then Enter once more, if the text still stands in the input
	confirmSlow  = 8 * time.Second        // as long as a hook may take, for an agent that has nothing else to do
	maxEnters    = 3
	maxTyped     = 500 // characters of a message that is typed; a longer one is sent as a file
)

// Send types a message into a worker's pane and waits for the agent to take it.
// A message that an agent would run, cut or wrap is written to a file and the
// line that is typed names it. The error says why nothing was typed.
func (f *Fleet) Send(ctx context.Context, ws, text string) (Delivery, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", roster.Usagef("the message is empty")
	}
	if _, err := f.Dir.Workstream(ctx, ws); err != nil {
		return "", err // before it names a file
	}
	unlock, err := f.Dir.Exclusive(ctx, "send-"+ws)
	if err != nil {
		return "", err
	}
	defer unlock()
	server, err := f.Tmux()
	if err != nil {
		return "", err
	}
	to, err := f.ready(ctx, server, ws)
	if err != nil {
		return "", err
	}
	after, err := f.Dir.LastEvent()
	if err != nil {
		return "", err
	}
	if text, err = f.oneLine(ws, text, after); err != nil {
		return "", err
	}
	if err := server.Paste(ctx, to.pane, text); err != nil {
		return typed(err)
	}
	d, err := f.submit(ctx, server, to, text, after)
	if d == Delivered || err != nil {
		return d, err
	}
	return d, f.Dir.Update(context.WithoutCancel(ctx), func(s *roster.State) error {
		s.Note(roster.SendUnconfirmed, ws, "", map[string]any{"prompt": roster.Title(text), "delivery": d})
		return nil
	})
}

// typed sorts an error after which text may have reached the pane from one after which it has not.
func typed(err error) (Delivery, error) {
	if errors.Is(err, tmux.ErrNoAnswer) {
		return Unknown, nil
	}
	return "", err
}

// target is a worker that takes messages.
type target struct {
	ws    string
	pane  tmux.PaneID
	brain agent.Brain
	busy  bool // a turn is running: it takes a message when that ends
}

// ready finds the pane of a worker that would take a message now, or says why there is none.
func (f *Fleet) ready(ctx context.Context, server *tmux.Server, ws string) (target, error) {
	w, err := f.Dir.Workstream(ctx, ws)
	if err != nil {
		return target{}, err
	}
	brain, err := agent.Find(w.Brain)
	if err != nil {
		return target{}, err
	}
	pane, ok, err := f.Pane(ctx, ws)
	switch {
	case err != nil:
		return target{}, err
	case !ok || pane.Tags.Epoch != w.Epoch || pane.PID != f.Dir.LivePID(ws): // or something else runs in it now
		return target{}, roster.Refusef("%s has no worker that could take a message", ws).Hinted("fleet spawn %s", ws)
	case !brain.Hooks:
		return target{}, roster.Refusef("%s runs %s, which would run the message instead of reading it", ws, w.Brain)
	case w.Mode == roster.Headless:
		return target{}, roster.Refusef("%s runs headless and reads no messages", ws)
	case w.Asks():
		return target{}, roster.Refusef("%s waits for a person: %s", ws, w.Notes).Hinted("fleet attach, and answer it there: in a dialog, Enter would approve")
	case w.SessionID == "":
		return target{}, roster.Refusef("%s has not come up yet", ws)
	}
	screen, err := server.Capture(ctx, pane.ID, 0)
	if err != nil {
		return target{}, err
	}
	if dialog := brain.WaitsFor(screen); dialog != "" {
		return target{}, roster.Refusef("%s waits at %s", ws, dialog).Hinted("fleet attach, and answer it there")
	}
	if draft := brain.Draft(screen); draft != "" {
		return target{}, roster.Refusef("somebody's draft stands in the input of %s: %q", ws, roster.Title(draft)).Hinted("fleet attach, and send or clear it")
	}
	return target{ws, pane.ID, brain, w.Status == roster.Working}, nil
}

// submit presses Enter until the agent reports the prompt, or there is no sense in it.
func (f *Fleet) submit(ctx context.Context, server *tmux.Server, to target, text string, after int64) (Delivery, error) {
	for enters := range maxEnters {
		if err := sleep(ctx, settle); err != nil {
			return TypedOnly, err
		}
		screen, err := server.Capture(ctx, to.pane, 0)
		if err != nil {
			return typed(err)
		}
		if to.brain.WaitsFor(screen) != "" {
			break // it came up just now, and Enter would approve
		}
		if enters > 0 && to.brain.Draft(screen) == "" { // the agent has the text: no more keys
			if to.busy {
				break
			}
			return f.taken(ctx, to.ws, text, after, confirmSlow)
		}
		if err := server.Enter(ctx, to.pane); err != nil {
			return typed(err)
		}
		if d, err := f.taken(ctx, to.ws, text, after, confirmEvery); d != TypedOnly {
			return d, err
		}
	}
	return TypedOnly, nil
}

var errTaken = errors.New("taken")

// taken waits a while for the agent's own report that it took this prompt.
func (f *Fleet) taken(ctx context.Context, ws, text string, after int64, within time.Duration) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := f.Dir.Follow(ctx, after, func(e roster.Event) error {
		if e.Type == roster.PromptSubmitted && e.WS == ws && e.Data["prompt"] == roster.Title(text) {
			return errTaken
		}
		return nil
	})
	switch {
	case errors.Is(err, errTaken):
		return Delivered, nil
	case err != nil:
		return Unknown, err
	}
	return TypedOnly, nil
}

// oneLine makes a line that can be typed safely: the message itself, or one that names a file with it.
func (f *Fleet) oneLine(ws, text string, id int64) (string, error) {
	plain := utf8.RuneCountInString(text) <= maxTyped && !strings.ContainsAny(text, "\n\t\r\x1b") &&
		!strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "#") &&
		!strings.HasSuffix(text, `\`) && !strings.Contains(text, "@") && roster.Flat(text) == text
	if plain {
		return text, nil
	}
	path := f.Dir.Brief(fmt.Sprintf("%s-message-%d", ws, id))
	if err := f.Dir.Write(path, []byte(text+"\n")); err != nil {
		return "", err
	}
	return fmt.Sprintf("read %s: it is a message for you", path), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
