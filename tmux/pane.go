package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fleet/internal/proc"
)

// collected is true of a pane once tmux has the exit code of its program, has run
// the hook and has written "Pane is dead".
const collected = "#{!=:#{pane_dead_status}#{pane_dead_signal},}"

// OnDeath makes the server run argv when the program in a pane ends, however it
// ends; at once, if it has ended already. Kill does not trigger it. The command
// runs in the background, with $TMUX set to this server, in the directory that
// the session was opened in; its output and its exit code are dropped. A second
// call replaces the first. tmux can miss a death until its next child ends or
// Panes is called, so that somebody should look now and then all the same.
func (s *Server) OnDeath(ctx context.Context, id PaneID, argv []string) error {
	_, err := s.on(ctx, id, nil, onDeath(id, argv)...)
	return err
}

func onDeath(id PaneID, argv []string) [][]string {
	// A run-shell that prints or fails would show that in a pane, in a mode that
	// eats keys. The line goes through an option, whose value tmux neither
	// parses nor expands: only the shell's quoting is left to get right.
	line := proc.Quote(argv...) + " </dev/null >/dev/null 2>&1 || :"
	react := fmt.Sprintf(`run-shell -b -t %s "#{%s}"`, id, optOnDeath)
	return [][]string{
		{"set-option", "-p", "-t", string(id), optOnDeath, line},
		{"set-hook", "-p", "-t", string(id), "pane-died", react},
		// A death that is not collected yet will be, and answered, when the next
		// child ends.
		{"if-shell", "-F", "-t", string(id), collected, react, "run-shell -b true"},
	}
}

// Capture returns the pane's screen as text, below up to history lines that
// have scrolled off. Lines that the terminal wrapped are joined again, and
// blank lines at the end are left out. It does not see tmux's own modes. After
// the program has ended, its first screen line counts as scrolled off.
func (s *Server) Capture(ctx context.Context, id PaneID, history int) (string, error) {
	out, err := s.on(ctx, id, nil,
		[]string{"display-message", "-p", "-t", string(id), collected},
		[]string{"capture-pane", "-p", "-J", "-t", string(id), "-S", strconv.Itoa(-max(history, 0))})
	dead, screen, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if flag(dead) {
		// tmux has scrolled the screen up and written into the last line.
		screen = screen[:max(strings.LastIndexByte(screen, '\n'), 0)]
	}
	return strings.TrimRight(screen, " \n"), err
}

// Kill ends the pane and hangs up on what runs in it. A pane that is gone is no error.
func (s *Server) Kill(ctx context.Context, id PaneID) error {
	_, err := s.on(ctx, id, nil, []string{"kill-pane", "-t", string(id)})
	if errors.Is(err, ErrNoPane) {
		return nil
	}
	return err
}

// on runs commands about one pane, with a text on their stdin. tmux takes an empty target
// for "the current pane", whichever that is, and any other text for a name to search for.
func (s *Server) on(ctx context.Context, id PaneID, stdin []byte, cmds ...[]string) (string, error) {
	if !id.valid() {
		return "", fmt.Errorf("%w: %q", ErrNoPane, id)
	}
	return s.exec(ctx, proc.Cmd{Stdin: stdin, Args: s.args(cmds...)})
}
