package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fleet/roster"
)

// Who and what is on the disk before it takes the old file's place, however small
// the change; the traffic of leases waits for no disk.
func TestWhatIsSynced(t *testing.T) {
	var synced []string
	defer func(was func(*os.File) error) { fsync = was }(fsync)
	fsync = func(f *os.File) error { synced = append(synced, filepath.Base(f.Name())); return f.Sync() }
	d := atWork(t)
	synced = nil
	update(t, d, func(s *roster.State) error { s.Workstreams[0].Heartbeat++; return nil })
	if !slices.Equal(synced, []string{".roster.tsv.new"}) {
		t.Errorf("for a heartbeat %q was synced", synced)
	}
	synced = nil
	update(t, d, func(s *roster.State) error { s.Leases.Put(roster.Lease{Path: "synced.go", WS: "WS01"}); return nil })
	if len(synced) > 0 {
		t.Errorf("for a lease %q was synced", synced)
	}
	update(t, d, func(s *roster.State) error { return s.Block("WS01", "a person is needed") })
	for _, name := range []string{".roster.tsv.new", ".tx.json.new", eventsFile} {
		if !slices.Contains(synced, name) {
			t.Errorf("for a change of status %q was synced, without %s", synced, name)
		}
	}
}
