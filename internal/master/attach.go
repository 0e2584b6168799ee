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

// Attach turns this process into a tmux client that shows the run's panes.
// Where there is no terminal it prints the command that would.
func (f *Fleet) Attach(ctx context.Context, in *os.File, out io.Writer) error {
	server, err := f.Tmux()
	if err != nil {
		return err
	}
	panes, err := f.panes(ctx, func(tmux.Pane) bool { return true })
	if err != nil {
		return err
	}
	if len(panes) == 0 {
		return roster.Refusef("no worker has a pane").Hinted("fleet spawn starts them")
	}
	args := server.AttachArgs(f.Session(), os.Getenv("TMUX"))
	if !term.IsTerminal(int(in.Fd())) {
		_, err := fmt.Fprintln(out, strings.Join(args, " "))
		return err
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return &agent.MissingError{Program: args[0], For: "fleet attach"}
	}
	env := os.Environ()
	if !slices.Contains(args, "switch-client") { // tmux refuses to nest while it sees another one's variable
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "TMUX=") })
	}
	return syscall.Exec(program, args, env)
}
