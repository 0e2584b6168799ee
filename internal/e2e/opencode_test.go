//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fleet/internal/scriptapi"
	"fleet/roster"
)

// opencode lets the opencode of a world use the scripted API, and nothing else.
func (w *world) opencode() {
	w.t.Helper()
	config, err := json.Marshal(map[string]any{
		"model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-sonnet-4-5", "share": "disabled",
		"provider": map[string]any{"anthropic": map[string]any{
			"options": map[string]any{"baseURL": w.api.URL() + "/v1", "apiKey": dummyKey},
			"models":  map[string]any{"claude-sonnet-4-5": map[string]any{"name": "scripted", "tool_call": true}},
		}},
	})
	check(w.t, err)
	check(w.t, os.WriteFile(filepath.Join(w.home, "opencode.json"), config, 0o600))
}

// The real opencode, headless: the plugin denies it a file that another worker holds, by its own tool and by its shell,
// and lets it write what is free (CF-62, CF-80).
func TestOpencode(t *testing.T) {
	w := newWorld(t)
	w.opencode()
	write := func(name, text string) scriptapi.Turn {
		return call("write", map[string]any{"filePath": filepath.Join(w.repo, name), "content": text})
	}
	t1MayEnd, t2MayTry := make(chan struct{}), make(chan struct{})
	w.api.Script(key("T1"), write("new.txt", "from T1\n"), gated(scriptapi.Turn{Text: "T1 is done"}, t1MayEnd))
	w.api.Script(
		key("T2"), gated(write("new.txt", "lost\n"), t2MayTry), bash("echo lost >> new.txt"), scriptapi.Turn{Text: "new.txt is held"},
		call("read", map[string]any{"filePath": filepath.Join(w.repo, "new.txt")}), write("new.txt", "from T2\n"), bash("echo ran > shell.txt"), scriptapi.Turn{Text: "T2 is done"},
	)
	w.write("graph.yaml", "- {id: T1, title: write new.txt, priority: 5}\n- {id: T2, title: write it too, priority: 4, verify: test -f shell.txt}\n")
	w.fleet("load", "graph.yaml")
	go func() {
		w.until("T1 holds the file", held("new.txt", "WS01"))
		close(t2MayTry)
		w.until("T2 waits for it", func(s *roster.State) bool { return s.Task("T2").ErrorKind == roster.ErrVeto })
		close(t1MayEnd)
	}()
	out := w.fleet("run", "--runners", "2", "--brain", "opencode")
	for _, want := range []string{"DENIED new.txt: WS01 (T1) holds it", "2 of 2 tasks succeeded"} {
		if !strings.Contains(out, want) {
			t.Errorf("fleet run does not say %q:\n%s", want, out)
		}
	}
	if got := w.read("new.txt") + w.read("shell.txt"); got != "from T2\nran\n" {
		t.Errorf("the files hold %q", got)
	}
	if told := w.results("T2"); len(told) < 2 || !strings.Contains(told[0].Content, "held by WS01") || !strings.Contains(told[1].Content, "held by WS01") {
		t.Errorf("the model was told %+v", told)
	}
}

// An interactive opencode begins with its brief, and goes on with its next task at the end of a turn, in the same session; then it takes a message (MW-25).
func TestOpencodeOnScreen(t *testing.T) {
	w := newWorld(t)
	w.opencode()
	write := func(name string) scriptapi.Turn {
		return call("write", map[string]any{"filePath": filepath.Join(w.repo, name), "content": name})
	}
	w.api.Script(
		key("WS01"), write("one.txt"), scriptapi.Turn{Text: "one is done"}, write("two.txt"), scriptapi.Turn{Text: "two is done"},
		write("three.txt"), scriptapi.Turn{Text: "three is done"},
	)
	w.fleet("add", "WS01", "write one.txt", "--brain", "opencode")
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
}
