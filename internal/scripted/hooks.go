package scripted

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"fleet/internal/proc"
)

// settings is the part of a Claude Code settings file that names hooks.
type settings struct {
	DisableAllHooks bool `json:"disableAllHooks"`
	Hooks           map[string][]struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Command   string `json:"command"`
			Timeout   int    `json:"timeout"`
			OnFailure string `json:"onFailure"`
		} `json:"hooks"`
	} `json:"hooks"`
}

func loadSettings(path string) (settings, error) {
	var s settings
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// defaultTimeout is what Claude Code grants a hook that names no time, in seconds.
const defaultTimeout = 600

// verdict is what the hooks of one event said.
type verdict struct {
	allow  bool
	deny   bool
	reason string
	next   string // of a Stop hook that wants the agent to go on
	told   string // a text for the agent
}

// fire runs every hook of an event and joins the answers: one deny outweighs all.
func (p *Player) fire(ctx context.Context, event, tool string, payload map[string]any) verdict {
	var v verdict
	payload["hook_event_name"], payload["session_id"], payload["cwd"] = event, p.session, p.dir
	input, err := json.Marshal(payload)
	if err != nil {
		return verdict{deny: true, reason: err.Error()}
	}
	for _, group := range p.settings.Hooks[event] {
		if !matches(group.Matcher, tool) {
			continue
		}
		for _, h := range group.Hooks {
			timeout := time.Duration(cmp.Or(h.Timeout, defaultTimeout)) * time.Second
			v.join(runHook(ctx, h.Command, h.OnFailure == "block", timeout, input))
		}
	}
	return v
}

func matches(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	ok, err := regexp.MatchString("^(?:"+matcher+")$", tool)
	return err == nil && ok
}

func (v *verdict) join(o verdict) {
	v.allow = v.allow || o.allow
	if o.deny && !v.deny {
		v.deny, v.reason = true, o.reason
	}
	v.next += o.next
	v.told += o.told
}

// runHook runs one hook command through sh and reads its answer as Claude Code does.
func runHook(ctx context.Context, command string, block bool, timeout time.Duration, input []byte) verdict {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Stdin = bytes.NewReader(input)
	proc.OwnGroup(cmd) // the shell is not all that there is to end when the time is up
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 2 {
		return verdict{deny: true, reason: fmt.Sprintf("[%s]: %s", command, stderr.String())}
	}
	if err != nil && block {
		return verdict{deny: true, reason: fmt.Sprintf("[%s]: failed; blocking because onFailure is \"block\"", command)}
	}
	return readAnswer(stdout.Bytes())
}

// readAnswer takes one JSON object and nothing else for an answer.
func readAnswer(out []byte) verdict {
	var a struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Output   struct {
			Permission string `json:"permissionDecision"`
			Reason     string `json:"permissionDecisionReason"`
			Context    string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if !strings.HasPrefix(strings.TrimSpace(string(out)), "{") || json.Unmarshal(out, &a) != nil {
		return verdict{}
	}
	v := verdict{told: a.Output.Context, allow: a.Output.Permission == "allow"}
	if a.Output.Permission == "deny" {
		v.deny, v.reason = true, a.Output.Reason
	}
	if a.Decision == "block" {
		v.next = a.Reason
	}
	return v
}
