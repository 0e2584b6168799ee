package master

import (
	"context"
	"errors"
	"slices"
	"testing"

	"fleet/internal/proc"
)

// The keys that come back from a pane are those of the tmux that shows it, behind what an outer one takes for itself.
func TestBackKeys(t *testing.T) {
	r := newRepository(t, 0, nil)
	server, err := r.Tmux()
	if err != nil {
		t.Fatal(err)
	}
	own := server.AttachArgs("", "")[3]
	for _, c := range []struct{ tmux, inside, prefix, outer, want string }{
		{"own", "", "C-b", "", "ctrl-b d"},
		{"own", "", "M-Space", "", "alt-Space d"},
		{"own", "", "None", "", ""},
		{"own", "", "", "", ""},
		{"own", "/tmp/other,1,0", "C-b", "C-b", "ctrl-b ctrl-b d"},
		{"own", "/tmp/other,1,0", "C-b", "", "ctrl-b ctrl-b d"},
		{"own", "/tmp/other,1,0", "C-b", "C-a", "ctrl-b d"},
		{"current", "/tmp/other,1,0", "C-a", "C-a", "ctrl-a L"},
	} {
		t.Setenv("TMUX", c.inside)
		r.Dir.Config.Tmux = c.tmux
		r.Run = func(_ context.Context, cmd proc.Cmd) ([]byte, error) {
			prefix := c.outer
			if slices.Contains(cmd.Args, own) {
				prefix = c.prefix
			}
			if prefix == "" {
				return nil, errors.New("no server")
			}
			return []byte(prefix + "\n"), nil
		}
		if got := r.BackKeys(t.Context()); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
