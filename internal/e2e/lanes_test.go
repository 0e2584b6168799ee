//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fleet/internal/scriptapi"
	"fleet/roster"
)

// treeWrite is a Write of Claude Code in the worktree of a lane.
func (w *world) treeWrite(lane, name, text string) scriptapi.Turn {
	return call("Write", map[string]any{"file_path": filepath.Join(w.dir.LaneTree(lane), name), "content": text})
}

// One plan over three real agents, each in a worktree of its own: a lane of Claude Code whose reply doesn't fit its
// schema and is repaired, one of Codex whose patch touches a file that the first one holds, is denied whole and done when that is free, and one of
// opencode; asked again, none of them is started (FF-1, FF-2, FF-13, FF-16, FF-30, FF-37, FF-45, FF-60, FF-63, FF-65, FF-66).
func TestLanes(t *testing.T) {
	w := newWorld(t)
	w.codex()
	w.opencode()
	claudeMayEnd, codexMayTry := make(chan struct{}), make(chan struct{})
	w.api.Script("LANE-CLAUDE",
		w.treeWrite("claude", "held.txt", "claude's\n"),
		gated(bash("git add held.txt && git commit -qm 'feat: held'"), claudeMayEnd),
		scriptapi.Turn{Text: "It is done, I think."},
	)
	w.api.Script("It is done, I think.", scriptapi.Turn{Text: "```json\n{\"ok\":true}\n```"})
	w.api.Script("LANE-CODEX",
		gated(patch("*** Add File: free.txt", "+codex's", "*** Add File: held.txt", "+lost"), codexMayTry),
		scriptapi.Turn{Text: "held.txt is held"}, // so it is asked again when that is free
		patch("*** Add File: free.txt", "+codex's", "*** Add File: held.txt", "+codex's"), scriptapi.Turn{Text: `{"ok":true}`},
	)
	w.api.Script("LANE-OPEN", call("write", map[string]any{"filePath": filepath.Join(w.dir.LaneTree("open"), "open.txt"), "content": "opencode's\n"}), scriptapi.Turn{Text: `{"ok":true}`})
	w.write("reply.json", `{"type":"object","required":["ok"],"additionalProperties":false,"properties":{"ok":{"type":"boolean"}}}`)
	w.write("plan.yaml", `
- {id: claude, brain: claude, prompt: LANE-CLAUDE write held.txt}
- {id: codex, brain: codex, prompt: LANE-CODEX write free.txt and held.txt}
- {id: open, brain: opencode, prompt: LANE-OPEN write open.txt}
`)
	go func() {
		w.until("claude's lane holds the file", held("held.txt", "WS01"))
		close(codexMayTry)
		w.until("codex's lane waits for it", func(s *roster.State) bool { t := s.Task("WS02"); return t != nil && t.ErrorKind == roster.ErrVeto })
		for _, name := range []string{"free.txt", "held.txt"} {
			if _, err := os.Stat(filepath.Join(w.dir.LaneTree("codex"), name)); err == nil {
				t.Errorf("of the patch that touches a held file, %s was written", name)
			}
		}
		close(claudeMayEnd)
	}()
	out := w.fleet("lane", "spawn", "--run", "shop", "--plan", "plan.yaml", "--schema", "reply.json", "--repair")
	for _, want := range []string{"claude ran", "codex ran", "open ran", "claude.2.result.json"} {
		if !strings.Contains(out, want) {
			t.Errorf("lane spawn does not say %q:\n%s", want, out)
		}
	}
	for _, id := range []string{"claude", "codex", "open"} {
		if got := strings.TrimSpace(w.fleet("lane", "collect", "--run", "shop", id)); got != `{"ok":true}` {
			t.Errorf("the result of %s is %q", id, got)
		}
	}
	for path, want := range map[string]string{"claude/held.txt": "claude's\n", "codex/free.txt": "codex's\n", "open/open.txt": "opencode's\n"} {
		id, name, _ := strings.Cut(path, "/")
		if text, err := os.ReadFile(filepath.Join(w.dir.LaneTree(id), name)); string(text) != want {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
	}
	if got := strings.TrimSpace(w.must("git", "log", "-1", "--format=%s", "fleetflow/shop/claude")); got != "feat: held" {
		t.Errorf("the branch of the lane ends in %q", got)
	}
	if text, err := os.ReadFile(w.dir.File("lanes/claude.1.transcript.jsonl")); err != nil || !strings.Contains(string(text), "LANE-CLAUDE") {
		t.Errorf("the transcript of Claude Code is not kept: %v", err)
	}

	out = w.fleet("lane", "resume", "--run", "shop")
	if strings.Count(out, `"status": "cached"`) != 3 || len(w.events(roster.WorkerSpawned)) != 4 {
		t.Errorf("asked again, agents were started:\n%s", out)
	}
}

// What a lane writes outside of its worktree is refused by its hooks, and what gets past them is found (FF-68, FF-69).
func TestLaneEscapes(t *testing.T) {
	w := newWorld(t)
	w.api.Script("LANE-OUT",
		w.writeTool("shared.txt", "lost\n"), bash("python3 -c \"open('"+filepath.Join(w.repo, "stray.txt")+"','w').write('x')\""), scriptapi.Turn{Text: "done"})
	w.write("out.md", "LANE-OUT write elsewhere")
	w.must("git", "add", "out.md")
	w.must("git", "commit", "-qm", "the prompt")
	w.fleet("lane", "spawn", "--run", "shop", "--id", "out", "--prompt-file", "out.md")
	if got := w.read("shared.txt"); got != "start\n" {
		t.Errorf("the lane wrote %q into the main checkout", got)
	}
	out, code := w.run(nil, w.exe, "check-main")
	if code != 12 || !strings.Contains(out, "stray.txt\tnew") {
		t.Errorf("check-main: exit %d\n%s", code, out)
	}
}
