package doctor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"fleet/internal/agent"
	"fleet/internal/proc"
	"fleet/roster"
)

// Brains checks which agents are installed, and whether their hooks gate what they write. Nobody needs all of them.
func Brains(ctx context.Context) []Row {
	var rows []Row
	seen := make(map[string]bool)
	for _, b := range agent.Brains() {
		if b.Program == "" || seen[b.Program] || !b.Headless() {
			continue
		}
		seen[b.Program] = true
		r := program(ctx, b.Program, Advisory, "--version")
		rows = append(rows, r)
		if r.Status != OK {
			continue
		}
		gate := Row{"gate-" + b.Name, OK, "its hooks deny"}
		if why := b.Ungated(ctx); why != "" {
			gate = Row{gate.Name, Advisory, why + ": it needs FLEET_WORKTREE=on, or --ungated"}
		}
		rows = append(rows, gate)
	}
	return rows
}

// Accounts checks, as far as that costs nothing, whether the installed agents can reach their services.
func Accounts(ctx context.Context) []Row {
	var rows []Row
	for _, b := range agent.Brains() {
		if b.Installed() != nil {
			continue
		}
		if err := b.Ready(ctx); err != nil {
			rows = append(rows, Row{"key-" + b.Name, Advisory, err.Error()})
		}
		if b.Name != "codex" {
			continue
		}
		r := Row{"login-codex", OK, "logged in"}
		if _, err := proc.Run(ctx, proc.Cmd{Args: []string{b.Program, "login", "status"}}); err != nil {
			r.Status, r.Detail = Advisory, err.Error()
		}
		rows = append(rows, r)
	}
	return rows
}

const askTimeout = 2 * time.Minute

// Ask lets an agent answer one question, in an empty repository, and returns what it says.
func Ask(ctx context.Context, b agent.Brain) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "fleet-ask-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := proc.Run(ctx, proc.Cmd{Args: []string{"git", "init", "--quiet"}, Dir: dir}); err != nil {
		return "", err
	}
	b.Hooks = false
	c, err := b.Command(ctx, "", agent.Job{
		Name: "ask", Mode: roster.Headless, Prompt: "Answer with the one word ready, and use no tool.", Root: dir, Limits: agent.Limits{MaxTurns: 1},
	})
	if err != nil {
		return "", err
	}
	out, runErr := proc.Run(ctx, proc.Cmd{Args: c.Args, Dir: dir, Env: c.Environ(os.Environ())})
	s, err := b.ReadSession(bytes.NewReader(out), func(string) {})
	if err != nil {
		return "", err
	}
	o := s.Outcome(0, false)
	if !o.OK {
		return "", errors.Join(errors.New(o.Reason), runErr)
	}
	return roster.Title(o.Summary), runErr
}
