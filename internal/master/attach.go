package master

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/tmux"
)

// ShowPane is the tmux client that shows a terminal the pane of a workstream,
// alone, or all panes of the run if no workstream is named.
func (f *Fleet) ShowPane(ctx context.Context, ws string) (*exec.Cmd, error) {
	server, err := f.Tmux()
	if err != nil {
		return nil, err
	}
	panes, err := f.panes(ctx, func(p tmux.Pane) bool { return ws == "" || p.Tags.WS == ws })
	if err != nil {
		return nil, err
	}
	if len(panes) == 0 {
		return nil, roster.Refusef("no worker%s has a pane", of(ws)).Hinted("fleet spawn starts them")
	}
	args := server.AttachArgs(f.Session(), os.Getenv("TMUX"))
	if ws != "" {
		i := max(0, slices.IndexFunc(panes, func(p tmux.Pane) bool { return !p.Dead }))
		args = server.ShowArgs(panes[i].ID, os.Getenv("TMUX"))
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, &agent.MissingError{Program: args[0], For: "fleet attach"}
	}
	cmd := exec.Command(args[0], args[1:]...)
	if !slices.Contains(args, "switch-client") { // tmux refuses to nest while it sees another one's variable
		cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "TMUX=") })
	}
	return cmd, nil
}

// BackKeys are the keys that lead back from what ShowPane shows in this terminal. Inside another tmux with the same
// prefix that one takes the first for itself, and hands on the second. Empty is not known.
func (f *Fleet) BackKeys(ctx context.Context) string {
	server, err := f.Tmux()
	if err != nil {
		return ""
	}
	prefix, err := server.Prefix(ctx)
	if err != nil || prefix == "None" {
		return ""
	}
	key, inside := strings.NewReplacer("C-", "ctrl-", "M-", "alt-").Replace(prefix), os.Getenv("TMUX")
	outer, err := tmux.Current(f.Run, inside)
	switch {
	case err != nil: // in no tmux
		return key + " d"
	case server.Shows(inside):
		return key + " L"
	}
	if taken, err := outer.Prefix(ctx); err != nil || taken == prefix {
		return key + " " + key + " d"
	}
	return key + " d"
}

func of(ws string) string {
	if ws == "" {
		return ""
	}
	return " of " + ws
}

// Attach turns this process into a tmux client that shows the run's panes, or one
// workstream's. Where there is no terminal it prints the command that would.
func (f *Fleet) Attach(ctx context.Context, ws string, in *os.File, out io.Writer) error {
	cmd, err := f.ShowPane(ctx, ws)
	if err != nil {
		return err
	}
	if !term.IsTerminal(int(in.Fd())) {
		_, err := fmt.Fprintln(out, strings.Join(cmd.Args, " "))
		return err
	}
	return syscall.Exec(cmd.Path, cmd.Args, cmd.Environ())
}
