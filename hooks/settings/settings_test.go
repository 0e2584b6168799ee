package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const exe = "/opt/it's here/fleet"

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The three belts stand in the file that a worker starts with, each event over a list of lists (CF-119, MW-20, MW-21; DESIGN 5, AGENTS-FACTS 1.4, 1.6).
func TestWorkerSettings(t *testing.T) {
	text, err := Worker(exe, "WS01", time.Minute)
	check(t, err)
	var got struct {
		DisableAllHooks *bool
		Permissions     struct {
			DefaultMode string
			Allow       []string
		}
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Type, Command, OnFailure string
				Timeout                  int
			}
		}
	}
	check(t, json.Unmarshal(text, &got))
	if got.DisableAllHooks == nil || *got.DisableAllHooks {
		t.Error("disableAllHooks must be false, in words")
	}
	if got.Permissions.DefaultMode != "dontAsk" {
		t.Errorf("defaultMode %q: silence must be a no", got.Permissions.DefaultMode)
	}
	for _, tool := range got.Permissions.Allow {
		if strings.Contains("|"+writeTools+"|Monitor|", "|"+tool+"|") {
			t.Errorf("%s is allowed past the hook", tool)
		}
	}
	pre := got.Hooks["PreToolUse"][0]
	if pre.Matcher != "Write|Edit|MultiEdit|NotebookEdit|Bash" {
		t.Errorf("matcher %q (CF-69)", pre.Matcher)
	}
	if h := pre.Hooks[0]; h.Command != `'/opt/it'\''s here/fleet' hook pre-tool-use WS01 || exit 2` || h.OnFailure != "block" || h.Timeout != 30 {
		t.Errorf("write check: %+v", h)
	}
	for _, event := range []string{
		"PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "StopFailure", "Notification", "SessionStart", "SessionEnd", "PreCompact",
	} {
		if len(got.Hooks[event]) != 1 {
			t.Errorf("%s has no hook", event)
		}
	}
}

const users = `{
  "env": {"A": "<b> & c"},
  "big": 12345678901234567890,
  "hooks": {
    "PreToolUse": [
      {"matcher": "Write", "hooks": [{"type": "command", "command": "'/usr/bin/mine' hook x"}]},
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "'/old/fleet' hook pre-tool-use || exit 2"},
        {"type": "command", "command": "echo mine"}
      ]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  }
}`

func repository(t *testing.T, local string) (root, path string) {
	t.Helper()
	root = t.TempDir()
	path = filepath.Join(root, Local)
	if local != "" {
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(local), 0o644))
	}
	return root, path
}

func read1(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// MW-47: installed once, whatever else stands there kept, removed without a trace.
func TestInstallIsIdempotentAndKeepsTheRest(t *testing.T) {
	root, path := repository(t, users)
	_, err := Install(root, exe)
	check(t, err)
	once := read1(t, path)
	_, err = Install(root, exe)
	check(t, err)
	if diff := cmp.Diff(once, read1(t, path)); diff != "" {
		t.Errorf("a second install changes the file:\n%s", diff)
	}
	commands, err := Installed(root)
	check(t, err)
	if len(commands) != 1 || Program(commands[0]) != exe {
		t.Errorf("installed: %q", commands)
	}
	for _, kept := range []string{"'/usr/bin/mine' hook x", "echo mine", "say done", "<b> & c", "12345678901234567890"} {
		if !strings.Contains(once, kept) {
			t.Errorf("%s is gone from\n%s", kept, once)
		}
	}
	if strings.Contains(once, "/old/fleet") {
		t.Error("an earlier installation stands beside the new one")
	}
	_, err = Remove(root)
	check(t, err)
	if got := read1(t, path); strings.Contains(got, exe) || !strings.Contains(got, "echo mine") {
		t.Errorf("after remove:\n%s", got)
	}
}

func TestInstallIntoNothing(t *testing.T) {
	root, _ := repository(t, "")
	if commands, err := Installed(root); err != nil || len(commands) != 0 {
		t.Errorf("Installed = %q, %v", commands, err)
	}
	_, err := Install(root, exe)
	check(t, err)
	if commands, err := Installed(root); err != nil || len(commands) != 1 {
		t.Errorf("Installed = %q, %v", commands, err)
	}
}

// What can't be read is left alone.
func TestInstallRefusesWhatItCannotRead(t *testing.T) {
	for _, broken := range []string{`{"hooks":`, `[]`, `null`, `{"hooks":[]}`, `{"hooks":{"PreToolUse":{}}}`, `{} trailing`} {
		root, path := repository(t, broken)
		if _, err := Install(root, exe); err == nil {
			t.Errorf("%s: installed", broken)
		}
		if got := read1(t, path); got != broken {
			t.Errorf("%s became %s", broken, got)
		}
	}
}
