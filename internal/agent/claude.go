package agent

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
)

// claude is Claude Code. It runs in the permission mode in which silence is a
// no, so that a hook that fails to answer stops the write.
func claude(name, model string) Brain {
	return Brain{
		Name: name, Program: "claude", provider: "anthropic", Commits: true, Hooks: true, read: readClaude, screen: claudeScreen,
		service: service{url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_AUTH_TOKEN"},
		launch:  func(j Job) (Command, error) { return claudeCommand(j, model), nil },
		archive: claudeTranscript,
	}
}

func claudeCommand(j Job, model string) Command {
	args := flag("--settings", j.Settings)
	args = append([]string{"--permission-mode", "dontAsk"}, args...)
	args = append(args, flag("--model", cmp.Or(j.Model, model))...)
	args = append(args, flag("--effort", j.Effort)...)
	if j.headless() {
		args = append(args, headlessArgs(j.Limits)...)
	} else {
		args = append(args, "-n", j.Name)
	}
	args = append(args, flag("--resume", j.Session)...)
	c := Command{Args: args, Set: []string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=1000000"}} // or a queue would end with its ninth task
	if j.Trust {
		c.Set = append(c.Set, "CLAUDE_CODE_SANDBOXED=1")
	}
	return c
}

// claudeTranscript looks for the transcript of a session. One that never had a turn has none, and --resume would end at once.
func claudeTranscript(session string, env []string) string {
	dir, home := "", ""
	for _, kv := range env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "CLAUDE_CONFIG_DIR":
			dir = value
		case "HOME":
			home = value
		}
	}
	found, err := filepath.Glob(filepath.Join(cmp.Or(dir, filepath.Join(home, ".claude")), "projects", "*", session+".jsonl"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0]
}

// sealedTools are those whose writes the write check can see, and those that only read.
const sealedTools = "Read,Write,Edit,MultiEdit,NotebookEdit,Glob,Grep"

func headlessArgs(l Limits) []string {
	args := []string{"-p", "--output-format", "stream-json", "--verbose"}
	if l.Sealed {
		args = append(args, "--tools", sealedTools, "--setting-sources", "", "--strict-mcp-config")
	}
	if l.MaxTurns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(l.MaxTurns))
	}
	if l.BudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(l.BudgetUSD, 'f', -1, 64))
	}
	return args
}

// claudeScreen has the dialogs that stand before a session's start, those that come up in it, and
// what Claude Code itself suggests in the input box.
var claudeScreen = screen{
	sign: "❯",
	dialogs: []dialog{
		{"Yes, I trust this folder", "the trust dialog: is this folder trusted?"},
		{"Detected a custom API key", "the API key dialog: may the key in the environment be used?"},
		{"Settings Error", "the settings dialog: a settings file did not load"},
		{"running in Bypass Permissions mode", "the bypass-permissions dialog"},
		{"Welcome to Claude Code", "the first-run set-up"},
		{"Select login method", "the login"},
		// An agent may well write the question of a dialog in its own text. The line below it is a dialog's alone.
		{"Esc to cancel · Tab to amend", "a permission dialog"},
		{"Enter to confirm · Esc to cancel", "a dialog"},
		{"Stop and wait for limit to reset", "the usage-limit dialog: wait, or change the plan?"},
	},
	hints: []string{"Try \"", "Once fixed, resend your message", "Resend your message to try again"},
}
