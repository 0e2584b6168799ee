package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"unicode"
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
	return s.put(ctx, id, text, "-p")
}

func isKey(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// Enter presses Enter in the pane, after leaving copy mode. Programs that watch
// for pastes swallow an Enter that comes right behind one: how long to wait
// between Paste and Enter is for the caller to know.
func (s *Server) Enter(ctx context.Context, id PaneID) error {
	// What send-keys sends goes to every pane of a window whose panes a person
	// has synchronized, and Enter there submits drafts and approves dialogs.
	return s.put(ctx, id, "\r", "")
}

// put writes text to the program in a pane, as a paste does. A pane whose program
// has ended must be left alone: paste-buffer there crashes tmux 3.3a, and with it
// every other pane. So the server looks in the same breath; between two calls of
// ours the program could end.
func (s *Server) put(ctx context.Context, id PaneID, text, flags string) error {
	buffer := "fleet-" + rand.Text()
	out, err := s.on(ctx, id, []byte(text),
		[]string{"copy-mode", "-q", "-t", string(id)}, // all modes, or the screen would not show the text
		[]string{"load-buffer", "-b", buffer, "-"},
		// Without -r every newline becomes a carriage return, which is Enter.
		[]string{
			"if-shell", "-F", "-t", string(id), "#{pane_dead}", "display-message -p dead",
			fmt.Sprintf("paste-buffer %s -r -d -b %s -t %s", flags, buffer, id),
		},
	)
	if err == nil && out != "" {
		err = fmt.Errorf("%w: %s", ErrDead, id)
	}
	if err != nil && !errors.Is(err, ErrNoAnswer) {
		// The text must not lie about in the server. The error to tell is the first.
		_, _ = s.do(ctx, []string{"delete-buffer", "-b", buffer})
	}
	return err
}
