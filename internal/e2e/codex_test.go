//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fleet/internal/scriptapi"
	"fleet/roster"
)

// codex lets the codex of a world use the scripted API. A model that it doesn't know gets no tool for patches.
func (w *world) codex() {
	w.t.Helper()
	w.api.Speak("/v1/responses", responses)
	config := fmt.Sprintf(`
model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "CODEX_TEST_KEY"
[notice.model_migrations] # the dialog of a new model has been answered
"gpt-5.5" = "gpt-6-sol"
`, w.api.URL())
	check(w.t, os.MkdirAll(filepath.Join(w.home, "codex"), 0o700))
	check(w.t, os.WriteFile(filepath.Join(w.home, "codex/config.toml"), []byte(config), 0o600))
}

func patch(lines ...string) scriptapi.Turn {
	text := "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
	return scriptapi.Turn{Tools: []scriptapi.Tool{{Name: "apply_patch", Input: freeform(text)}}}
}

func command(line string) scriptapi.Turn { return call("exec_command", map[string]any{"cmd": line}) }

// A graph through two headless workers of the real Codex: a patch that touches a file which another worker holds is
// denied whole, so is a shell line that would write it, and the sandbox keeps what no hook can see inside the checkout
// (CF-68, FF-40 by intent, FF-45, FF-46, FF-48 by intent).
func TestCodex(t *testing.T) {
	w := newWorld(t)
	w.codex()
	t1MayEnd, t2MayTry := make(chan struct{}), make(chan struct{})
	w.api.Script(
		key("T1"), patch("*** Update File: shared.txt", "@@", "-start", "+from T1"),
		gated(scriptapi.Turn{Text: "T1 is done"}, t1MayEnd),
	)
	mixed := patch("*** Add File: new.txt", "+from T2", "*** Update File: shared.txt", "@@", "-from T1", "+from T2")
	w.api.Script(
		key("T2"), gated(mixed, t2MayTry), command("echo lost >> shared.txt"), scriptapi.Turn{Text: "shared.txt is held"},
		mixed, command("python3 -c \"open('"+w.home+"/../fleet-escaped','w')\"; echo ran > shell.txt"), scriptapi.Turn{Text: "T2 is done"},
	)
	w.write("graph.yaml", "- {id: T1, title: write shared.txt, priority: 5}\n- {id: T2, title: write both, priority: 4, verify: test -f shell.txt}\n")
	w.fleet("load", "graph.yaml")
	go func() {
		w.until("T1 holds the file", held("shared.txt", "WS01"))
		close(t2MayTry)
		w.until("T2 waits for it", func(s *roster.State) bool { return s.Task("T2").ErrorKind == roster.ErrVeto })
		if _, err := os.Stat(filepath.Join(w.repo, "new.txt")); err == nil {
			t.Error("half of a patch that was denied has been written")
		}
		close(t1MayEnd)
	}()
	out := w.fleet("run", "--runners", "2", "--brain", "codex")
	for _, want := range []string{"DENIED shared.txt: WS01 (T1) holds it", "2 of 2 tasks succeeded"} {
		if !strings.Contains(out, want) {
			t.Errorf("fleet run does not say %q:\n%s", want, out)
		}
	}
	if got := w.read("shared.txt") + w.read("new.txt"); got != "from T2\nfrom T2\n" {
		t.Errorf("the files hold %q", got)
	}
	var told []string
	for _, r := range w.results("T2") {
		told = append(told, r.Content)
	}
	if len(told) != 4 || !strings.Contains(told[0], "held by WS01") || !strings.Contains(told[1], "held by WS01") || !strings.Contains(told[3], "Read-only file system") {
		t.Errorf("the model was told\n%s", strings.Join(told, "\n---\n"))
	}
	w.until("it was counted", func(s *roster.State) bool {
		task := s.Task("T2")
		return task.Attempts == 2 && task.SessionID != "" && task.InputTokens > 0
	})
}

// An interactive Codex begins with its brief, goes on with its next task at the end of a turn, in the same session, and takes a message (MW-25, CFN-74 by intent, CFN-75).
func TestCodexOnScreen(t *testing.T) {
	w := newWorld(t)
	w.codex()
	w.api.Script(
		key("WS01"), patch("*** Add File: one.txt", "+1"), scriptapi.Turn{Text: "one is done"},
		patch("*** Add File: two.txt", "+2"), scriptapi.Turn{Text: "two is done"},
		patch("*** Add File: three.txt", "+3"), scriptapi.Turn{Text: "three is done"},
	)
	w.fleet("add", "WS01", "write one.txt", "--brain", "codex")
	w.fleet("task", "add", "WS01", "write two.txt")
	w.fleet("spawn", "WS01", "--trust")
	w.until("both are done", status("WS01", roster.Done))
	if out := w.fleet("send", "WS01", "now write three.txt"); !strings.Contains(out, "delivered") {
		t.Errorf("the message: %s", out)
	}
	w.until("the message was worked off", func(*roster.State) bool {
		_, err := os.Stat(filepath.Join(w.repo, "three.txt"))
		return err == nil
	})
	if got := w.read("one.txt") + w.read("two.txt") + w.read("three.txt"); got != "1\n2\n3\n" {
		t.Errorf("the files hold %q", got)
	}
	w.until("one session did it", func(s *roster.State) bool {
		row, err := s.Workstream("WS01")
		return err == nil && s.Task("WS01").SessionID != "" && s.Task("WS01").SessionID == s.Task("WS01.2").SessionID && row.SessionID == s.Task("WS01").SessionID
	})
}

// A Codex whose service takes no more of it is parked until the time that it says, and its task loses no attempt (PAINS 111, 112, 113).
func TestCodexAtItsLimit(t *testing.T) {
	w := newWorld(t)
	w.codex()
	limit := scriptapi.Turn{Status: 429, ErrorType: "usage_limit_reached", Text: "The usage limit has been reached"}
	w.api.Script(key("WS01"), limit)
	w.fleet("add", "WS01", "write one.txt", "--brain", "codex")
	w.fleet("spawn", "WS01", "--headless")
	w.until("it is parked", func(s *roster.State) bool {
		row, err := s.Workstream("WS01")
		return err == nil && row.Parked() && row.ParkedUntil.After(time.Now())
	})
	if out := w.fleet("watch", "--once"); !strings.Contains(out, "LIMIT WS01 ") {
		t.Errorf("fleet watch says %q", out)
	}
	w.until("its task waits", func(s *roster.State) bool {
		task := s.Task("WS01")
		return task.Status == roster.TaskPending && task.MaxAttempts == task.Attempts+roster.DefaultMaxAttempts
	})
}
