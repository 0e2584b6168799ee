//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"fleet/internal/scriptapi"
)

// fleet demo --brain claude shows the same with the real agent: T4's edit is
// denied while T3 holds the file, T4 is tried again, and the repository's tests pass (CF-130, CF-132).
func TestDemoWithClaude(t *testing.T) {
	w := newWorld(t)
	read := func(path string) scriptapi.Turn { return call("Read", map[string]any{"file_path": path}) }
	edit := func(path, before, after string) scriptapi.Turn {
		return call("Edit", map[string]any{"file_path": path, "old_string": before, "new_string": after})
	}
	write := func(path, text string) scriptapi.Turn {
		return call("Write", map[string]any{"file_path": path, "content": text})
	}
	done := scriptapi.Turn{Text: "done"}
	held, denied := make(chan struct{}), make(chan struct{})
	wrap := edit("api.go", "return answer\n", "return logged(answer)\n")
	w.api.Script(key("T1"), read("config.go"), edit("config.go", "\tAddr string\n", "\tAddr string\n\tMaxLinks int\n"), done)
	w.api.Script(key("T2"), read("config.go"), edit("config.go", "// Default is", "// FromEnv is Default.\nfunc FromEnv() Config { return Default() }\n\n// Default is"), done)
	w.api.Script(key("T3"), read("api.go"), edit("api.go", "\treturn answer\n", "\t_ = s.Len\n\treturn answer\n"), gated(write("docs/api.md", "# API\n"), denied), done)
	w.api.Script(key("T4"),
		gated(read("api.go"), held), wrap, scriptapi.Turn{Text: "api.go is held"},
		read("api.go"), wrap, write("middleware.go", "package shelf\n\nfunc logged(a Answer) Answer { return a }\n"), done,
	)
	w.api.Script(key("T5"), write("count_test.go", "package shelf\n\nimport \"testing\"\n\nfunc TestCount(*testing.T) {}\n"), done)
	go func() { // the third request of a session bears what its edit came to
		if w.api.Await(t.Context(), key("T3"), 3) == nil {
			close(held)
		}
	}()
	go func() {
		if w.api.Await(t.Context(), key("T4"), 3) == nil {
			close(denied)
		}
	}()
	out := w.fleet("demo", "--brain", "claude")
	for _, want := range []string{"T4     DENIED api.go: WS02 (T3) holds it", "5 of 5 tasks succeeded · 1 denied write ·", "nothing was lost"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not say %q:\n%s", want, out)
		}
	}
}
