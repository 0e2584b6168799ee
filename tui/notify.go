package tui

import (
	"context"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"fleet/internal/proc"
	"fleet/roster"
)

const notifyTimeout = 10 * time.Second

// ring calls a person: by the terminal's bell, as a notification of the terminal's
// (OSC 9), and by the command of the run's settings, which gets the text as $1.
func ring(command, text string) tea.Cmd {
	return func() tea.Msg {
		_, _ = os.Stdout.WriteString("\a" + ansi.Notify("fleet: "+text))
		if command == "" {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
		defer cancel()
		if _, err := proc.Run(ctx, proc.Cmd{Args: []string{"sh", "-c", command, "fleet", text}}); err != nil {
			return saidMsg{err: roster.Dataf("FLEET_NOTIFY: %v", err)}
		}
		return nil
	}
}

func alertText(a roster.Alert) string {
	who := a.WS
	if a.Task != "" && a.Task != a.WS {
		who += " " + a.Task
	}
	if a.Why == "" {
		return who + " " + a.Kind
	}
	return who + " " + a.Why
}
