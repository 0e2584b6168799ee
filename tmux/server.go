// Package tmux is the one place that runs tmux.
//
// It opens panes, types into them, reads them and lists them; it knows nothing
// of agents. A pane is addressed by the id that tmux gave it, never by a name
// or an index. Nothing here focuses a pane, binds a key, or acts on a pane that
// it was not told the id of. "tmux did not answer" (ErrNoAnswer) and "the pane
// is gone" (ErrNoPane) are different answers everywhere.
//
// Methods may be called from several goroutines and processes at once, except
// that callers must keep two Opens on one session apart.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fleet/internal/proc"
)

const (
	// callTimeout bounds a call whose context has no deadline of its own.
	callTimeout = 5 * time.Second

	// maxSocketPath stays below what a socket address holds (108 bytes on
	// Linux, 104 on macOS), beyond which tmux says only "File name too long".
	maxSocketPath = 100
)

// plainName is what tmux keeps unchanged: it turns the dots and colons of a
// session name into underscores without a word.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// Server is one tmux server, running or not.
type Server struct {
	run    proc.Runner
	flags  []string // which server, and with which configuration
	socket string   // path of the socket
	env    []string // of every tmux client that we run
	own    bool     // ours alone, so that its global options and its end are ours
	bare   bool     // started without anybody's configuration file
}

// New returns the private server with that socket name, which is started by the
// first Open. conf is a tmux configuration file; empty means none, not even the
// person's own. It fails on a name that is not made of letters, digits, "-" and
// "_", and on a socket path longer than 100 bytes.
func New(run proc.Runner, socket, conf string) (*Server, error) {
	if !plainName().MatchString(socket) {
		return nil, fmt.Errorf("tmux socket name %q: use letters, digits, - and _", socket)
	}
	path, err := socketPath(os.Getenv("TMUX_TMPDIR"), socket)
	if err != nil {
		return nil, err
	}
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("tmux socket path %s has %d bytes, %d is the most: set TMUX_TMPDIR to a shorter folder",
			path, len(path), maxSocketPath)
	}
	s := &Server{run: run, socket: path, env: environ(), own: true, bare: conf == ""}
	if s.bare {
		conf = os.DevNull
	} else if conf, err = filepath.Abs(conf); err != nil {
		return nil, fmt.Errorf("tmux configuration: %w", err)
	}
	s.flags = []string{"-L", socket, "-f", conf}
	return s, nil
}

// Current returns the server that tmuxEnv, the value of $TMUX, names. It is the
// person's: nothing global is set on it, and KillServer refuses.
func Current(run proc.Runner, tmuxEnv string) (*Server, error) {
	path, _, _ := strings.Cut(tmuxEnv, ",")
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("not inside tmux: TMUX is %q", tmuxEnv)
	}
	return &Server{run: run, flags: []string{"-S", path}, socket: path, env: environ()}, nil
}

// socketPath tells where tmux -L puts a socket, as $TMUX will name it: with
// symbolic links resolved, and below /tmp when tmpdir cannot be.
func socketPath(tmpdir, name string) (string, error) {
	if tmpdir != "" && !filepath.IsAbs(tmpdir) {
		return "", fmt.Errorf("TMUX_TMPDIR is %q: it must be an absolute path", tmpdir)
	}
	base := "/tmp"
	for _, dir := range []string{base, tmpdir} {
		if path, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
			base = path
		}
	}
	return filepath.Join(base, "tmux-"+strconv.Itoa(os.Getuid()), name), nil
}

// environ is our environment without what tells tmux that it runs inside a
// pane: with $TMUX set, a client can end up at that server and not at ours, and
// the server that we start would hand both on to its panes.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}

// sessionTarget is the exact form of a session's name for commands on sessions.
// A bare name is a prefix: "-t foo" reaches, and kills, foo_bar.
func sessionTarget(name string) string { return "=" + name }

// insideTarget is the exact form for commands that take a window, a pane or
// an option of a session: they do not understand "=name".
func insideTarget(name string) string { return "=" + name + ":" }

// KillServer ends our own server with every pane in it, and returns when it is
// gone. No server is no error. It refuses on a server made by Current.
func (s *Server) KillServer(ctx context.Context) error {
	if !s.own {
		return errors.New("this tmux server is not fleet's own: refusing to kill it")
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	for { // a server that has been told to end answers for a moment
		if _, err := s.do(ctx, []string{"kill-server"}); errors.Is(err, errNoServer) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// AttachArgs returns the command for a person's terminal that shows a session.
// insideEnv is the $TMUX of that terminal. Inside this same server it is
// switch-client, which needs that TMUX; anywhere else it is attach-session,
// which inside another server needs TMUX removed from the environment.
func (s *Server) AttachArgs(session, insideEnv string) []string {
	return s.args([]string{s.attach(insideEnv), "-t", sessionTarget(session)})
}

// ShowArgs is AttachArgs for one pane, which fills the terminal.
func (s *Server) ShowArgs(id PaneID, insideEnv string) []string {
	zoom := fmt.Sprintf("resize-pane -Z -t %s", id)
	return s.args([]string{s.attach(insideEnv), "-t", string(id)}, []string{"if-shell", "-F", "#{window_zoomed_flag}", "", zoom})
}

func (s *Server) attach(insideEnv string) string {
	if s.Shows(insideEnv) {
		return "switch-client"
	}
	return "attach-session"
}

// Shows reports whether a terminal whose $TMUX is insideEnv is a pane of this server.
func (s *Server) Shows(insideEnv string) bool {
	inside, _, _ := strings.Cut(insideEnv, ",")
	return inside == s.socket
}

// Prefix is the key that comes before tmux's own keys, as tmux calls it: C-b, or None.
func (s *Server) Prefix(ctx context.Context) (string, error) {
	out, err := s.do(ctx, []string{"show-options", "-gv", "prefix"})
	return strings.TrimSpace(out), err
}

// do runs tmux commands in one client. The server runs them in a row, and the
// first that fails ends the row.
func (s *Server) do(ctx context.Context, cmds ...[]string) (string, error) {
	return s.exec(ctx, proc.Cmd{Args: s.args(cmds...)})
}

// exec is the one place where a tmux client is started. A server whose last pane
// has gone drops whoever connects while it ends. Nothing of it is left then, so
// asking again is safe, and right after a Kill it is needed.
func (s *Server) exec(ctx context.Context, c proc.Cmd) (string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	c.Env = s.env
	for {
		out, err := s.run(ctx, c)
		if err == nil {
			return string(out), nil
		}
		if err := classify(err); !errors.Is(err, errDropped) || ctx.Err() != nil {
			return "", err
		}
	}
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

// args builds the argument vector. -u comes first because without it, and
// without a UTF-8 locale, every non-ASCII character is printed as "_".
func (s *Server) args(cmds ...[]string) []string {
	argv := append([]string{"tmux", "-u"}, s.flags...)
	for i, cmd := range cmds {
		if i > 0 {
			argv = append(argv, ";")
		}
		for _, arg := range cmd {
			// tmux takes any word that ends in ";" for the end of a command.
			if before, ok := strings.CutSuffix(arg, ";"); ok {
				arg = before + `\;`
			}
			argv = append(argv, arg)
		}
	}
	return argv
}
