package tui

import (
	"fmt"
	"testing"

	"fleet/roster"
)

// BenchmarkView draws a large screen of 50 workers.
func BenchmarkView(b *testing.B) {
	s := screenAt(b, 200, 60)
	st := run()
	for i := 8; i <= 50; i++ {
		st.Workstreams = append(st.Workstreams, roster.Workstream{ID: fmt.Sprintf("WS%02d", i), Task: "one of many", Status: roster.Working, Heartbeat: now.Unix()})
	}
	s.snap = look(st, func(string) bool { return true })
	for b.Loop() {
		if s.View() == "" {
			b.Fatal("nothing is drawn")
		}
	}
}
