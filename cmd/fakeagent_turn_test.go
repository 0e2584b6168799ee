package cmd_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"fleet/internal/scripted"
)

// take starts a turn with a prompt.
func (a *agent) take(p prompt) {
	a.busy = true
	go func() {
		a.turn(context.Background(), p.sent())
		a.over <- struct{}{}
	}()
}

// Beyond either, a paste reaches the model and the hooks in a wrapping.
const (
	longPaste = 800
	manyLines = 4
)

// sent is the prompt as hooks see it.
func (p prompt) sent() string {
	if !p.pasted || utf8.RuneCountInString(p.text) <= longPaste && strings.Count(p.text, "\n")+1 < manyLines {
		return p.text
	}
	return "\n\n<pasted_content id=\"b1d3\">\n" + p.text + "\n</pasted_content id=\"b1d3\">\n"
}

func (a *agent) turn(ctx context.Context, text string) {
	if !a.faults().Limit {
		a.player.Play(ctx, text)
		return
	}
	message := "You've hit your usage limit · resets 3pm"
	if in := a.faults().ResetsIn; in != "" {
		message = "You've hit your usage limit · try again in " + in
	}
	a.player.Report(ctx, "UserPromptSubmit", map[string]any{"prompt": text})
	a.said <- "\n● " + message + "\n"
	a.player.Report(ctx, "StopFailure", map[string]any{"error": "rate_limit", "last_assistant_message": message})
}

// before comes ahead of each step of a turn.
func (a *agent) before(ctx context.Context, s scripted.Step) bool {
	f := a.faults()
	if f.DieAfterSteps > 0 && a.steps == f.DieAfterSteps {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	a.steps++
	if s.Tool == "" || !f.PermissionDialog {
		return true
	}
	answer := make(chan bool)
	d := permissionDialog(s.Tool)
	d.done = func(choice int) (int, bool) {
		answer <- choice == 0
		return 0, false
	}
	a.asks <- d
	var notify <-chan time.Time
	if f.NotifyMS > 0 {
		notify = time.After(time.Duration(f.NotifyMS) * time.Millisecond)
	}
	for {
		select {
		case approved := <-answer:
			return approved
		case <-notify:
			a.player.Report(ctx, "Notification", map[string]any{
				"notification_type": "permission_prompt", "message": "Claude needs your permission",
			})
		}
	}
}
