package master

import (
	"path/filepath"
	"strings"
	"testing"

	"fleet/roster"
)

// The diff of a workstream is of what is its own, new files among it; where there is none, it is said why.
func TestDiff(t *testing.T) {
	r := newRepository(t, 3, nil)
	says := func(ws, want string) {
		t.Helper()
		patch, err := r.Diff(t.Context(), ws, false)
		if err != nil {
			patch = err.Error()
		}
		if !strings.Contains(patch, want) || strings.Contains(patch, "other") {
			t.Errorf("%s: %q, want %q", ws, patch, want)
		}
	}
	write(t, filepath.Join(r.Dir.Root, "other"), "not its own\n")
	says("WS01", "WS01 holds no file")
	r.update(func(s *roster.State) error {
		s.Leases.Put(roster.Lease{Path: "a/new.go", WS: "WS01"})
		return nil
	})
	says("WS01", "WS01 has changed nothing")
	write(t, filepath.Join(r.Dir.Root, "a", "new.go"), "package a\n")
	says("WS01", "\n+package a")

	const tree = ".claude/worktrees/shop-ws02"
	r.update(func(s *roster.State) error {
		for _, ws := range []string{"WS02", "WS03"} {
			w, err := s.Workstream(ws)
			if err != nil {
				return err
			}
			w.Tree = strings.Replace(tree, "ws02", strings.ToLower(ws), 1)
		}
		return nil
	})
	path := filepath.Join(r.Dir.Root, tree)
	r.git("worktree", "add", "-q", "-b", "fleet/WS02", path)
	says("WS02", "WS02 has changed nothing in "+tree)
	write(t, filepath.Join(path, "committed"), "first\n")
	r.gitIn(path, "add", "committed")
	r.gitIn(path, "commit", "-q", "-m", "first")
	write(t, filepath.Join(path, "fresh"), "second\n")
	r.git("commit", "-q", "--allow-empty", "-m", "the base goes on")
	says("WS02", "\n+first")
	says("WS02", "\n+second")
	says("WS03", "WS03 has no worktree now: there is no .claude/worktrees/shop-ws03")
}
