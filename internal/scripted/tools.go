package scripted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// call makes one tool call: hook, tool, hook. It returns why it was denied, if it was.
func (p *Player) call(ctx context.Context, s Step) (denied string) {
	input := p.absolute(s.Input)
	if frames, headless := p.out.(speech); headless {
		frames.use(s.Tool, input)
	} else {
		fmt.Fprintf(p.out, "\n● %s(%s)\n", s.Tool, summary(s))
	}
	v := p.fire(ctx, "PreToolUse", s.Tool, map[string]any{"tool_name": s.Tool, "tool_input": input})
	if v.deny || !v.allow {
		if v.reason == "" {
			v.reason = "no hook allowed it"
		}
		fmt.Fprintf(p.out, "  ⎿  \x1b[31mdenied:\x1b[0m %s\n", v.reason)
		return v.reason
	}
	began := time.Now()
	err := p.do(ctx, s.Tool, input)
	event := "PostToolUse"
	if err != nil {
		event = "PostToolUseFailure"
		fmt.Fprintf(p.out, "  ⎿  %v\n", err)
	} else {
		fmt.Fprintf(p.out, "  ⎿  \x1b[32mdone\x1b[0m\n")
	}
	v = p.fire(ctx, event, s.Tool, map[string]any{
		"tool_name": s.Tool, "tool_input": input, "tool_response": map[string]any{}, "duration_ms": time.Since(began).Milliseconds(),
	})
	if v.told != "" {
		fmt.Fprintf(p.out, "  ⎿  \x1b[33m%s\x1b[0m\n", v.told)
	}
	return ""
}

// absolute does what Claude Code does to paths before a hook sees them.
func (p *Player) absolute(input map[string]any) map[string]any {
	out := make(map[string]any, len(input))
	for k, v := range input {
		if path, ok := v.(string); ok && k == "file_path" && !filepath.IsAbs(path) {
			v = filepath.Join(p.dir, path)
		}
		out[k] = v
	}
	return out
}

func summary(s Step) string {
	for _, key := range []string{"file_path", "command"} {
		if v, ok := s.Input[key].(string); ok {
			return v
		}
	}
	return ""
}

func (p *Player) do(ctx context.Context, tool string, input map[string]any) error {
	text := func(key string) string { v, _ := input[key].(string); return v }
	switch tool {
	case "Write":
		if err := os.MkdirAll(filepath.Dir(text("file_path")), 0o755); err != nil {
			return err
		}
		return os.WriteFile(text("file_path"), []byte(text("content")), 0o644)
	case "Edit":
		old, err := os.ReadFile(text("file_path"))
		if err != nil {
			return err
		}
		if !strings.Contains(string(old), text("old_string")) {
			return errors.New("old_string is not in the file")
		}
		edited := strings.Replace(string(old), text("old_string"), text("new_string"), 1)
		return os.WriteFile(text("file_path"), []byte(edited), 0o644)
	case "Bash":
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", text("command"))
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		if len(out) > 0 {
			fmt.Fprintf(p.out, "  ⎿  %s\n", strings.TrimSpace(string(out)))
		}
		return err
	}
	return fmt.Errorf("no such tool: %s", tool)
}

// Between two looks at a path that is awaited lies a tenth of the time that was waited, within these.
const (
	awaitLeast = 20 * time.Millisecond
	awaitMost  = 500 * time.Millisecond
)

// await waits until a path exists.
func (p *Player) await(ctx context.Context, path string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	began := time.Now()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(max(time.Since(began)/10, awaitLeast), awaitMost)):
		}
	}
}
