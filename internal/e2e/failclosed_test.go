//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fleet/internal/agent"
	"fleet/internal/scriptapi"
	"fleet/roster"
)

// Whatever becomes of the hook's program, a write that it did not allow in words
// does not happen. Each row replaces the program behind the settings that fleet
// generated, and lets the real agent try to write (CF-119). CF-113: no rule that allows the tool outweighs a denial.
func TestBrokenHookBlocksTheWrite(t *testing.T) {
	const denyJSON = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for _, c := range []struct {
		name, script string // the script runs for the write check; the other hooks stay silent
		writes       bool
		rule         bool // the repository's settings allow the tool
	}{
		{name: "says allow", script: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`, writes: true},
		{name: "says deny", script: "echo '" + denyJSON + "'"},
		{name: "says deny where a rule allows", script: "echo '" + denyJSON + "'", rule: true},
		{name: "is gone"},
		{name: "exits 1", script: "exit 1"},
		{name: "exits 2", script: "echo no >&2; exit 2"},
		{name: "is killed", script: "kill -9 $$"},
		{name: "outlives its time", script: "exec sleep 300"},
		{name: "prints garbage", script: "echo '{garbage'"},
		{name: "prints text", script: "echo hello"},
		{name: "prints nothing", script: "exit 0"},
		{name: "prints an empty object", script: "echo '{}'"},
		{name: "prints a line before its answer", script: "echo log; echo '" + denyJSON + "'"},
		{name: "prints invalid JSON", script: `echo '{"a":1,}'`},
		{name: "misspells its answer", script: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}}'`},
		{name: "answers at the top level", script: `echo '{"permissionDecision":"deny"}'`},
		{name: "asks to stop", script: `echo '{"continue":false,"stopReason":"x"}'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.exe = filepath.Join(w.home, "fleet")
			check(t, os.Link(fleetBin, w.exe)) // a copy could still be open for writing in a child that a parallel test forks
			w.fleet("add", "WS01", "try to write")
			w.fleet("spawn", "WS01", "--no-tmux")
			replace(t, w.exe, c.script)
			if c.rule {
				check(t, os.Mkdir(filepath.Join(w.repo, ".claude"), 0o755))
				w.write(".claude/settings.json", `{"permissions":{"allow":["Write"]}}`)
			}
			w.api.Script(key("WS01"), w.writeTool("new.txt", "written\n"), scriptapi.Turn{Text: "tried"})
			w.runAgent("WS01")
			_, err := os.Stat(filepath.Join(w.repo, "new.txt"))
			if written := err == nil; written != c.writes {
				t.Errorf("written: %v, want %v; the model was told %+v", written, c.writes, w.results("WS01"))
			}
			if n := len(w.results("WS01")); n == 0 && c.name != "asks to stop" {
				t.Errorf("the agent never tried")
			}
			w.exe = fleetBin // for the clean-up
		})
	}
}

// runAgent runs the agent of a workstream headless, exactly as its pane would.
func (w *world) runAgent(ws string) {
	w.t.Helper()
	row, err := w.dir.Workstream(w.t.Context(), ws)
	check(w.t, err)
	brain, err := agent.Find("claude")
	check(w.t, err)
	c, err := brain.Command(w.t.Context(), w.exe, agent.Job{
		Name: ws, Mode: roster.Headless, Settings: w.dir.HookSettings(ws), Prompt: "read " + w.dir.Brief(ws) + " and start",
	})
	check(w.t, err)
	program, err := exec.LookPath(claudeBin)
	check(w.t, err)
	out, code := w.run([]string{"FLEET_RUN_DIR=" + w.dir.Path, "FLEET_WS=" + ws, "FLEET_EPOCH=" + itoa(row.Epoch)}, program, c.Args[1:]...)
	if code > 1 {
		w.t.Logf("agent: exit %d\n%s", code, out)
	}
}

// replace puts a script in the place of a program. An empty script removes it.
func replace(t *testing.T, path, script string) {
	t.Helper()
	check(t, os.Remove(path))
	if script == "" {
		return
	}
	text := "#!/bin/sh\n[ \"$2\" = pre-tool-use ] || exit 0\ncat >/dev/null\n" + script + "\n"
	check(t, os.WriteFile(path, []byte(text), 0o755))
}

// hook runs the write check of a workstream by hand and returns its answer.
func (w *world) hook(env []string, ws, path string) string {
	w.t.Helper()
	cmd := exec.Command(w.exe, "hook", "pre-tool-use", ws)
	cmd.Env = append(w.env(), env...)
	cmd.Stdin = strings.NewReader(`{"tool_name":"Write","cwd":"` + w.repo + `","tool_input":{"file_path":"` + path + `","content":"x"}}`)
	out, err := cmd.Output()
	check(w.t, err)
	return string(out)
}

// child is the process that a wrapper runs.
func child(t *testing.T, pid int) int {
	t.Helper()
	lists, err := filepath.Glob("/proc/" + itoa(pid) + "/task/*/children") // of each of its threads
	check(t, err)
	var fields []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		check(t, err)
		fields = append(fields, strings.Fields(string(text))...)
	}
	if len(fields) != 1 {
		t.Fatalf("process %d has the children %q, want one", pid, fields)
	}
	n, err := strconv.Atoi(fields[0])
	check(t, err)
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }
