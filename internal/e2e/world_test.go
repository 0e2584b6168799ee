//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fleet/internal/scriptapi"
	"fleet/roster"
	"fleet/roster/rundir"
)

const dummyKey = "sk-ant-dummy"

var (
	fleetBin  string
	claudeBin string
	codexBin  string
	openBin   string
	goCache   string // where Go keeps what it has built; the demo runs Go's tests
)

// CF-143: the live tier. A tag builds it, so that it is out of the way by default, and its model is scripted, so that nothing is to be retried.
func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	claudeBin, codexBin, openBin = os.Getenv("FLEET_E2E_CLAUDE"), os.Getenv("FLEET_E2E_CODEX"), os.Getenv("FLEET_E2E_OPENCODE")
	for name, program := range map[string]string{"FLEET_E2E_CLAUDE": claudeBin, "FLEET_E2E_CODEX": codexBin, "FLEET_E2E_OPENCODE": openBin} {
		if _, err := os.Stat(program); err != nil {
			fmt.Fprintln(os.Stderr, name+" must name the program of an agent: run make e2e")
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "fleet-e2e-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	fleetBin = filepath.Join(dir, "fleet")
	if out, err := exec.Command("go", "build", "-o", fleetBin, "fleet/cmd/fleet").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build fleet: %v\n%s", err, out)
		return 1
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "go env GOCACHE:", err)
		return 1
	}
	goCache = strings.TrimSpace(string(cache))
	return m.Run()
}

// world is a repository with a run, a scripted API, and an agent configuration
// of its own: nothing in it is the user's.
type world struct {
	t    *testing.T
	home string
	repo string
	api  *scriptapi.Server
	exe  string // the fleet program that it uses
	dir  *rundir.Dir
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := os.MkdirTemp("", "fe") // short: a tmux socket's path is limited
	check(t, err)
	w := &world{t: t, home: home, repo: filepath.Join(home, "repo"), exe: fleetBin}
	t.Cleanup(func() { removeAll(t, home) })
	check(t, os.MkdirAll(filepath.Join(w.repo), 0o755))
	w.api, err = scriptapi.Start()
	check(t, err)
	t.Cleanup(func() { check(t, w.api.Close()) })
	w.write("shared.txt", "start\n")
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "e2e"},
		{"config", "user.email", "e2e@localhost"},
		{"add", "."},
		{"commit", "-qm", "start"},
	} {
		w.must("git", args...)
	}
	w.configure()
	w.fleet("init", "shop")
	w.dir, err = rundir.Open(filepath.Join(w.repo, "planning/fleet-shop"))
	check(t, err)
	t.Cleanup(func() { w.fleet("stop", "--all") })
	return w
}

// configure answers the questions of a first start, so that no dialog comes up.
func (w *world) configure() {
	config, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  map[string]any{"approved": []string{dummyKey}, "rejected": []string{}},
		"projects":               map[string]any{w.repo: map[string]any{"hasTrustDialogAccepted": true}},
	})
	check(w.t, err)
	check(w.t, os.MkdirAll(filepath.Join(w.home, "config"), 0o755))
	check(w.t, os.WriteFile(filepath.Join(w.home, "config/.claude.json"), config, 0o600))
}

func (w *world) env() []string {
	return []string{
		"PATH=" + filepath.Dir(claudeBin) + ":" + filepath.Dir(codexBin) + ":" + filepath.Dir(openBin) + ":" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.home, "TMUX_TMPDIR=" + w.home,
		"GOCACHE=" + goCache, "LANG=C.UTF-8", "TERM=xterm-256color", "CLAUDE_CONFIG_DIR=" + filepath.Join(w.home, "config"),
		"ANTHROPIC_BASE_URL=" + w.api.URL(), "ANTHROPIC_API_KEY=" + dummyKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"OPENCODE_CONFIG=" + filepath.Join(w.home, "opencode.json"), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"CODEX_HOME=" + filepath.Join(w.home, "codex"), "CODEX_TEST_KEY=none",
	}
}

// run runs a program in the repository and returns its output and exit code.
func (w *world) run(extraEnv []string, name string, args ...string) (out string, code int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.repo, append(w.env(), extraEnv...)
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return buf.String(), exit.ExitCode()
	}
	check(w.t, err)
	return buf.String(), 0
}

func (w *world) must(name string, args ...string) string {
	w.t.Helper()
	out, code := w.run(nil, name, args...)
	if code != 0 {
		w.t.Fatalf("%s %s: exit %d\n%s", name, strings.Join(args, " "), code, out)
	}
	return out
}

func (w *world) fleet(args ...string) string { w.t.Helper(); return w.must(w.exe, args...) }

func (w *world) write(name, text string) {
	w.t.Helper()
	check(w.t, os.WriteFile(filepath.Join(w.repo, name), []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.repo, name))
	check(w.t, err)
	return string(text)
}

// key is by what the scripted API knows the conversation of a workstream.
func key(ws string) string { return "briefs/" + ws + ".md" }

func call(tool string, input map[string]any) scriptapi.Turn {
	return scriptapi.Turn{Tools: []scriptapi.Tool{{Name: tool, Input: input}}}
}

func (w *world) writeTool(name, text string) scriptapi.Turn {
	return call("Write", map[string]any{"file_path": filepath.Join(w.repo, name), "content": text})
}

func (w *world) readTool(name string) scriptapi.Turn {
	return call("Read", map[string]any{"file_path": filepath.Join(w.repo, name)})
}

func bash(command string) scriptapi.Turn {
	return call("Bash", map[string]any{"command": command, "description": "run it"})
}

func gated(turn scriptapi.Turn, gate <-chan struct{}) scriptapi.Turn {
	turn.Gate = gate
	return turn
}

// results are what the model of a workstream was told about its calls, in order.
func (w *world) results(ws string) []scriptapi.Result {
	var all []scriptapi.Result
	for _, r := range w.api.Requests(key(ws)) {
		all = append(all, r.Results...)
	}
	return all
}

// until waits for a condition on the state of the run, looking at each change.
func (w *world) until(what string, ok func(*roster.State) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	wake, stop := w.dir.Changes()
	defer stop()
	for {
		met := false
		check(w.t, w.dir.View(ctx, func(s *roster.State) error { met = ok(s); return nil }))
		if met {
			return
		}
		select {
		case <-ctx.Done():
			screen, _ := w.run(nil, w.exe, "status")
			events, _ := w.run(nil, w.exe, "events")
			w.t.Fatalf("waited in vain until %s\n%s\n%s\n%s", what, screen, events, w.screens())
		case <-wake:
		}
	}
}

func (w *world) screens() string {
	attach, _ := w.run(nil, w.exe, "attach")
	argv := strings.Fields(strings.TrimSpace(attach))
	i := slices.Index(argv, "attach-session")
	if i < 0 {
		return attach
	}
	ids, _ := w.run(nil, argv[0], append(slices.Clone(argv[1:i]), "list-panes", "-a", "-F", "#{pane_id}")...)
	var all strings.Builder
	for _, id := range strings.Fields(ids) {
		text, _ := w.run(nil, argv[0], append(slices.Clone(argv[1:i]), "capture-pane", "-p", "-t", id)...)
		fmt.Fprintf(&all, "--- %s\n%s\n", id, text)
	}
	return all.String()
}

func status(ws string, want roster.Status) func(*roster.State) bool {
	return func(s *roster.State) bool {
		row, err := s.Workstream(ws)
		return err == nil && row.Status == want
	}
}

func held(path, ws string) func(*roster.State) bool {
	return func(s *roster.State) bool {
		l, ok := s.Leases.Get(path)
		return ok && l.WS == ws
	}
}

// events returns the events of a type.
func (w *world) events(kind roster.EventType) []roster.Event {
	w.t.Helper()
	var found []roster.Event
	for e, err := range w.dir.Events(0) {
		check(w.t, err)
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

// removeAll removes a directory into which a dying agent may still write for a moment.
func removeAll(t *testing.T, dir string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := os.RemoveAll(dir)
		if err == nil || time.Now().After(deadline) {
			check(t, err)
			return
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
