//go:build e2e

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"fleet/hooks/settings"
	"fleet/internal/scriptapi"
	"fleet/roster"
)

// Two interactive workers and one file: the write of the second, by the tool and
// by the shell, is denied while the first holds it; the file is the first one's;
// after its turn the second one is called again, and goes through (CF-62..75, CFN-69).
func TestTwoInteractiveWorkersOneFile(t *testing.T) {
	w := newWorld(t)
	aMayEnd, bMayTry := make(chan struct{}), make(chan struct{})
	w.api.Script(key("WS01"),
		w.readTool("shared.txt"),
		w.writeTool("shared.txt", "from A\n"),
		gated(scriptapi.Turn{Text: "A is done"}, aMayEnd),
	)
	w.api.Script(key("WS02"),
		gated(w.readTool("shared.txt"), bMayTry),
		w.writeTool("shared.txt", "from B\n"),
		bash("echo from B > shared.txt"),
		bash("git stash"),
		scriptapi.Turn{Text: "I wait for shared.txt"},
		w.readTool("shared.txt"),
		w.writeTool("shared.txt", "from A\nfrom B\n"),
		scriptapi.Turn{Text: "B is done"},
	)
	w.fleet("add", "WS01", "write shared.txt first")
	w.fleet("add", "WS02", "write shared.txt second")
	w.fleet("spawn", "WS01", "WS02")
	w.until("A holds the file", held("shared.txt", "WS01"))
	check(t, w.api.Await(t.Context(), key("WS01"), 3))
	close(bMayTry)
	w.until("B waits for A", status("WS02", roster.Blocked))
	if got := w.read("shared.txt"); got != "from A\n" {
		t.Errorf("while A holds it, shared.txt = %q", got)
	}
	denied := w.results("WS02")[1:4]
	for i, want := range []string{"held by WS01", "held by WS01", "git stash"} {
		if !denied[i].IsError || !strings.Contains(denied[i].Content, want) {
			t.Errorf("call %d of B: error %v, told %q; want a denial that says %q", i, denied[i].IsError, denied[i].Content, want)
		}
	}
	close(aMayEnd)
	w.until("A is done", status("WS01", roster.Done))
	w.fleet("commit", "WS01", "-m", "write the first line")
	w.until("B was called again and is done", status("WS02", roster.Done))
	if out := w.fleet("send", "WS01", "thank you"); !strings.HasPrefix(out, "delivered\n") {
		t.Errorf("send: %q", out)
	}
	if got := w.read("shared.txt"); got != "from A\nfrom B\n" {
		t.Errorf("at the end, shared.txt = %q", got)
	}
	w.fleet("commit", "WS02", "-m", "write the second line")
	w.until("nothing is held", func(s *roster.State) bool {
		for range s.Leases.All() {
			return false
		}
		return true
	})
}

// The same headless: claude -p is denied, says so, and gets its task again when the file is free (CF-75, CF-114).
func TestHeadlessWorkerIsDenied(t *testing.T) {
	w := newWorld(t)
	aMayEnd := make(chan struct{})
	w.api.Script(key("WS01"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from A\n"), gated(scriptapi.Turn{Text: "A is done"}, aMayEnd))
	w.api.Script(key("WS02"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from B\n"), w.writeTool("own.txt", "B\n"), scriptapi.Turn{Text: "B had to wait"},
		w.readTool("shared.txt"), w.writeTool("shared.txt", "from A\nfrom B\n"), scriptapi.Turn{Text: "B is done"})
	w.fleet("add", "WS01", "write shared.txt")
	w.fleet("add", "WS02", "write shared.txt, too")
	w.fleet("spawn", "WS01")
	w.until("A holds the file", held("shared.txt", "WS01"))
	check(t, w.api.Await(t.Context(), key("WS01"), 3))
	w.fleet("spawn", "WS02", "--headless")
	w.until("B waits for A", func(s *roster.State) bool { return s.Task("WS02").ErrorKind == roster.ErrVeto })
	if got := w.read("shared.txt"); got != "from A\n" {
		t.Errorf("shared.txt = %q", got)
	}
	if got := w.read("own.txt"); got != "B\n" {
		t.Errorf("own.txt = %q: what nobody holds may be written", got)
	}
	close(aMayEnd)
	w.until("A is done", status("WS01", roster.Done))
	w.fleet("commit", "WS01", "-m", "write it", "--force-with-note") // own.txt is nobody's by now
	w.until("B has ended", func(*roster.State) bool { return len(w.events(roster.WorkerExited)) == 1 })
	if e := w.events(roster.WorkerExited)[0]; e.Data["code"] != float64(0) {
		t.Errorf("the headless worker ended with %v", e.Data)
	}
	if got := w.read("shared.txt"); got != "from A\nfrom B\n" {
		t.Errorf("at the end, shared.txt = %q", got)
	}
}

// A worker that switches all hooks off in the repository's settings stays gated:
// the visible way is refused, and the hidden one changes nothing.
func TestDisableAllHooksDoesNotOpenTheGate(t *testing.T) {
	w := newWorld(t)
	aMayEnd := make(chan struct{})
	w.api.Script(key("WS01"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from A\n"), gated(scriptapi.Turn{Text: "A is done"}, aMayEnd))
	hide := `python3 -c "import os; os.makedirs('.claude', exist_ok=True); [open('.claude/'+n,'w').write('{\"disableAllHooks\":true}') for n in ('settings.json','settings.local.json')]"`
	w.api.Script(key("WS02"),
		w.readTool("shared.txt"),
		bash(`mkdir -p .claude; echo '{"disableAllHooks":true}' > .claude/settings.json`),
		bash(hide),
		w.writeTool("shared.txt", "from B\n"),
		bash("cp own.txt shared.txt"),
		scriptapi.Turn{Text: "the gate stands"},
	)
	w.fleet("add", "WS01", "write shared.txt")
	w.fleet("add", "WS02", "get round the gate")
	w.fleet("spawn", "WS01")
	w.until("A holds the file", held("shared.txt", "WS01"))
	check(t, w.api.Await(t.Context(), key("WS01"), 3))
	w.fleet("spawn", "WS02")
	w.until("B waits for A", status("WS02", roster.Blocked))
	if got := w.read(".claude/settings.json"); !strings.Contains(got, "disableAllHooks") {
		t.Fatalf("the test did not switch the hooks off: %q", got)
	}
	if got := w.read("shared.txt"); got != "from A\n" {
		t.Errorf("with all hooks switched off in the repository, shared.txt = %q", got)
	}
	results := w.results("WS02")
	if !results[1].IsError {
		t.Errorf("the visible write of agent settings was not refused: %q", results[1].Content)
	}
	close(aMayEnd)
	w.until("A is done", status("WS01", roster.Done))
}

// A worker that is killed frees its file and is fenced (CF-55, CF-57): by its
// wrapper if the agent dies, by tmux if the wrapper does.
func TestKilledWorkerFreesItsFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		victim func(w *world) int
	}{
		{"agent", func(w *world) int { return child(w.t, w.dir.LivePID("WS01")) }},
		{"wrapper", func(w *world) int { return w.dir.LivePID("WS01") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.api.Script(key("WS01"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from A\n"), gated(scriptapi.Turn{Text: "never"}, make(chan struct{})))
			w.fleet("add", "WS01", "write shared.txt")
			w.fleet("spawn", "WS01")
			w.until("A holds the file", held("shared.txt", "WS01"))
			before, err := w.dir.Workstream(t.Context(), "WS01")
			check(t, err)
			check(t, syscall.Kill(c.victim(w), syscall.SIGKILL))
			w.until("A is dead", status("WS01", roster.Dead))
			w.until("its file is free", func(s *roster.State) bool { _, held := s.Leases.Get("shared.txt"); return !held })
			zombie := []string{"FLEET_RUN_DIR=" + w.dir.Path, "FLEET_WS=WS01", "FLEET_EPOCH=" + itoa(before.Epoch)}
			if out := w.hook(zombie, "WS01", w.repo+"/shared.txt"); !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "no longer the worker") {
				t.Errorf("a zombie's write check answered %q", out)
			}
			w.fleet("up", "WS01") // MW-38: it goes on with its own conversation
			w.until("the conversation goes on", func(s *roster.State) bool {
				row, err := s.Workstream("WS01")
				return err == nil && row.Epoch > before.Epoch && row.SessionID == before.SessionID
			})
		})
	}
}

// The settings that a worker starts with load without a complaint, and a start
// that meets a dialog is reported, not answered.
func TestTrustDialogIsReported(t *testing.T) {
	w := newWorld(t)
	check(t, os.WriteFile(w.home+"/config/.claude.json", []byte(`{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["`+dummyKey+`"],"rejected":[]}}`), 0o600))
	w.fleet("add", "WS01", "start")
	out, code := w.run(nil, w.exe, "spawn", "WS01")
	if code != 10 || !strings.Contains(out, "trust dialog") {
		t.Errorf("spawn at a trust dialog: exit %d\n%s", code, out)
	}
	w.until("it is reported", status("WS01", roster.Blocked))
	if out, code := w.run(nil, w.exe, "send", "WS01", "hello"); code != 66 {
		t.Errorf("send into a dialog: exit %d\n%s", code, out)
	}
	w.fleet("stop", "WS01")
	w.api.Script(key("WS01"), scriptapi.Turn{Text: "up"})
	w.fleet("spawn", "WS01", "--trust")
	w.until("it is done", status("WS01", roster.Done))
}

// An audit after the shell finds a write that the line did not show (CF-2, PAINS 88).
func TestHiddenShellWriteIsFound(t *testing.T) {
	w := newWorld(t)
	aMayEnd := make(chan struct{})
	w.api.Script(key("WS01"), w.readTool("shared.txt"), w.writeTool("shared.txt", "from A\n"), gated(scriptapi.Turn{Text: "A is done"}, aMayEnd))
	w.api.Script(key("WS02"), bash(`python3 -c "open('shared.txt','a').write('from B')"`), scriptapi.Turn{Text: "done"})
	w.fleet("add", "WS01", "write shared.txt")
	w.fleet("add", "WS02", "write it in a hidden way")
	w.fleet("spawn", "WS01")
	check(t, w.api.Await(t.Context(), key("WS01"), 3))
	w.fleet("spawn", "WS02")
	w.until("B is done", status("WS02", roster.Done))
	if found := w.events(roster.ForeignWriteFound); len(found) != 1 || found[0].Data["path"] != "shared.txt" || found[0].Data["holder"] != "WS01" {
		t.Errorf("foreign writes found: %v", found)
	}
	told := false
	for _, r := range w.api.Requests(key("WS02")) {
		told = told || strings.Contains(strings.Join(r.Texts, "\n"), "WS01 holds it")
	}
	if !told {
		t.Errorf("the agent was not told what it did: %+v", w.api.Requests(key("WS02")))
	}
	close(aMayEnd)
	w.until("A is done", status("WS01", roster.Done))
}

// fleet doctor --live shows a denial on the real agent.
func TestDoctorLive(t *testing.T) {
	w := newWorld(t)
	if out := w.fleet("doctor", "--live"); !strings.Contains(out, "live-denial\tok\t") {
		t.Errorf("doctor --live:\n%s", out)
	}
}

// The settings generated for a worker are the ones whose failures are tried below.
func TestGeneratedSettingsNameThisProgram(t *testing.T) {
	w := newWorld(t)
	w.fleet("add", "WS01", "nothing")
	w.fleet("spawn", "WS01", "--no-tmux")
	commands, err := settings.Commands(w.dir.HookSettings("WS01"))
	check(t, err)
	for _, c := range commands {
		if settings.Program(c) != w.exe {
			t.Errorf("hook %q does not call %s", c, w.exe)
		}
	}
}
