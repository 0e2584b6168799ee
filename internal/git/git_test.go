package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fleet/internal/proc"
)

// A worktree that can't be made leaves a branch alone that somebody else made in
// the meantime, with work on it (PAINS 64, 68, 73).
func TestAddWorktreeRollsBackItsOwnAlone(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		id := []string{"git", "-c", "user.name=t", "-c", "user.email=t@localhost"}
		out, err := proc.Run(t.Context(), proc.Cmd{Args: append(id, args...), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "--message", "start")
	work := ""
	other := func(ctx context.Context, c proc.Cmd) ([]byte, error) {
		if slices.Contains(c.Args, "add") && work == "" {
			tree := git("rev-parse", "HEAD^{tree}")
			work = git("commit-tree", "-p", "HEAD", "-m", "their work", tree)
			git("branch", "fleet/WS01", work)
		}
		return proc.Run(ctx, c)
	}
	path := filepath.Join(dir, "tree")
	if err := In(other, dir).AddWorktree(t.Context(), path, "fleet/WS01", "HEAD"); err == nil {
		t.Fatal("a branch that somebody else made was taken")
	}
	if got := git("rev-parse", "fleet/WS01"); got != work {
		t.Errorf("their branch is at %s, want %s", got, work)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a tree was left behind")
	}
}
