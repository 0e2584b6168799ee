package cmd

import (
	"bytes"
	"strings"
	"testing"

	"fleet/internal/master"
	"fleet/roster/rundir"
)

// watch says it when it can't be told of changes.
func TestWatchSaysThatItIsDegraded(t *testing.T) {
	var out, errOut bytes.Buffer
	a := &app{out: &out, errOut: &errOut}
	gone := &master.Fleet{Dir: &rundir.Dir{Path: t.TempDir() + "/gone"}}
	if err := a.runWatch(t.Context(), gone, watchOptions{poll: 1}); err == nil {
		t.Error("no error without a run dir")
	}
	if !strings.HasPrefix(errOut.String(), "fleet: watch: degraded: ") {
		t.Errorf("it says %q", errOut.String())
	}
}
