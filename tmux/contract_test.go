package tmux

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"fleet/internal/proc"
)

func TestContractHolds(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	seen := map[string]bool{}
	for _, f := range Contract(t.Context(), proc.Run) {
		if !f.OK || f.Detail != "" {
			t.Errorf("%s, %s: %s", f.ID, f.Name, f.Detail)
		}
		if f.ID == "" || f.Name == "" || seen[f.ID] {
			t.Errorf("no good name: %+v", f)
		}
		seen[f.ID] = true
	}
	if len(seen) < 8 {
		t.Errorf("facts: %v", seen)
	}
	nothingLeft(t)
}

// A tmux that cannot be run makes every fact untrue, and one that takes the
// caller down on the way still leaves nothing.
func TestContractWithoutTmux(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, f := range Contract(t.Context(), fails(-1, "", errors.New("no tmux here"))) {
		if f.OK || !strings.Contains(f.Detail, "no tmux here") {
			t.Errorf("%+v", f)
		}
	}
	nothingLeft(t)
	killed := false
	func() {
		defer func() { _ = recover() }()
		Contract(t.Context(), func(ctx context.Context, c proc.Cmd) ([]byte, error) {
			switch {
			case strings.Contains(strings.Join(c.Args, " "), "kill-server"):
				killed = true
			case strings.Contains(strings.Join(c.Args, " "), "has-session"):
				panic("bug")
			}
			return proc.Run(ctx, c)
		})
		t.Error("no panic")
	}()
	if !killed {
		t.Error("the server was not killed")
	}
	nothingLeft(t)
}

func nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
