package master

import (
	"os"
	"path/filepath"
	"testing"

	"fleet/roster"
)

// CFN-97, CFN-101: the plan is written anew when it has changed, and only then: a watch is woken by what is written into the run dir,
// and would never rest.
func TestWorkbenchPlan(t *testing.T) {
	r := newRepository(t, 1, nil)
	b := Workbench{Fleet: r.Fleet, Emitter: "/nonexistent/emitter"}
	plan := func() os.FileInfo {
		t.Helper()
		if err := b.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(r.Dir.Path, "run-plan-fleet-shop.json"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := plan()
	r.update(func(s *roster.State) error { return s.Heartbeat("WS01", "busy") })
	if !os.SameFile(first, plan()) {
		t.Error("the plan was written again without a change")
	}
	r.update(func(s *roster.State) error { return s.Add(roster.NewWorkstream{ID: "WS02", Text: "more"}) })
	if os.SameFile(first, plan()) {
		t.Error("the plan was not written again")
	}
}
