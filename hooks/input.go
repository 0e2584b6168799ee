package hooks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxInput bounds what an agent may send. It is far above any edit that a model writes.
const maxInput = 16 << 20

// input is what Claude Code sends, the fields that matter here.
type input struct {
	SessionID        string    `json:"session_id"`
	CWD              string    `json:"cwd"`
	Event            string    `json:"hook_event_name"`
	ToolName         string    `json:"tool_name"`
	ToolInput        toolInput `json:"tool_input"`
	DurationMS       int64     `json:"duration_ms"`
	Prompt           string    `json:"prompt"`
	Source           string    `json:"source"`
	Reason           string    `json:"reason"`
	Message          string    `json:"message"`
	NotificationType string    `json:"notification_type"`
	LastMessage      string    `json:"last_assistant_message"`
	Error            string    `json:"error"`
	BackgroundTasks  []struct {
		Status string `json:"status"`
	} `json:"background_tasks"`
}

type toolInput struct {
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	Command      string `json:"command"`
	Edits        []struct {
		FilePath string `json:"file_path"`
		Path     string `json:"path"`
	} `json:"edits"`
}

func readInput(r io.Reader) (input, error) {
	var in input
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return in, fmt.Errorf("read the hook's input: %w", err)
	case len(text) > maxInput:
		return in, fmt.Errorf("the hook's input is larger than %d MiB", maxInput>>20)
	case len(strings.TrimSpace(string(text))) == 0:
		return in, fmt.Errorf("the hook's input is empty")
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return in, fmt.Errorf("the hook's input is not the JSON that was expected: %w", err)
	}
	return in, nil
}

// patchTool takes a patch, and with it any number of files.
const patchTool = "apply_patch"

// paths lists every file that a write tool names, once each.
func (in *input) paths() []string {
	t := &in.ToolInput
	named := []string{t.FilePath, t.NotebookPath, t.Path}
	if in.ToolName == patchTool {
		named = append(named, patchPaths(t.Command)...)
	}
	for _, e := range t.Edits {
		named = append(named, e.FilePath, e.Path)
	}
	var paths []string
	seen := make(map[string]bool, len(named))
	for _, p := range named {
		if p != "" && !seen[p] {
			paths = append(paths, p)
			seen[p] = true
		}
	}
	return paths
}

// patchPaths are the files that a patch in the form of apply_patch names. A line of the files'
// own text that looks like such a header counts as one, since agents read them leniently.
func patchPaths(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, header := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if path, ok := strings.CutPrefix(strings.TrimSpace(line), header); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

// paused reports whether the turn ended only until background work reports.
func (in *input) paused() bool {
	for _, t := range in.BackgroundTasks {
		if t.Status == "running" {
			return true
		}
	}
	return false
}
