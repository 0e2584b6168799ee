package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"fleet/internal/proc"
)

// Paste puts text into the pane's program byte for byte, as one bracketed paste
// where the program asked for that, and presses no key after it. Copy mode is
// left first. The text may be of any length and may hold any character but
// control characters other than tab and newline: an escape could end the
// bracket, and what follows it would be keys. After ErrNoAnswer the text may
// have arrived.
func (s *Server) Paste(ctx context.Context, id PaneID, text string) error {
	if text == "" {
		return errors.New("nothing to paste")
	}
	if i := strings.IndexFunc(text, isKey); i >= 0 {
		return fmt.Errorf("control character at byte %d of the text to paste", i)
	}
	buffer := "fleet-" + rand.Text()
	// -r, or every newline becomes a carriage return, which is Enter.
	err := s.typeInto(ctx, id, proc.Cmd{Stdin: []byte(text)},
		fmt.Sprintf("paste-buffer -p -r -d -b %s -t %s", buffer, id),
		[]string{"load-buffer", "-b", buffer, "-"})
	if err != nil {
		// The text must not lie about in the server; the error to tell is the first.
		_, _ = s.do(context.WithoutCancel(ctx), []string{"delete-buffer", "-b", buffer})
	}
	return err
}

func isKey(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// Enter presses Enter in the pane, after leaving copy mode. Programs that watch
// for pastes swallow an Enter that comes right behind one: how long to wait
// between Paste and Enter is for the caller to know.
func (s *Server) Enter(ctx context.Context, id PaneID) error {
	return s.typeInto(ctx, id, proc.Cmd{}, "send-keys -t "+string(id)+" Enter")
}

// typeInto runs a command that types, once the pane is known to listen. In copy
// mode keys would not get through. In a pane whose program has ended, send-keys
// reports success and paste-buffer crashes the server, tmux 3.3a at least, and
// with it every other pane. So the check is made by the server in the same
// breath: between two calls of ours the program could end.
func (s *Server) typeInto(ctx context.Context, id PaneID, c proc.Cmd, command string, before ...[]string) error {
	if !id.valid() {
		return fmt.Errorf("%w: %q", ErrNoPane, id)
	}
	cmds := append([][]string{{"copy-mode", "-q", "-t", string(id)}}, before...)
	cmds = append(cmds, []string{"if-shell", "-F", "-t", string(id), "#{pane_dead}", "display-message -p dead", command})
	c.Args = s.args(cmds...)
	out, err := s.exec(ctx, c)
	if err == nil && out != "" {
		return fmt.Errorf("%w: %s", ErrDead, id)
	}
	return err
}
