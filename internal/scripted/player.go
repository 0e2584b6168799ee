package scripted

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Player plays a script.
type Player struct {
	// Before, if set, is called ahead of each step and may take its time; a step of
	// which it says no is left out.
	Before func(ctx context.Context, s Step) bool

	script   Script
	settings settings
	out      io.Writer
	dir      string
	session  string
	turn     int
}

// New prepares a player that works in the current directory and prints what it does to out.
func New(settingsPath, scriptPath string, out io.Writer) (*Player, error) {
	s, err := loadSettings(settingsPath)
	if err != nil {
		return nil, err
	}
	script, err := Load(scriptPath)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	return &Player{script: script, settings: s, out: out, dir: dir, session: rand.Text()}, err
}

// Run plays a turn for the first prompt and one for every line that it reads,
// until the input or the context ends.
func (p *Player) Run(ctx context.Context, prompt string, in io.Reader) error {
	p.Report(ctx, "SessionStart", map[string]any{"source": "startup"})
	defer p.Report(context.WithoutCancel(ctx), "SessionEnd", map[string]any{"reason": "other"})
	if prompt != "" {
		p.Play(ctx, prompt)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	for {
		fmt.Fprint(p.out, "\n❯ ")
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if line = strings.TrimSpace(line); line != "" {
				p.Play(ctx, line)
			}
		}
	}
}

// RunTask plays one turn of the script, the last one if there are fewer, as a
// headless session does: what it says goes out as frames, and it ends with the turn.
func (p *Player) RunTask(ctx context.Context, prompt string, turn int) error {
	frames := json.NewEncoder(p.out)
	p.out = speech{frames}
	p.turn = max(0, min(turn, len(p.script.Turns))-1)
	p.Report(ctx, "SessionStart", map[string]any{"source": "startup"})
	defer p.Report(context.WithoutCancel(ctx), "SessionEnd", map[string]any{"reason": "other"})
	err := frames.Encode(map[string]any{"type": "system", "subtype": "init", "session_id": p.session, "cwd": p.dir})
	if err != nil {
		return err
	}
	message, failed := p.Play(ctx, prompt)
	return frames.Encode(map[string]any{
		"type": "result", "subtype": "success", "is_error": failed, "session_id": p.session, "result": message,
		"total_cost_usd": 0, "modelUsage": map[string]any{},
	})
}

// speech writes what an agent says as frames of its stream.
type speech struct{ frames *json.Encoder }

func (s speech) Write(text []byte) (int, error) {
	return len(text), s.say(map[string]any{"type": "text", "text": strings.TrimSpace(string(text))})
}

// use says that a tool is called.
func (s speech) use(tool string, input map[string]any) {
	_ = s.say(map[string]any{"type": "tool_use", "name": tool, "input": input}) // as with the text: who doesn't listen misses it
}

func (s speech) say(block map[string]any) error {
	return s.frames.Encode(map[string]any{"type": "assistant", "message": map[string]any{"content": []any{block}}})
}

// Report calls the hooks of an event that expects no answer.
func (p *Player) Report(ctx context.Context, event string, payload map[string]any) {
	p.fire(ctx, event, "", payload)
}

// Play takes a prompt and plays turns for as long as the Stop hook hands out more.
// It returns what the agent said last, and whether that turn failed.
func (p *Player) Play(ctx context.Context, prompt string) (message string, failed bool) {
	for again := false; prompt != ""; again = true {
		if !again {
			fmt.Fprintf(p.out, "\n> %s\n", prompt)
			p.fire(ctx, "UserPromptSubmit", "", map[string]any{"prompt": prompt})
		}
		message, failed = p.steps(ctx)
		fmt.Fprintf(p.out, "\n● %s\n", message)
		if failed {
			p.Report(ctx, "StopFailure", map[string]any{"error": "unknown", "last_assistant_message": message})
			break
		}
		v := p.fire(ctx, "Stop", "", map[string]any{"stop_hook_active": again, "last_assistant_message": message})
		prompt = v.next
	}
	return message, failed
}

func (p *Player) steps(ctx context.Context) (message string, failed bool) {
	if p.turn >= len(p.script.Turns) {
		return "nothing more to do", false
	}
	t := p.script.Turns[p.turn]
	p.turn++
	for _, step := range t.Steps {
		if ctx.Err() != nil {
			return "stopped", false
		}
		if p.Before != nil && !p.Before(ctx, step) {
			continue
		}
		if step.Await != "" {
			p.await(ctx, step.Await)
			continue
		}
		if denied := p.call(ctx, step); denied != "" && step.StopIfDenied {
			return "I could not write: " + denied, false
		}
	}
	return t.Message, t.Error
}
