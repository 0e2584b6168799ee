package scripted

import (
	"bufio"
	"context"
	"crypto/rand"
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

// Report calls the hooks of an event that expects no answer.
func (p *Player) Report(ctx context.Context, event string, payload map[string]any) {
	p.fire(ctx, event, "", payload)
}

// Play takes a prompt and plays turns for as long as the Stop hook hands out more.
func (p *Player) Play(ctx context.Context, prompt string) {
	for again := false; prompt != ""; again = true {
		if !again {
			fmt.Fprintf(p.out, "\n> %s\n", prompt)
			p.fire(ctx, "UserPromptSubmit", "", map[string]any{"prompt": prompt})
		}
		message := p.steps(ctx)
		fmt.Fprintf(p.out, "\n● %s\n", message)
		v := p.fire(ctx, "Stop", "", map[string]any{"stop_hook_active": again, "last_assistant_message": message})
		prompt = v.next
	}
}

func (p *Player) steps(ctx context.Context) (message string) {
	if p.turn >= len(p.script.Turns) {
		return "nothing more to do"
	}
	t := p.script.Turns[p.turn]
	p.turn++
	for _, step := range t.Steps {
		if ctx.Err() != nil {
			return "stopped"
		}
		if p.Before != nil && !p.Before(ctx, step) {
			continue
		}
		if step.Await != "" {
			p.await(ctx, step.Await)
			continue
		}
		if denied := p.call(ctx, step); denied != "" && step.StopIfDenied {
			return "I could not write: " + denied
		}
	}
	return t.Message
}
