package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// grok is xAI's. It has no hooks, and is kept apart by its worktree. Its key is in the environment alone.
func grok() Brain {
	return Brain{
		Name: "grok", Program: cmp.Or(os.Getenv("FLEET_GROK_BIN"), "grok"), read: readGrok,
		service: service{key: "GROK_DEPLOYMENT_KEY"},
		launch: func(j Job) (Command, error) {
			args := []string{"--no-auto-update"}
			if j.headless() {
				args = append(args, "--output-format", "json", "--always-approve")
				if j.MaxTurns > 0 {
					args = append(args, "--max-turns", strconv.Itoa(j.MaxTurns))
				}
			}
			args = append(args, flag("-m", j.Model)...)
			args = append(args, flag("--reasoning-effort", j.Effort)...)
			if j.headless() {
				args = append(args, "-p")
			}
			return Command{Args: args, mute: !j.headless()}, nil
		},
	}
}

// readGrok takes a line of the one envelope that grok ends with. The envelope may have many, and isn't read before it is whole.
func readGrok(s *Session, line []byte, show func(string)) {
	if s.open == nil && !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		showPlain(line, show)
		return
	}
	s.open = append(s.open, line...)
	var e struct {
		Text    string `json:"text"`
		Session string `json:"sessionId"`
		Stop    string `json:"stopReason"`
		Error   any    `json:"error"`
	}
	if json.Unmarshal(s.open, &e) != nil {
		return
	}
	s.open = nil
	s.ID = e.Session
	r := Result{Subtype: success, Text: e.Text}
	if e.Error != nil || e.Stop == "" {
		r = Result{IsError: true, Text: cmp.Or(fmt.Sprint(e.Error), e.Text)}
	}
	s.end(r, 0, 0)
	show("● " + r.Text)
}
