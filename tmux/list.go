package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PaneID is tmux's name of a pane, such as "%12". It is never given twice by
// one server, but the next server counts from %0 again: before acting on an id
// that was stored, look at the pane's Tags.
type PaneID string

func (id PaneID) valid() bool {
	n, ok := strings.CutPrefix(string(id), "%")
	_, err := strconv.ParseUint(n, 10, 32)
	return ok && err == nil
}

// Tags say what a pane was opened for. They are kept by tmux, as the pane's
// user options @fleet_run, @fleet_ws and @fleet_epoch.
type Tags struct {
	Run   string
	WS    string
	Epoch int
}

// Pane is what tmux knows of one pane. Control characters in a text are shown
// as spaces.
type Pane struct {
	ID            PaneID
	Session       string
	Window        string
	Title         string // set by the program in it
	Path          string // working directory of the program in the foreground
	Command       string // name of the program in the foreground
	PID           int    // of the program that the pane was opened for
	Dead          bool   // the program has ended and the pane still shows its screen
	ExitCode      int    // when Dead; 128+n after signal n; -1 when not known (yet)
	InMode        bool   // in copy mode or another mode of tmux's, which eats keys
	Alternate     bool   // on the alternate screen
	Width, Height int    // in cells
	Tags          Tags   // zero unless Open made it
}

// row is one line of the listing: a pane as seen from one session.
type row struct {
	Pane
	windowID string
	zoomed   bool
	owner    string // the run that made the session
}

// listFormat has one field for each that parseRow takes, in its order. The tags
// of the session have a name of their own: a format looks an option up in the
// pane, then in its window, then in its session, so that a pane which a person
// made in our session would seem to be tagged.
var listFormat = strings.Join([]string{
	"#{pane_id}", "#{pane_pid}", "#{pane_dead}", "#{pane_dead_status}", "#{pane_dead_signal}",
	"#{pane_in_mode}", "#{alternate_on}", "#{pane_width}", "#{pane_height}",
	"#{window_id}", "#{window_zoomed_flag}", printable(optOwner),
	printable(optRun), printable(optWS), printable(optEpoch),
	printable("session_name"), printable("window_name"), printable("pane_current_command"),
	printable("pane_title"), printable("pane_current_path"),
}, "\t")

// printable is a variable in which tmux replaces control characters, so that a
// folder with a newline in its name cannot forge a line of the listing.
func printable(variable string) string { return "#{s/[\x01-\x1f]/ /:" + variable + "}" }

// Panes lists every pane of the server, each pane once, in one call of tmux, or
// two if the exit code of a dead pane is missing. A server that is not running
// has none. Every other failure is ErrNoAnswer.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, err
	}
	// A window can be linked into a second session, as in a grouped one: the
	// session that we made goes first.
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(b.owner, a.owner) })
	seen := make(map[PaneID]bool, len(rows))
	panes := make([]Pane, 0, len(rows))
	for _, r := range rows {
		if !seen[r.ID] {
			seen[r.ID] = true
			panes = append(panes, r.Pane)
		}
	}
	return panes, nil
}

// Pane looks one pane up. False with a nil error is a known fact: it is gone.
func (s *Server) Pane(ctx context.Context, id PaneID) (Pane, bool, error) {
	panes, err := s.Panes(ctx)
	for _, p := range panes {
		if p.ID == id {
			return p, true, nil
		}
	}
	return Pane{}, false, err
}

// rows lists the panes, and again if tmux has not collected the exit code of one
// that is dead. A tmux built with utempter ignores SIGCHLD for a moment when the
// terminal of a pane closes. If the program's falls into that moment, the pane
// stays without exit code, and its hook does not run, until another child of the
// server ends: so one is made to.
func (s *Server) rows(ctx context.Context) ([]row, error) {
	rows, err := s.list(ctx)
	if !slices.ContainsFunc(rows, func(r row) bool { return r.Dead && r.ExitCode < 0 }) {
		return rows, err
	}
	// The news of that child can go the same way. Then it has to do without.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if again, err := s.list(ctx, []string{"run-shell", "true"}); err == nil {
		rows = again
	}
	return rows, nil
}

func (s *Server) list(ctx context.Context, before ...[]string) ([]row, error) {
	out, err := s.do(ctx, append(before, []string{"list-panes", "-a", "-F", listFormat})...)
	switch {
	case errors.Is(err, errNoServer):
		return nil, nil
	case errors.Is(err, ErrNoAnswer):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	var rows []row
	for line := range strings.Lines(out) {
		r, err := parseRow(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func parseRow(line string) (row, error) {
	f := strings.Split(line, "\t")
	if want := strings.Count(listFormat, "\t") + 1; len(f) != want || !PaneID(f[0]).valid() {
		return row{}, fmt.Errorf("list-panes: line of %d fields, not %d: %q", len(f), want, line)
	}
	return row{
		Pane: Pane{
			ID: PaneID(f[0]), PID: number(f[1], 0), Dead: flag(f[2]), ExitCode: exitCode(f[3], f[4]),
			InMode: flag(f[5]), Alternate: flag(f[6]), Width: number(f[7], 0), Height: number(f[8], 0),
			Tags:    Tags{Run: f[12], WS: f[13], Epoch: number(f[14], 0)},
			Session: f[15], Window: f[16], Command: f[17], Title: f[18], Path: f[19],
		},
		windowID: f[9], zoomed: flag(f[10]), owner: f[11],
	}, nil
}

// exitCode joins the two ways in which a program ends, as a shell does. Both
// are empty for a moment after the terminal closed: the status comes later.
func exitCode(status, signal string) int {
	if n := number(signal, 0); n > 0 {
		return 128 + n
	}
	return number(status, -1)
}

// flag reads a truth value. Some are counts: two modes at once are "2".
func flag(field string) bool { return field != "" && field != "0" }

func number(field string, otherwise int) int {
	if n, err := strconv.Atoi(field); err == nil {
		return n
	}
	return otherwise
}
