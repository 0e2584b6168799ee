//go:build e2e

package scriptapi

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fleet/internal/proc"
)

// gate denies every write to a file called held.txt and allows the rest.
const gate = `{
  "disableAllHooks": false,
  "hooks": {"PreToolUse": [{"matcher": "Write|Edit|NotebookEdit|Bash", "hooks": [{
    "type": "command", "onFailure": "block", "timeout": 30,
    "command": "case $(cat) in *held.txt*) d=deny;; *) d=allow;; esac; printf '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"%s\",\"permissionDecisionReason\":\"held by WS02\"}}' $d"
  }]}]}
}`

// claude runs the real program, offline, on one prompt in a directory.
func claude(t *testing.T, s *Server, dir, prompt string) {
	t.Helper()
	program := os.Getenv("FLEET_E2E_CLAUDE")
	if program == "" {
		t.Fatal("FLEET_E2E_CLAUDE must name a Claude Code program")
	}
	home := t.TempDir()
	settings := filepath.Join(home, "settings.json")
	if err := os.WriteFile(settings, []byte(gate), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := proc.Run(ctx, proc.Cmd{
		Args: []string{program, "-p", prompt, "--permission-mode", "dontAsk", "--settings", settings},
		Dir:  dir,
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "TMPDIR=" + home, "LANG=C.UTF-8",
			"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=sk-ant-dummy",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", "DISABLE_AUTOUPDATER=1",
		},
	})
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func write(path string) Turn {
	return Turn{Tools: []Tool{{Name: "Write", Input: map[string]any{"file_path": path, "content": "x\n"}}}}
}

// lastResult is what the model was told about the last call of a conversation.
func lastResult(t *testing.T, s *Server, key string) Result {
	t.Helper()
	all := s.Requests(key)
	if len(all) == 0 || len(all[len(all)-1].Results) == 0 {
		t.Fatalf("%q: no result among %d requests", key, len(all))
	}
	return all[len(all)-1].Results[0]
}

func TestTwoAgentsOnOneServer(t *testing.T) {
	s, dir := start(t), t.TempDir()
	held, free := filepath.Join(dir, "held.txt"), filepath.Join(dir, "free.txt")
	s.Script("briefs/WS01.md", write(held), Turn{Text: "denied"})
	s.Script("briefs/WS02.md", write(free), Turn{Text: "written"})
	// What the project says to all must not tell one from the other.
	if err := os.WriteFile(filepath.Join(dir, "CLAUDE.md"), []byte("WS02 is briefs/WS02.md\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	var group sync.WaitGroup
	group.Go(func() { claude(t, s, dir, "read briefs/WS01.md and start") })
	group.Go(func() { claude(t, s, dir, "read briefs/WS02.md and start") })
	group.Wait()

	if got := lastResult(t, s, "briefs/WS01.md"); !got.IsError || !strings.Contains(got.Content, "held by WS02") {
		t.Errorf("WS01 was told %+v", got)
	}
	if got := lastResult(t, s, "briefs/WS02.md"); got.IsError {
		t.Errorf("WS02 was told %+v", got)
	}
	if _, err := os.Stat(held); err == nil {
		t.Error("the denied file was written")
	}
	if _, err := os.Stat(free); err != nil {
		t.Error(err)
	}
}

func TestSubagentHasTurnsOfItsOwn(t *testing.T) {
	s, dir := start(t), t.TempDir()
	held := filepath.Join(dir, "held.txt")
	s.Script("briefs/WS01.md",
		Turn{Tools: []Tool{{Name: "Agent", Input: map[string]any{
			"description": "part", "subagent_type": "general-purpose", "prompt": "do your part of briefs/WS01.md",
		}}}},
		Turn{Text: "waiting"}, Turn{Text: "done"})
	s.Script(Subagent+"your part", write(held), Turn{Text: "denied"})

	claude(t, s, dir, "read briefs/WS01.md and start")

	if got := lastResult(t, s, Subagent+"your part"); !got.IsError || !strings.Contains(got.Content, "held by WS02") {
		t.Errorf("the subagent was told %+v", got)
	}
	if n := len(s.Requests("briefs/WS01.md")); n != 3 {
		t.Errorf("%d requests of the agent, want 3", n)
	}
}
