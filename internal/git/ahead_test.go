package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fleet/internal/proc"
)

// FF-74: commits are those that the base has not, merges and what they bring among them, by one call for all branches.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		id := []string{"git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "log.showSignature=true"}
		if _, err := proc.Run(t.Context(), proc.Cmd{Args: append(id, args...), Dir: dir}); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet", "--initial-branch", "main")
	git("commit", "--quiet", "--allow-empty", "--message", "start")
	git("branch", "idle")
	git("switch", "--quiet", "--create", "one")
	git("commit", "--quiet", "--allow-empty", "--message", "1")
	git("switch", "--quiet", "--create", "two")
	git("commit", "--quiet", "--allow-empty", "--message", "2")
	git("switch", "--quiet", "--create", "both", "main")
	git("commit", "--quiet", "--allow-empty", "--message", "3")
	git("merge", "--quiet", "--no-edit", "-m", "all, of \"them\"\n\nbody", "two")
	got, err := In(proc.Run, dir).Ahead(t.Context(), "main", strings.Fields("idle one two both gone"))
	want := map[string]Ahead{"one": {1, "1"}, "two": {2, "2"}, "both": {4, `all, of "them"`}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}
