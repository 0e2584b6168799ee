package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"fleet/roster"
)

// claude is Claude Code. It runs in the permission mode in which silence is a
// no, so that a hook that fails to answer stops the write.
func claude(name, model string) Brain {
	return Brain{
		Name: name, Program: "claude", Hooks: true,
		args:   func(j Job) []string { return claudeArgs(j, model) },
		set:    []string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=1000000"}, // or a queue would end with its ninth task
		trust:  []string{"CLAUDE_CODE_SANDBOXED=1"},
		unset:  claudeSession,
		recall: claudeRecall,
		dialog: claudeDialog,
		draft:  claudeDraft,
	}
}

// claudeSession are the variables by which a Claude Code session marks what it
// starts. A worker that is spawned from one is a session of its own.
var claudeSession = []string{
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_EFFORT",
}

func claudeArgs(j Job, model string) []string {
	args := []string{"--permission-mode", "dontAsk", "--settings", j.Settings}
	if model = cmp.Or(j.Model, model); model != "" {
		args = append(args, "--model", model)
	}
	if j.Mode == roster.Headless {
		args = append(args, headlessArgs(j.Limits)...)
	} else {
		args = append(args, "-n", j.Name)
	}
	if j.Session != "" {
		args = append(args, "--resume", j.Session)
	}
	if j.Prompt != "" {
		args = append(args, j.Prompt)
	}
	return args
}

// claudeRecall looks for the transcript of a session: one that never had a turn
// has none, and --resume would end at once.
func claudeRecall(session string) bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	dir := cmp.Or(os.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
	found, err := filepath.Glob(filepath.Join(dir, "projects", "*", session+".jsonl"))
	return err == nil && len(found) > 0
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

// claudeDialog knows the dialogs that stand before a session's start, and those that come up in it.
func claudeDialog(screen string) string {
	for _, d := range []struct{ text, waitsFor string }{
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
	} {
		if strings.Contains(screen, d.text) {
			return d.waitsFor
		}
	}
	return ""
}

// claudeDraft is what stands in the input box, except for what Claude Code itself suggests there.
func claudeDraft(screen string) string {
	draft := promptDraft(screen)
	for _, hint := range []string{"Try \"", "Once fixed, resend your message", "Resend your message to try again"} {
		if strings.HasPrefix(draft, hint) {
			return ""
		}
	}
	return draft
}
