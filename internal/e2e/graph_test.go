//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"fleet/internal/scriptapi"
	"fleet/roster"
)

// A graph of three tasks through two headless Claude Code workers, in the sealed
// profile: T2 is denied the file that T1 holds, is tried again when T1 has ended, and
// succeeds; T3 waits for both (CF-47, CF-73, CF-75, CF-80, CF-112, CF-115, CF-116, CF-117, CF-120, CF-122).
func TestGraphThroughTwoWorkers(t *testing.T) {
	w := newWorld(t)
	t1MayEnd, t2MayTry := make(chan struct{}), make(chan struct{})
	w.api.Script(key("T1"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from T1\n"), gated(scriptapi.Turn{Text: "T1 is done"}, t1MayEnd))
	w.api.Script(key("T2"),
		gated(w.readTool("shared.txt"), t2MayTry), w.writeTool("shared.txt", "lost\n"), scriptapi.Turn{Text: "shared.txt is held"},
		w.readTool("shared.txt"), w.writeTool("shared.txt", "from T1\nfrom T2\n"), scriptapi.Turn{Text: "T2 is done"},
	)
	w.api.Script(key("T3"), bash("echo no > bash.txt"), w.writeTool("three.txt", "3\n"), scriptapi.Turn{Text: "T3 is done"})
	w.write("graph.yaml", `
- {id: T1, title: write shared.txt, priority: 5, scope: [shared.txt]}
- {id: T2, title: "write it, too", priority: 4, scope: [other.txt]}
- {id: T3, title: the rest, depends_on: [T1, T2], verify: test -f three.txt}
`)
	w.fleet("load", "graph.yaml")
	go func() {
		w.until("T1 holds the file", held("shared.txt", "WS01"))
		close(t2MayTry)
		w.until("T2 waits for it", func(s *roster.State) bool { return s.Task("T2").ErrorKind == roster.ErrVeto })
		close(t1MayEnd)
	}()
	out := w.fleet("run", "--runners", "2", "--verify", "grep -q 'from T2' shared.txt")
	for _, want := range []string{"DENIED shared.txt: WS01 (T1) holds it", "3 of 3 tasks succeeded · 1 denied write"} {
		if !strings.Contains(out, want) {
			t.Errorf("fleet run does not say %q:\n%s", want, out)
		}
	}
	if got := w.read("shared.txt"); got != "from T1\nfrom T2\n" {
		t.Errorf("shared.txt = %q", got)
	}
	if _, err := os.Stat(w.repo + "/bash.txt"); err == nil {
		t.Error("a sealed worker has used Bash")
	}
	w.until("each was counted", func(s *roster.State) bool {
		t1, t2 := s.Task("T1"), s.Task("T2")
		return t1.Attempts == 1 && t2.Attempts == 2 && slices.Equal(t2.Scope, []string{"other.txt", "shared.txt"}) &&
			t1.InputTokens > 0 && t1.CostUSD > 0 && t1.SessionID != ""
	})
	var report struct {
		OK    bool           `json:"ok"`
		Wrote []string       `json:"files_written"`
		Init  map[string]any `json:"init"`
	}
	text, err := os.ReadFile(w.dir.Result("T2", 2))
	check(t, err)
	check(t, json.Unmarshal(text, &report))
	if !report.OK || !slices.Equal(report.Wrote, []string{"shared.txt"}) || report.Init["permissionMode"] != "dontAsk" {
		t.Errorf("the report of T2: %s", text)
	}
	if tools, _ := report.Init["tools"].([]any); slices.Contains(tools, any("Bash")) || !slices.Contains(tools, any("Write")) {
		t.Errorf("a sealed session has the tools %v", tools)
	}
}

// An interactive worker whose turn ends goes on with its next task in the same
// session, by its Stop hook (MW-25, MW-32), is sent back by a check that fails, and
// one that is idle begins at once what is added (MW-33).
func TestQueueInOneSession(t *testing.T) {
	w := newWorld(t)
	w.api.Script(key("WS01"),
		w.writeTool("one.txt", "1\n"), scriptapi.Turn{Text: "one is done"},
		w.writeTool("two.txt", "nearly\n"), scriptapi.Turn{Text: "two is done"},
		w.readTool("two.txt"), w.writeTool("two.txt", "2\n"), scriptapi.Turn{Text: "now two is done"},
		w.writeTool("three.txt", "3\n"), scriptapi.Turn{Text: "three is done"},
	)
	w.fleet("add", "WS01", "write one.txt")
	w.fleet("task", "add", "ws01", "write two.txt", "--verify", "grep 2 two.txt")
	w.fleet("spawn", "WS01")
	w.until("both are done", status("WS01", roster.Done))
	var sessions []string
	check(t, w.dir.View(t.Context(), func(s *roster.State) error {
		for _, id := range []string{"WS01", "WS01.2"} {
			task := s.Task(id)
			if task.Status != roster.TaskDone {
				t.Errorf("%s is %s", id, task.Status)
			}
			sessions = append(sessions, task.SessionID)
		}
		return nil
	}))
	if sessions[0] == "" || sessions[0] != sessions[1] {
		t.Errorf("the sessions of the two tasks are %q, want one", sessions)
	}
	if n := len(w.events(roster.CheckFailed)); n != 1 {
		t.Errorf("%d checks failed, want 1", n)
	}
	if n := len(w.events(roster.PromptSubmitted)); n != 1 {
		t.Errorf("%d prompts were typed, want 1", n)
	}
	w.fleet("task", "add", "WS01", "write three.txt")
	w.until("the third is done", func(s *roster.State) bool {
		task := s.Task("WS01.3")
		return task != nil && task.Status == roster.TaskDone
	})
	if got := w.read("three.txt"); got != "3\n" {
		t.Errorf("three.txt = %q", got)
	}
}
