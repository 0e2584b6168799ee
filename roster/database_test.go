package roster

import "testing"

// CFN-86, CFN-87.
func TestScratchDB(t *testing.T) {
	s := withNumbers("", "")
	must(t, s.SetScratchDB("WS01", "postgres://a"))
	must(t, s.SetScratchDB("WS01", "postgres://a"))
	must(t, s.SetScratchDB("WS01", "postgres://b"))
	eq(t, "set", row(t, s, "WS01").ScratchDB, "postgres://b")
	eq(t, "the other", row(t, s, "WS02").ScratchDB, "")
	if err := s.SetScratchDB("WS09", "postgres://a"); KindOf(err) != Data {
		t.Errorf("an unknown workstream: %v", err)
	}
	s.ForgetScratchDBs()
	eq(t, "forgotten", row(t, s, "WS01").ScratchDB, "")
	eq(t, "events", said(s), []string{"scratch_db_ready WS01", "scratch_db_ready WS01", "scratch_db_removed WS01"})
}
