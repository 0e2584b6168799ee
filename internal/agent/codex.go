package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// codex is OpenAI's Codex. Its hooks can deny, but one that fails to answer lets the call through, so the
// sandbox stands behind them: it can write its checkout, what fleet itself writes, and a directory for
// temporary files. It has no bounds of turns or costs; its time is bounded. Its account, and the service that it
// uses, are in the user's configuration, so a sealed worker has that, too, and it reads files by its shell.
func codex() Brain {
	return Brain{
		Name: "codex", Program: "codex", Hooks: true, Schemas: true, Since: "0.171.0", read: readCodex, launch: codexCommand,
		service: service{key: "FLEET_CODEX_KEY", args: codexService},
		screen: screen{
			sign: "›", hints: []string{"Ask Codex to do anything", "Ask a follow-up question"},
			dialogs: []dialog{
				{"Trust this folder?", "the trust dialog: is this folder trusted?"},
				{"Hooks need review", "the hooks dialog: may these hooks run?"},
				{"Try new model", "the dialog of a new model"},
				{"Update available!", "the update dialog"},
				{"Sign in with ChatGPT", "the login"},
				{"Would you like to run the following command?", "a permission dialog"},
				{"Press enter to confirm or esc to", "a dialog"},
			},
		},
	}
}

func codexCommand(j Job) (c Command, err error) {
	var args []string
	set := func(key string, value any) { args = append(args, "-c", fmt.Sprintf("%s=%s", key, toml(value))) }
	if j.headless() {
		args = append(args, "exec", "--json", "--color", "never")
	} else {
		args = append(args, "--no-daemon", "--ask-for-approval", "never")
	}
	args = append(args, "--sandbox", "workspace-write")
	set("sandbox_workspace_write.exclude_slash_tmp", true) // other checkouts may be there
	set("check_for_update_on_startup", false)
	if j.RunDir != "" {
		args = append(args, "--add-dir", j.RunDir)
	}
	if j.Trust {
		set("projects", map[string]any{j.Root: map[string]any{"trust_level": "trusted"}})
	}
	args = append(args, flag("--model", j.Model)...)
	if j.Effort != "" {
		set("model_reasoning_effort", j.Effort)
	}
	args = append(args, flag("--output-schema", j.Schema)...)
	if j.Packet != "" {
		defer func() { c.Args = append(c.Args, "-") }() // it reads the prompt from stdin
	}
	c, err = scratch(j.Name)
	if j.Settings == "" || err != nil {
		c.Args = args
		return c, err
	}
	hooks, err := readHooks(j.Settings)
	for _, event := range codexEvents {
		set("hooks."+event, hooks[event])
	}
	// Without it, hooks that nobody has looked at in its own screen are skipped, in silence.
	args = append(args, "--dangerously-bypass-hook-trust")
	c.Args = args
	return c, err
}

// scratch makes a directory for what a sandboxed worker has to write outside of its checkout.
func scratch(name string) (Command, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Command{}, err
	}
	dir := filepath.Join(cache, "fleet", name)
	return Command{Set: []string{"TMPDIR=" + dir, "TMP=" + dir, "TEMP=" + dir, "UV_CACHE_DIR=" + dir}}, os.MkdirAll(dir, 0o700)
}

// codexEvents are those of fleet's hooks that it has. It has none for an error that ends a turn.
var codexEvents = []string{"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "Stop", "PreCompact"}

// codexService lets it use a service of the user's.
func codexService(url string) []string {
	provider := map[string]any{"name": "fleet", "base_url": url, "wire_api": "responses", "env_key": "FLEET_CODEX_KEY"}
	return []string{"-c", "model_provider=" + toml("fleet"), "-c", "model_providers.fleet=" + toml(provider)}
}

// readHooks takes the hooks out of a settings file. Codex has no flag for a file of hooks, but one for each setting.
func readHooks(path string) (hooks map[string]any, err error) {
	var doc struct {
		Hooks map[string]any `json:"hooks"`
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	return doc.Hooks, err
}

// toml writes a value, as JSON knows them, in the form of TOML. The strings and numbers of both are the same.
func toml(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var fields []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, toml(k)+"="+toml(v[k]))
		}
		return "{" + strings.Join(fields, ",") + "}"
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = toml(v[i])
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings, numbers and booleans always marshal
	}
	return string(text)
}

// readCodex takes a frame of "codex exec --json". The last message of the agent is its result.
func readCodex(s *Session, f frame, line []byte, show func(string)) {
	switch f.text("type") {
	case "thread.started":
		s.begin(f.text("thread_id"), line)
	case "item.completed":
		switch f.text("item.type") {
		case "agent_message":
			s.last = f.text("item.text")
			show("● " + s.last)
		case "command_execution":
			show(s.called("Bash", f.at("item")))
		case "file_change":
			for _, c := range f.list("item.changes") {
				show(s.called(c.text("kind"), map[string]any(c)) + " " + f.text("item.status"))
			}
		case "error": // a warning: the turn goes on
			show("! " + f.text("item.message"))
		}
	case "turn.completed": // cached tokens are among those of the input
		s.end(Result{Subtype: success, Text: s.last}, f.number("usage.input_tokens"), f.number("usage.output_tokens"))
	case "error", "turn.failed":
		s.end(Result{IsError: true, Text: cmp.Or(f.text("error.message"), f.text("message"))}, 0, 0)
	}
}
