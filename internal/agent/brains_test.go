package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fleet/roster"
)

// home gives the test a configuration dir of its own, and a key of no service.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "ZHIPU_API_KEY", "GLM_API_KEY", "FLEET_WORKER_CONFIG_DIR", "FLEET_WORKER_MODEL", "FLEET_WORKER_SMALL_MODEL", "FLEET_WORKER_BASE_URL", "FLEET_WORKER_EFFORT"} {
		t.Setenv(name, "")
	}
	return dir
}

func start(t *testing.T, brain string, j Job) Command {
	t.Helper()
	b, err := Find(brain)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Command(t.Context(), "/fleet", j)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const hookFile = `{"hooks":{
	"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"'/it\"s/fleet' hook x || exit 2","timeout":30}]}],
	"PostToolUse":[],"SessionStart":[],"UserPromptSubmit":[],"Stop":[],"PreCompact":[],"StopFailure":[{"unknown":"to codex"}]}}`

// FF-2, FF-3, FF-45, FF-46, FF-49, FF-51, FF-55: the argument vectors of headless and interactive workers, exactly.
func TestArguments(t *testing.T) {
	dir := home(t)
	t.Setenv("GLM_API_KEY", "secret")
	hooks := filepath.Join(dir, "WS01.json")
	if err := os.WriteFile(hooks, []byte(hookFile), 0o600); err != nil {
		t.Fatal(err)
	}
	job := Job{
		Name: "shop-ws01", Mode: roster.Headless, Settings: hooks, Prompt: "read x", Root: "/repo", RunDir: "/repo/planning/fleet-shop",
		Trust: true, Limits: Limits{Model: "m", Effort: "high", MaxTurns: 9, BudgetUSD: 1},
	}
	screen := job
	screen.Mode = roster.Interactive
	codexHooks := []string{
		"-c", `hooks.PreToolUse=[{"hooks"=[{"command"="'/it\"s/fleet' hook x || exit 2","timeout"=30,"type"="command"}],"matcher"="Bash"}]`,
		"-c", "hooks.PostToolUse=[]", "-c", "hooks.SessionStart=[]", "-c", "hooks.UserPromptSubmit=[]", "-c", "hooks.Stop=[]", "-c", "hooks.PreCompact=[]",
		"--dangerously-bypass-hook-trust", "read x",
	}
	codexArgs := []string{
		"--sandbox", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "check_for_update_on_startup=false",
		"--add-dir", "/repo/planning/fleet-shop", "-c", `projects={"/repo"={"trust_level"="trusted"}}`, "--model", "m", "-c", `model_reasoning_effort="high"`,
	}
	claudeHeadless := []string{"-p", "--output-format", "stream-json", "--verbose", "--max-turns", "9", "--max-budget-usd", "1", "read x"}
	for _, c := range []struct {
		brain string
		job   Job
		want  [][]string
	}{
		{"fable", job, [][]string{{"claude", "--permission-mode", "dontAsk", "--settings", hooks, "--model", "m", "--effort", "high"}, claudeHeadless}},
		{"glm", job, [][]string{{"claude", "--permission-mode", "dontAsk", "--settings", hooks, "--model", "sonnet", "--effort", "high"}, claudeHeadless}},
		{"codex", job, [][]string{{"codex", "exec", "--json", "--color", "never"}, codexArgs, codexHooks}},
		{"codex", screen, [][]string{{"codex", "--no-daemon", "--ask-for-approval", "never"}, codexArgs, codexHooks}},
		{"grok", job, [][]string{{"grok", "--no-auto-update", "--output-format", "json", "--always-approve", "--max-turns", "9", "-m", "m", "--reasoning-effort", "high", "-p", "read x"}}},
		{"gemini", job, [][]string{{"gemini", "--approval-mode", "yolo", "--model", "m", "--skip-trust", "--output-format", "stream-json", "--prompt", "read x"}}},
		{"gemini", screen, [][]string{{"gemini", "--approval-mode", "yolo", "--model", "m", "--skip-trust", "--prompt-interactive", "read x"}}},
		{"opencode", job, [][]string{{"opencode", "run", "--format", "json", "--auto", "--model", "m", "--variant", "high", "read x"}}},
		{"opencode", screen, [][]string{{"opencode", "--model", "m", "--prompt", "read x"}}},
	} {
		var want []string
		for _, part := range c.want {
			want = append(want, part...)
		}
		got := start(t, c.brain, c.job)
		if diff := cmp.Diff(want, got.Args); diff != "" {
			t.Errorf("%s, %s:\n%s", c.brain, c.job.Mode, diff)
		}
		if strings.Contains(strings.Join(got.Args, " "), "secret") {
			t.Errorf("%s: the key is in its arguments", c.brain)
		}
	}
	job.Settings = "/no/such/file"
	b, _ := Find("codex")
	if _, err := b.Command(t.Context(), "/fleet", job); err == nil {
		t.Error("codex would start without its hooks")
	}
	b.Hooks = false
	if c, err := b.Command(t.Context(), "/fleet", job); err != nil || strings.Contains(strings.Join(c.Args, " "), "hook") {
		t.Errorf("without hooks: %v, %v", c.Args, err)
	}
}

// FF-41, FF-42, FF-43, FF-44: a GLM worker has a configuration dir of its own, its address and its key in the environment, and none of the user's.
func TestGLM(t *testing.T) {
	dir := home(t)
	b, _ := Find("glm")
	if err := b.Ready(t.Context()); err == nil && b.Installed() == nil {
		t.Error("ready without a key")
	}
	t.Setenv("GLM_API_KEY", "third")
	t.Setenv("ZHIPU_API_KEY", "second")
	c := start(t, "glm", Job{Name: "shop-ws01"})
	want := []string{
		"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=1000000", "CLAUDE_CONFIG_DIR=" + dir + "/.fleet-worker/cfg-shop-ws01", "ANTHROPIC_BASE_URL=https://api.z.ai/api/anthropic",
		"ANTHROPIC_DEFAULT_OPUS_MODEL=GLM-5.2", "ANTHROPIC_DEFAULT_SONNET_MODEL=GLM-5.2", "ANTHROPIC_DEFAULT_HAIKU_MODEL=GLM-4.5-Air", "ANTHROPIC_AUTH_TOKEN=second",
	}
	if diff := cmp.Diff(want, c.Set); diff != "" {
		t.Error(diff)
	}
	if unset := strings.Join(c.Unset, " "); !strings.Contains(unset, "ANTHROPIC_API_KEY") || !strings.Contains(unset, "CLAUDE_CODE_OAUTH_TOKEN") {
		t.Errorf("unset %s", unset)
	}
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "first")
	if c := start(t, "glm", Job{Name: "x"}); c.Set[len(c.Set)-1] != "ANTHROPIC_AUTH_TOKEN=first" {
		t.Errorf("set %v", c.Set)
	}
}

// FF-52, CF-80: what the agents say, as recorded, becomes one Outcome.
func TestRecordedSessions(t *testing.T) {
	home(t)
	for _, c := range []struct {
		file, brain string
		exit        int
		want        roster.Outcome
		shown       string
	}{
		{"codex.jsonl", "codex", 0, roster.Outcome{OK: true, Summary: "done", InputTokens: 300, OutputTokens: 60, SessionID: "01a22b47"}, "● add(/repo/a.txt) completed"},
		{"codex_fails.jsonl", "codex", 1, roster.Outcome{Kind: roster.ErrAgent, Reason: "bad request", Summary: "bad request", SessionID: "01a2"}, ""},
		{"codex_cut.jsonl", "codex", 137, roster.Outcome{Kind: roster.ErrInfra, Reason: "it ended with code 137 and without a result", SessionID: "01a2"}, "● I begin"},
		{"grok.json", "grok", 0, roster.Outcome{OK: true, Summary: "all done", SessionID: "0c5f"}, "● all done"},
		{"grok_fails.json", "grok", 0, roster.Outcome{Kind: roster.ErrAgent, Reason: "no credits", Summary: "no credits"}, "warning: slow"},
		{"gemini.jsonl", "gemini", 0, roster.Outcome{OK: true, Summary: "all done", InputTokens: 400, OutputTokens: 80, SessionID: "956c1f2d"}, "● write_file(/repo/g.txt)"},
		{"opencode.jsonl", "opencode", 0, roster.Outcome{OK: true, Summary: "all done", InputTokens: 200, OutputTokens: 40, CostUSD: 0.5, SessionID: "ses_1"}, "● edit(/repo/o.txt)"},
		{"opencode_fails.jsonl", "opencode", 0, roster.Outcome{Kind: roster.ErrAgent, Reason: "no such model", Summary: "no such model", SessionID: "ses_1"}, ""},
	} {
		f, err := os.Open(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := Find(c.brain)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		s, err := b.ReadSession(f, func(line string) { shown = append(shown, line) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, s.Outcome(c.exit, false)); diff != "" {
			t.Errorf("%s:\n%s", c.file, diff)
		}
		if all := strings.Join(shown, "\n"); !strings.Contains(all, c.shown) {
			t.Errorf("%s shows\n%s", c.file, all)
		}
	}
}

// The screens on which fleet must not type, as the agents draw them.
func TestScreens(t *testing.T) {
	home(t)
	for _, c := range []struct{ brain, screen, waits, draft string }{
		{"codex", "> You are in /repo\n  Trust this folder?\n› 1. Trust\n", "the trust dialog: is this folder trusted?", ""},
		{"codex", "  Hooks need review\n", "the hooks dialog: may these hooks run?", ""},
		{"codex", "• done\n\n› half a thought\n\n  gpt-5.5 medium\n", "", "half a thought"},
		{"codex", "› Ask a follow-up question\n\n  gpt-5.5 medium\n", "", ""},
		{"opencode", "  ┃\n  ┃  # Wrote two.txt\n  ┃\n\n     done\n\n  ┃\n  ┃\n  ┃\n  ┃  Build · scripted Anthropic      ~/repo\n  ╹▀▀▀▀\n", "", ""},
		{"opencode", "  ┃\n  ┃  half a\n  ┃  thought\n  ┃\n  ┃  Build · scripted Anthropic      ~/repo\n  ╹▀▀▀▀\n", "", "half a thought"},
		{"claude", "❯ Try \"edit <file>\"\n", "", ""},
		{"gemini", "Do you trust this folder?\n", "the trust dialog: is this folder trusted?", ""},
	} {
		b, _ := Find(c.brain)
		if got := b.WaitsFor(c.screen); got != c.waits {
			t.Errorf("%s waits for %q, want %q", c.brain, got, c.waits)
		}
		if got := b.Draft(c.screen); c.waits == "" && got != c.draft {
			t.Errorf("%s has the draft %q, want %q", c.brain, got, c.draft)
		}
	}
}

// A version whose hooks nobody has seen to deny counts as one without.
func TestVersions(t *testing.T) {
	dir := home(t)
	t.Setenv("PATH", dir)
	b, _ := Find("codex")
	for version, gated := range map[string]bool{"0.171.0": true, "0.200.1": true, "1.0.0": true, "0.99.9": false, "nonsense": false} {
		if err := os.WriteFile(filepath.Join(dir, "codex"), []byte("#!/bin/sh\necho codex-cli "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if why := b.Ungated(t.Context()); (why == "") != gated {
			t.Errorf("%s: %q", version, why)
		}
	}
	grok, _ := Find("grok")
	claude, _ := Find("claude")
	if grok.Ungated(t.Context()) == "" || claude.Ungated(t.Context()) != "" {
		t.Error("grok is gated, or claude isn't")
	}
}
