package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

const workstreams = 50

// singles are the variants that are started one after the other. The first is the measure.
func singles(dir, fleet string, t tools) ([]*variant, error) {
	outside := filepath.Join(dir, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		return nil, err
	}
	variants := []*variant{
		{name: "empty Go program", once: func(int) error { _, err := start(nil, outside, "", t.empty); return err }},
		{name: "fleet hook, outside a fleet", goal: 1.2, once: func(int) error {
			_, err := start([]string{"PATH=/bin"}, outside, toolCall(outside, "a"), fleet, "hook", "pre-tool-use")
			return err
		}},
	}
	for _, leases := range []int{1000, 10000} {
		d, err := busyRun(dir, leases)
		if err != nil {
			return nil, err
		}
		most := 1.5
		if leases > 1000 {
			most = 2
		}
		label := fmt.Sprintf("%d workstreams, %d leases", workstreams, leases)
		variants = append(variants,
			&variant{name: "write check, new file, " + label, goal: most, once: func(round int) error {
				return check(d, fleet, fmt.Sprintf("new/%d.go", round))
			}},
			&variant{name: "write check, file held by me, " + label, goal: most, once: func(int) error {
				return check(d, fleet, "mine.go")
			}},
		)
		if leases == 1000 {
			variants = append(variants, &variant{name: "bash + flock + awk, new file, " + label, once: func(round int) error {
				_, err := start(os.Environ(), d.Root, toolCall(d.Root, "x"), t.awk, d.Path, fmt.Sprintf("awk/%d.go", round))
				return err
			}})
		}
	}
	if node, err := exec.LookPath("node"); err == nil {
		variants = append(variants, &variant{name: "node, a hook that does nothing", once: func(int) error {
			_, err := start(os.Environ(), outside, "", node, "-e", "")
			return err
		}})
	}
	return variants, nil
}

// busyRun is a run with many workstreams, of which the first works, and many leases of the others.
func busyRun(dir string, leases int) (*rundir.Dir, error) {
	root := filepath.Join(dir, fmt.Sprintf("repo%d", leases))
	d, err := rundir.Create(root, "bench", planningtemplate.Files, rundir.ConfigText(nil))
	if err != nil {
		return nil, err
	}
	return d, d.Update(context.Background(), func(s *roster.State) error {
		for i := 1; i <= workstreams; i++ {
			id := wsID(i)
			claim := fmt.Sprintf("claimed/%s", id)
			if err := s.Add(roster.NewWorkstream{ID: id, Text: "bench", Brain: "scripted", Claims: []string{claim}}); err != nil {
				return err
			}
			if _, err := s.Launch(id, roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: "main"}); err != nil {
				return err
			}
		}
		paths := make([][]string, workstreams+1)
		paths[1] = []string{"mine.go"}
		for i := 1; i < leases; i++ {
			ws := 2 + i%(workstreams-1)
			paths[ws] = append(paths[ws], fmt.Sprintf("some/package/of/the/repository/file%d.go", i))
		}
		for i := 1; i <= workstreams; i++ {
			r := roster.WriteRequest{WS: wsID(i), Epoch: 1, Paths: paths[i], Tool: "Write", Alive: func(string) bool { return true }}
			if denials := s.AcquireLeases(r); len(denials) > 0 {
				return fmt.Errorf("set-up: %+v", denials[0])
			}
		}
		return nil
	})
}

func wsID(i int) string { return fmt.Sprintf("WS%02d", i) }

// check is one write check of WS01, which must be allowed.
func check(d *rundir.Dir, fleet, path string) error {
	out, err := start(workerEnv(d, 1), d.Root, toolCall(d.Root, path), fleet, "hook", "pre-tool-use", wsID(1))
	if err == nil && !strings.Contains(out, `"permissionDecision":"allow"`) {
		err = fmt.Errorf("answered %q", out)
	}
	return err
}

func workerEnv(d *rundir.Dir, ws int) []string {
	return []string{"PATH=/bin", "FLEET_RUN_DIR=" + d.Path, "FLEET_WS=" + wsID(ws), "FLEET_EPOCH=1"}
}

func toolCall(root, path string) string {
	text, err := json.Marshal(map[string]any{
		"session_id": "bench", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(root, path), "content": strings.Repeat("a line of code\n", 100)},
	})
	if err != nil {
		panic(err) // plain data always marshals
	}
	return string(text)
}
