package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fleet/internal/proc"
	"fleet/internal/scriptapi"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

const (
	liveTimeout = 90 * time.Second
	heldFile    = "held.txt"
	heldText    = "from WS01\n"
)

// Live starts the real Claude Code, offline against a scripted API, as a worker
// that writes a file which another one holds, and reports whether the write was
// denied. exe is the fleet program. It works in a directory of its own and
// touches no settings of the user's.
func Live(ctx context.Context, exe string) Row {
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	detail, err := liveDenial(ctx, exe)
	return row("live-denial", detail, err)
}

func liveDenial(ctx context.Context, exe string) (detail string, err error) {
	home, err := os.MkdirTemp("", "fleet-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }()
	d, release, err := liveRun(ctx, home)
	if err != nil {
		return "", err
	}
	defer release()
	api, err := scriptapi.Start()
	if err != nil {
		return "", err
	}
	defer func() { _ = api.Close() }()
	held := filepath.Join(d.Root, heldFile)
	const key = "briefs/WS02.md"
	api.Script(key,
		scriptapi.Turn{Tools: []scriptapi.Tool{{Name: "Write", Input: map[string]any{"file_path": held, "content": "from WS02\n"}}}},
		scriptapi.Turn{Text: "done"},
	)
	_, runErr := proc.Run(ctx, proc.Cmd{
		Args: []string{exe, "--run-dir", d.Path, "spawn", "WS02", "--headless", "--here"},
		Dir:  d.Root,
		Env:  liveEnv(os.Environ(), api.URL(), home),
	})
	text, err := os.ReadFile(held)
	if err != nil {
		return "", err
	}
	if string(text) != heldText {
		return "", fmt.Errorf("the write went through: %s holds %q", heldFile, strings.TrimSpace(string(text)))
	}
	for _, r := range api.Requests(key) {
		for _, result := range r.Results {
			if result.IsError && strings.Contains(result.Content, "held by WS01") {
				return "the agent was told: " + roster.Title(result.Content), nil
			}
		}
	}
	return "", fmt.Errorf("the agent did not get as far as a denial (%d requests): %w", len(api.Requests(key)), runErr)
}

// liveRun makes a run in which WS01 is alive, through us, and holds a file.
func liveRun(ctx context.Context, home string) (d *rundir.Dir, release func(), err error) {
	repo := filepath.Join(home, "repo")
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return nil, nil, err
	}
	if _, err := proc.Run(ctx, proc.Cmd{Args: []string{"git", "init", "--quiet"}, Dir: repo}); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(repo, heldFile), []byte(heldText), 0o644); err != nil {
		return nil, nil, err
	}
	if d, err = rundir.Create(repo, "doctor", planningtemplate.Files, rundir.ConfigText(nil)); err != nil {
		return nil, nil, err
	}
	if release, err = d.HoldLife("WS01"); err != nil {
		return nil, nil, err
	}
	for _, id := range []string{"WS01", "WS02"} {
		if err := d.AddWorkstream(ctx, roster.NewWorkstream{ID: id, Text: "Write held.txt.", Brain: "claude"}); err != nil {
			return nil, release, err
		}
	}
	err = d.Update(ctx, func(s *roster.State) error {
		epoch, err := s.Launch("WS01", roster.Launch{Brain: "claude", Mode: roster.Interactive, Tree: roster.MainTree})
		if err == nil {
			s.AcquireLeases(roster.WriteRequest{WS: "WS01", Epoch: epoch, Paths: []string{heldFile}, Tool: "Write", Alive: d.Alive})
		}
		return err
	})
	return d, release, err
}

// liveEnv lets the agent reach the scripted API and nothing of the user's.
func liveEnv(env []string, url, home string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, "ANTHROPIC_") || strings.HasPrefix(kv, "CLAUDE") || strings.HasPrefix(kv, "FLEET_")
	})
	return append(env,
		"ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDE_CONFIG_DIR="+filepath.Join(home, "config"), "TMPDIR="+home,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
	)
}
