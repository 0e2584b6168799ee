package git

import (
	"reflect"
	"testing"
)

// Names are any bytes, and a rename is two changes (CFN-52, CFN-58).
func TestParseStatus(t *testing.T) {
	const sha = "1111111111111111111111111111111111111111"
	out := "# branch.oid " + sha + "\x00# branch.head feat/x y\x00# branch.ab +1 -0\x00" +
		"1 .M N... 100644 100644 100644 " + sha + " " + sha + " a b\nc.go\x00" +
		"1 D. N... 100644 000000 000000 " + sha + " " + sha + " old\xff\x00" +
		"u UU N... 100644 100644 100644 100644 " + sha + " " + sha + " " + sha + " both\x00" +
		"? new file\x00? nested/\x00! ignored\x00"
	got, err := parseStatus(out)
	if err != nil {
		t.Fatal(err)
	}
	want := Status{Head: sha, Branch: "feat/x y", Changes: []Change{
		{Tracked, "a b\nc.go"}, {Tracked, "old\xff"}, {Unmerged, "both"}, {Untracked, "new file"}, {Nested, "nested"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{"x what", "1 .M N...", "? "} {
		if _, err := parseStatus(bad + "\x00"); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if s, err := parseStatus("# branch.oid (initial)\x00# branch.head (detached)\x00"); err != nil || !reflect.DeepEqual(s, Status{}) {
		t.Errorf("no commit yet, detached: %+v, %v", s, err)
	}
}
