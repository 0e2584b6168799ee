//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"fleet/internal/scriptapi"
	"fleet/roster"
)

// A worker's context is compacted: its handoff is written before, and the agent is
// told of it after. Then a spare goes on with the task in its place (CFN-64, CFN-83).
func TestHandoff(t *testing.T) {
	w := newWorld(t)
	w.api.Script(key("WS01"),
		w.readTool("shared.txt"),
		w.writeTool("shared.txt", "from A\n"),
		scriptapi.Turn{Text: "A has written half of it"},
		scriptapi.Turn{Text: "<analysis>x</analysis>\n<summary>half of it is written, see briefs/WS01.md</summary>"},
		gated(scriptapi.Turn{Text: "never"}, make(chan struct{})),
	)
	w.api.Script(key("WS01.2"), w.writeTool("other.txt", "from its successor\n"), scriptapi.Turn{Text: "the rest is written"})
	w.fleet("add", "WS01", "write shared.txt")
	w.fleet("spawn", "WS01", "--spares", "1")
	w.until("the first turn is over", status("WS01", roster.Done))
	w.keys("WS01", "/compact", "Enter")
	w.until("its context is compacted", func(*roster.State) bool {
		up := w.events(roster.WorkerUp)
		return up[len(up)-1].Data["source"] == "compact"
	})
	if text := w.read("planning/fleet-shop/handoffs/HANDOFF_WS01.md"); !strings.Contains(text, "changed    shared.txt") {
		t.Errorf("the handoff before the compaction:\n%s", text)
	}
	w.fleet("task", "add", "WS01", "write other.txt")
	check(t, w.api.Await(t.Context(), key("WS01"), 5))
	all := w.api.Requests(key("WS01"))
	if said := strings.Join(all[len(all)-1].Texts, "\n"); !strings.Contains(said, "Your context was compacted: read "+w.dir.Handoff("WS01")) {
		t.Errorf("the agent was not led to its handoff:\n%s", said)
	}

	w.until("the spare stands by", func(*roster.State) bool { return len(w.dir.Spares("WS01")) == 1 })
	if out := w.fleet("handoff", "WS01", "--to", "spare"); !strings.Contains(out, "spawned WS01 ") {
		t.Errorf("handoff: %s", out)
	}
	w.until("the successor is done", status("WS01", roster.Done))
	if got := w.read("other.txt"); got != "from its successor\n" {
		t.Errorf("other.txt = %q", got)
	}
	if n := len(w.dir.Spares("WS01")); n != 0 {
		t.Errorf("%d spares stand by", n)
	}
}

// keys types into the pane of a worker, as a person would.
func (w *world) keys(ws string, keys ...string) {
	w.t.Helper()
	argv := strings.Fields(w.fleet("attach"))
	i := slices.Index(argv, "attach-session")
	tmux := append(slices.Clone(argv[1:i]), "list-panes", "-a", "-f", "#{==:#{@fleet_ws},"+ws+"}", "-F", "#{pane_id}")
	pane := strings.TrimSpace(w.must(argv[0], tmux...))
	for _, k := range keys {
		w.must(argv[0], append(slices.Clone(argv[1:i]), "send-keys", "-t", pane, k)...)
	}
}
