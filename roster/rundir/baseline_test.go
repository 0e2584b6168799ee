package rundir

import (
	"testing"

	"fleet/roster"
)

// FF-68: a baseline says again what was written down, whatever the names are.
func TestBaseline(t *testing.T) {
	d := newRun(t)
	for _, want := range []roster.Contents{nil, {}, {"a b": "1", "a\tb\nc": "gone", "\"\xff": "link:2"}, {"x": "3"}} {
		if want != nil {
			must(t, d.SetBaseline(want))
		}
		got, err := d.Baseline()
		must(t, err)
		eq(t, "baseline", got, want)
	}
	for _, bad := range []string{"1\ta\nx\n", "1\t\"a\n", "\n"} {
		write(t, d.file(baselineFile), bad)
		_, err := d.Baseline()
		fails(t, err, roster.Data, "want a hash, a tab and a path")
	}
}
