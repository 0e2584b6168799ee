//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"fleet/internal/scriptapi"
)

// fleet demo --brain claude shows the same with the real agent: the second worker's
// edit is denied, the demo calls it again, and the edit goes through.
func TestDemoWithClaude(t *testing.T) {
	w := newWorld(t)
	enter := func(line string) scriptapi.Turn {
		return call("Edit", map[string]any{"file_path": "CHANGELOG.md", "old_string": "# Changes\n", "new_string": "# Changes\n" + line + "\n"})
	}
	read := call("Read", map[string]any{"file_path": "CHANGELOG.md"})
	held, denied := make(chan struct{}), make(chan struct{})
	w.api.Script(key("WS01"), read, enter("- orders can be placed"), gated(scriptapi.Turn{Text: "orders are in"}, denied))
	w.api.Script(key("WS02"),
		gated(read, held), enter("- invoices are sent"), scriptapi.Turn{Text: "I wait for CHANGELOG.md"},
		read, enter("- invoices are sent"), scriptapi.Turn{Text: "invoices are in"},
	)
	w.api.Script(key("WS03"), call("Write", map[string]any{"file_path": "tests/orders.sh", "content": "test -f api/orders\n"}), scriptapi.Turn{Text: "tests are in"})
	go func() { // the third request of a worker bears what its edit came to
		if w.api.Await(t.Context(), key("WS01"), 3) == nil {
			close(held)
		}
	}()
	go func() {
		if w.api.Await(t.Context(), key("WS02"), 3) == nil {
			close(denied)
		}
	}()
	out := w.fleet("demo", "--brain", "claude")
	for _, want := range []string{"DENIED CHANGELOG.md: WS01 holds it", "nothing was lost"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not say %q:\n%s", want, out)
		}
	}
}
