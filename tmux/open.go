package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"fleet/internal/proc"
)

const (
	optRun     = "@fleet_run"
	optWS      = "@fleet_ws"
	optEpoch   = "@fleet_epoch"
	optOwner   = "@fleet_owner" // of a session: the run it was made for
	optOnDeath = "@fleet_on_death"

	// maxPanesPerWindow keeps panes large enough to be read.
	maxPanesPerWindow = 6
)

// PaneSpec describes a pane to open.
type PaneSpec struct {
	Session string   // exact name: letters, digits, "-" and "_"
	Window  string   // exact name, likewise; several windows may share it
	Dir     string   // absolute path of the working directory, which must exist
	Env     []string // KEY=VALUE; anybody who may list processes can read it
	Args    []string // program and at least one argument; about 16 kB in all with Env
	Tags    Tags
	OnDeath []string // as the method; empty is nothing
}

// Open runs a program in a new pane, which keeps its screen when the program
// ends, and returns the pane's id. It makes the session and the window where
// they are missing and spreads panes over windows of one name, 6 in each or as
// many as have room. It fails with a *ForeignSessionError, touching nothing, if
// the session was not made for Tags.Run. Whatever fails, no pane stays behind,
// except that after ErrNoAnswer a tagged one may be there.
func (s *Server) Open(ctx context.Context, spec PaneSpec) (PaneID, error) {
	id, err := s.open(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("opening a tmux pane for %s: %w", spec.Tags.WS, err)
	}
	return id, nil
}

func (s *Server) open(ctx context.Context, spec PaneSpec) (PaneID, error) {
	if err := spec.check(); err != nil {
		return "", err
	}
	rows, err := s.rows(ctx)
	if err != nil {
		return "", err
	}
	id, err := s.place(ctx, spec, rows)
	if err != nil {
		return "", err
	}
	if err := s.arm(ctx, id, spec); err != nil {
		return "", errors.Join(err, s.Kill(proc.Steady(ctx), id))
	}
	return id, nil
}

func (spec PaneSpec) check() error {
	for _, name := range []string{spec.Session, spec.Window} {
		if !plainName().MatchString(name) {
			return fmt.Errorf("tmux name %q: use letters, digits, - and _", name)
		}
	}
	if spec.Tags.Run == "" {
		return errors.New("a pane needs the tag of its run")
	}
	if strings.ContainsFunc(spec.Tags.Run+spec.Tags.WS, unicode.IsControl) {
		return fmt.Errorf("control character in the tags %q and %q", spec.Tags.Run, spec.Tags.WS)
	}
	if len(spec.Args) < 2 {
		return fmt.Errorf("%q: tmux hands a single word to a shell, so an argument is needed", spec.Args)
	}
	for _, kv := range spec.Env {
		if strings.Index(kv, "=") < 1 {
			return fmt.Errorf("environment entry %q is not KEY=VALUE", kv)
		}
	}
	// For a folder that does not exist tmux says nothing and starts the program
	// somewhere else.
	if info, err := os.Stat(spec.Dir); err != nil {
		return err
	} else if !info.IsDir() || !filepath.IsAbs(spec.Dir) {
		return fmt.Errorf("%s is not the absolute path of a folder", spec.Dir)
	}
	return nil
}

// place finds room for a pane and puts the placeholder there.
func (s *Server) place(ctx context.Context, spec PaneSpec, rows []row) (PaneID, error) {
	exists, count := false, map[string]int{}
	var last []row // the last pane of each window of the wanted name
	for _, r := range rows {
		if r.Session != spec.Session {
			continue
		}
		exists = true
		if r.owner != spec.Tags.Run {
			return "", &ForeignSessionError{Session: spec.Session, Owner: r.owner}
		}
		if r.Window != spec.Window {
			continue
		}
		if count[r.windowID]++; count[r.windowID] > 1 {
			last = last[:len(last)-1]
		}
		last = append(last, r)
	}
	if !exists {
		return s.newSession(ctx, spec, len(rows) == 0)
	}
	for _, r := range last {
		// A split would end the zoom under the eyes of whoever asked for it.
		if count[r.windowID] >= maxPanesPerWindow || r.zoomed {
			continue
		}
		id, err := s.split(ctx, spec, r.ID)
		if !errors.Is(err, errNoSpace) {
			return id, err
		}
	}
	return s.create(ctx, spec, withPane("new-window", "-t", insideTarget(spec.Session), "-n", spec.Window))
}

// split adds a pane behind another one. The panes of the window are evened out
// first, because a split halves one pane and is refused when that one is small
// (that is where five panes are the most at 80x24), and afterwards for whoever looks on.
func (s *Server) split(ctx context.Context, spec PaneSpec, behind PaneID) (PaneID, error) {
	tile := []string{"select-layout", "-t", string(behind), "tiled"}
	return s.create(ctx, spec, tile, withPane("split-window", "-t", string(behind)), tile)
}

// newSession makes the session with its first pane. Detached sessions are 80x24
// unless told otherwise, and would be destroyed at once under a configuration
// that destroys what nobody looks at.
func (s *Server) newSession(ctx context.Context, spec PaneSpec, fresh bool) (PaneID, error) {
	var cmds [][]string
	set := func(args ...string) { cmds = append(cmds, append([]string{"set-option"}, args...)) }
	if fresh && s.own {
		set("-s", "exit-unattached", "off")
	}
	if fresh && s.bare {
		set("-g", "history-limit", "50000")
		set("-s", "escape-time", "10")
		set("-g", "mouse", "on")
		set("-s", "default-terminal", "tmux-256color")
		set("-g", "status-left-length", "40") // 10 cuts the session's name off
		set("-gw", "pane-border-status", "top")
		set("-gw", "pane-border-format", " #{"+optWS+"} #{?pane_dead,(ended),} ")
	}
	cmds = append(cmds, withPane("new-session", "-x", "200", "-y", "50", "-s", spec.Session, "-n", spec.Window))
	set("-t", insideTarget(spec.Session), "destroy-unattached", "off")
	set("-t", insideTarget(spec.Session), optOwner, spec.Tags.Run)
	return s.create(ctx, spec, cmds...)
}

// withPane completes a command that makes a pane: without focus, printing its id,
// and with a placeholder in it that ends by itself, so that a caller that was
// killed half-way leaves nothing behind.
func withPane(cmd ...string) []string {
	return append(cmd, "-d", "-P", "-F", "#{pane_id}", "--", "sleep", "60")
}

// create runs commands of which one prints the id of a new pane. It runs tmux
// in the pane's directory instead of naming it with -c, where tmux would expand
// any "#{…}" or "#(…)" in the path; the pane keeps the directory of its client.
func (s *Server) create(ctx context.Context, spec PaneSpec, cmds ...[]string) (PaneID, error) {
	out, err := s.exec(ctx, proc.Cmd{Args: s.args(cmds...), Dir: spec.Dir})
	if err != nil {
		return "", err
	}
	id := PaneID(strings.TrimSpace(out))
	if !id.valid() {
		return "", fmt.Errorf("%w: %q is not the id of the new pane", ErrNoAnswer, out)
	}
	return id, nil
}

// arm turns the placeholder into the real thing. The pane must be told to stay
// before the program starts: one that fails at once would be gone together
// with its exit code, and tmux would report success.
func (s *Server) arm(ctx context.Context, id PaneID, spec PaneSpec) error {
	respawn := []string{"respawn-pane", "-k", "-t", string(id)}
	for _, kv := range spec.Env {
		respawn = append(respawn, "-e", kv)
	}
	cmds := append([][]string{{"set-option", "-p", "-t", string(id), "remain-on-exit", "on"}}, tag(id, spec.Tags)...)
	cmds = append(cmds, append(append(respawn, "--"), spec.Args...))
	if len(spec.OnDeath) > 0 {
		cmds = append(cmds, onDeath(id, spec.OnDeath)...)
	}
	_, err := s.on(ctx, id, nil, cmds...)
	return err
}

// Tag says what a pane of ours is for from now on.
func (s *Server) Tag(ctx context.Context, id PaneID, t Tags) error {
	_, err := s.on(ctx, id, nil, tag(id, t)...)
	return err
}

func tag(id PaneID, t Tags) [][]string {
	set := func(name, value string) []string {
		return []string{"set-option", "-p", "-t", string(id), name, value}
	}
	return [][]string{
		set(optRun, t.Run), set(optWS, t.WS), set(optEpoch, strconv.Itoa(t.Epoch)),
		// A title is a format; the value of a variable in it is not.
		{"select-pane", "-t", string(id), "-T", "#{" + optWS + "}"},
	}
}
