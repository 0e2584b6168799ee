package cmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func tmuxLs(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "tmuxls")
	list := ts.Stdout()
	for _, socket := range socketsIn(ts.Getenv("TMUX_TMPDIR")) {
		out, err := tmuxOn(socket, "list-panes", "-a", "-F", "#{session_name} #{pane_id} #{@fleet_ws} #{pane_dead} #{pane_title}")
		if err != nil {
			continue // a socket without a server
		}
		for line := range strings.Lines(out) {
			fmt.Fprintf(list, "%s %s", filepath.Base(socket), line)
		}
	}
}

// paneOf finds the newest pane of a workstream on any server of the script.
func paneOf(ts *testscript.TestScript, ws string) (socket, pane string) {
	for _, s := range socketsIn(ts.Getenv("TMUX_TMPDIR")) {
		out, _ := tmuxOn(s, "list-panes", "-a", "-F", "#{@fleet_ws} #{pane_id}")
		for line := range strings.Lines(out) {
			if name, id, _ := strings.Cut(strings.TrimSpace(line), " "); name == ws {
				socket, pane = s, id
			}
		}
	}
	return socket, pane
}

// capture is what the pane of a workstream shows, empty if it has none.
func capture(ts *testscript.TestScript, ws string) string {
	socket, pane := paneOf(ts, ws)
	if pane == "" {
		return ""
	}
	out, _ := tmuxOn(socket, "capture-pane", "-p", "-J", "-S", "-50", "-t", pane)
	return strings.TrimRight(out, "\n") + "\n"
}

func screen(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "screen WSxx")
	fmt.Fprint(ts.Stdout(), capture(ts, args[0]))
}

func inPane(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 1, "inpane WSxx tmux-command [args...]")
	socket, pane := paneOf(ts, args[0])
	usage(ts, pane != "", "inpane WSxx tmux-command [args...], with a workstream that has a pane")
	_, err := tmuxOn(socket, append([]string{args[1], "-t", pane}, args[2:]...)...)
	ts.Check(err)
}
