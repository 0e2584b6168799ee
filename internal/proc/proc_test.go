package proc

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorNamesTheCommand(t *testing.T) {
	for args, want := range map[string]string{
		"git -c rebase.autoStash=false -c a=b rebase --quiet abc": "git rebase --quiet: no",
		"git --no-optional-locks status --porcelain=v2":           "git status --porcelain=v2: no",
		"tmux -u -L fleet-x -f /dev/null kill-server":             "tmux kill-server: no",
		"tmux -V": "tmux -V: no",
		"true":    "true: no",
		"":        ": no",
	} {
		if got := (&Error{Args: strings.Fields(args), Err: errors.New("no")}).Error(); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
