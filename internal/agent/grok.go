package agent

import (
	"cmp"
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

// grok is xAI's. It has no hooks, and is kept apart by its worktree. Its key is in the environment alone.
func grok() Brain {
	return Brain{
		Name: "grok", Program: cmp.Or(os.Getenv("FLEET_GROK_BIN"), "grok"), Commits: true, Schemas: true, read: readGrok, whole: true,
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
			if j.Schema != "" {
				schema, err := os.ReadFile(j.Schema)
				if err != nil {
					return Command{}, err
				}
				args = append(args, "--json-schema", strings.TrimSpace(string(schema)))
			}
			switch {
			case j.Packet != "":
				args = append(args, "--prompt-file", j.Packet)
			case j.headless():
				args = append(args, "-p")
			}
			return Command{Args: args, mute: !j.headless() || j.Packet != ""}, nil
		},
	}
}

// readGrok takes the one envelope that grok ends with.
func readGrok(s *Session, f frame, _ []byte, show func(string)) {
	s.ID = f.text("sessionId")
	r := Result{Subtype: success, Text: f.text("text")}
	if answer := f.at("structuredOutput"); answer != nil {
		text, _ := json.Marshal(answer) // which came from JSON
		r.Text = string(text)
	}
	if f.at("error") != nil || f.text("stopReason") == "" {
		r = Result{IsError: true, Text: cmp.Or(f.text("error"), f.text("error.message"), r.Text)}
	}
	s.end(r, 0, 0)
	show("● " + r.Text)
}
