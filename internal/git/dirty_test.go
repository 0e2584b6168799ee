package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fleet/internal/proc"
)

// CFN-84: the dirty list of a handoff, or a note in its place.
func TestDirty(t *testing.T) {
	dir := t.TempDir()
	dirty := func(want ...string) {
		t.Helper()
		if got := In(proc.Run, dir).Dirty(t.Context()); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	dirty("(not a git repository)")
	if _, err := proc.Run(t.Context(), proc.Cmd{Args: []string{"git", "init", "--quiet"}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	dirty("(clean)")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a b")
	write("c\nd")
	dirty("untracked  a b", `untracked  "c\nd"`)
	for i := range dirtyShown {
		write(fmt.Sprintf("e%03d", i))
	}
	if got := In(proc.Run, dir).Dirty(t.Context()); len(got) != dirtyShown+1 || got[dirtyShown] != "(and 2 more: git status)" {
		t.Errorf("of many files: %d lines, the last of which is %q", len(got), got[len(got)-1])
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if got := In(proc.Run, dir).Dirty(late); len(got) != 1 || !strings.HasPrefix(got[0], "(unknown: git ") {
		t.Errorf("git did not answer: %q", got)
	}
}
