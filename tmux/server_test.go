package tmux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fleet/internal/proc"
)

// T14, and what -L would take for a path. CFN-72 by intent: such a name is refused where
// upstream folds it, for two names could become one.
func TestNewRefusesNames(t *testing.T) {
	for _, name := range []string{"", "a.b", "a:b", "a b", "../a", "ü", "a\n"} {
		if _, err := New(proc.Run, name, ""); err == nil {
			t.Errorf("New took the socket name %q", name)
		}
	}
}

// T13: tmux itself says no more than "File name too long".
func TestNewChecksTheSocketPath(t *testing.T) {
	short := t.TempDir()
	long := filepath.Join(short, strings.Repeat("x", 80))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", long)
	if _, err := New(proc.Run, "fleet-demo", ""); err == nil || !strings.Contains(err.Error(), "100") {
		t.Errorf("a long socket path: %v", err)
	}
	t.Setenv("TMUX_TMPDIR", "relative")
	if _, err := New(proc.Run, "fleet-demo", ""); err == nil {
		t.Error("New took a relative TMUX_TMPDIR")
	}
	t.Setenv("TMUX_TMPDIR", filepath.Join(short, "missing"))
	s, err := New(proc.Run, "fleet-demo", "")
	if err != nil || s.socket != "/tmp/tmux-"+strconv.Itoa(os.Getuid())+"/fleet-demo" {
		t.Errorf("a missing TMUX_TMPDIR: %v, %+v", err, s)
	}
}

// The path that we work out is the one that tmux uses, links resolved.
func TestSocketPathIsThatOfTmux(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(os.Getenv("TMUX_TMPDIR"), link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", link)
	s := newServer(t)
	mustOpen(t, s, spec(t))
	if got := must(t, s, []string{"display-message", "-p", "#{socket_path}"}); got != s.socket {
		t.Errorf("tmux uses %s, we say %s", got, s.socket)
	}
}

// T15, PAINS rows 29 and 30: TestMain put us inside the decoy, and neither the
// server nor what it hands to panes may know of that.
func TestServerKnowsNothingOfTheOuterTmux(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if got := panes(t, s); len(got) != 0 {
		t.Fatalf("a server that was never started has panes: %+v", got)
	}
	mustOpen(t, s, spec(t))
	outer := os.Getenv("TMUX")
	if env := must(t, s, []string{"show-environment", "-g"}); strings.Contains(env, outer) || strings.Contains(env, "TMUX_PANE") {
		t.Errorf("the server's environment names the outer tmux:\n%s", env)
	}
	if err := s.KillServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := panes(t, s); len(got) != 0 {
		t.Errorf("panes after KillServer: %+v", got)
	}
}

// A pane that is opened right after the last one is gone does not meet the
// server that is ending.
func TestOpenAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if err := s.KillServer(t.Context()); err != nil {
		t.Fatalf("nothing to kill: %v", err)
	}
	for range 5 {
		id := mustOpen(t, s, spec(t))
		if err := s.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		mustOpen(t, s, spec(t))
		if err := s.KillServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOptionsOfOurOwnServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	want := map[string]string{
		"history-limit": "50000", "escape-time": "10", "mouse": "on", "default-terminal": "tmux-256color", "status-left-length": "40",
	}
	for name, value := range want {
		if got := must(t, s, []string{"show-options", "-gv", name}); got != value {
			t.Errorf("%s is %s, not %s", name, got, value)
		}
	}
	must(t, s, []string{"set-option", "-g", "mouse", "off"})
	second := spec(t)
	second.Session = "second"
	id := mustOpen(t, s, second)
	if got := must(t, s, []string{"show-options", "-gv", "mouse"}); got != "off" {
		t.Error("a second session took back what the person had set")
	}
	if got := must(t, s, []string{"display-message", "-p", "-t", string(id), "#{history_limit}"}); got != "50000" {
		t.Errorf("history of the pane: %s lines", got)
	}
}

// The person's configuration decides, except over whether panes live on while
// nobody looks.
func TestOwnServerWithConfiguration(t *testing.T) {
	t.Parallel()
	s := newServer(t, "set -g destroy-unattached on", "set -g exit-unattached on", "set -g history-limit 77", "set -g remain-on-exit off")
	id := mustOpen(t, s, spec(t))
	await(t, s, id, func(p Pane) bool { return p.Command == "sleep" })
	if got := must(t, s, []string{"show-options", "-gv", "history-limit"}); got != "77" {
		t.Errorf("history-limit is %s", got)
	}
}

func TestConfigurationPathIsAbsolute(t *testing.T) {
	t.Parallel()
	s, err := New(proc.Run, "fleet-demo", "my.conf")
	if err != nil || !filepath.IsAbs(s.flags[3]) {
		t.Errorf("%v, %+v: tmux is run in the folders of panes", err, s)
	}
}

// A person's server gets a session of ours and nothing else (PAINS want 9).
func TestCurrentChangesNothingGlobal(t *testing.T) {
	t.Parallel()
	person := newServer(t)
	must(t, person, []string{"new-session", "-d", "-s", "work", "sleep", "1000"})
	state := func() string {
		return must(t, person, []string{"show-options", "-g"}, []string{"show-options", "-s"}, []string{"show-options", "-gw"},
			[]string{"show-hooks", "-g"}, []string{"list-keys"}, []string{"show-environment", "-g"},
			[]string{"list-panes", "-s", "-t", "=work:", "-F", "#{pane_id} #{pane_pid} #{pane_active} #{window_active}"})
	}
	before := state()
	s, err := Current(proc.Run, must(t, person, []string{"display-message", "-p", "#{socket_path},#{pid},0"}))
	if err != nil {
		t.Fatal(err)
	}
	id := mustOpen(t, s, spec(t))
	if _, found, err := person.Pane(t.Context(), id); !found || err != nil {
		t.Errorf("the pane is not on the person's server: %v", err)
	}
	if after := state(); after != before {
		t.Errorf("global state changed from\n%s\nto\n%s", before, after)
	}
	if err := s.KillServer(t.Context()); err == nil {
		t.Error("KillServer did not refuse")
	}
	if got := panes(t, s); len(got) != 2 {
		t.Errorf("panes: %+v", got)
	}
}

func TestCurrentNeedsTmux(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"", ",1,0", "tmux"} {
		if _, err := Current(proc.Run, env); err == nil {
			t.Errorf("Current took %q", env)
		}
	}
}

// T1 and PAINS row 50, as arguments.
func TestAttachArgs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for env, verb := range map[string]string{
		"":                     "attach-session",
		os.Getenv("TMUX"):      "attach-session",
		s.socket + ",4711,0":   "switch-client",
		s.socket + "2,4711,0":  "attach-session",
		"/tmp/other,4711,0":    "attach-session",
		s.socket:               "switch-client",
		"," + s.socket + ",12": "attach-session",
	} {
		got := s.AttachArgs("fleet", env)
		want := []string{"tmux", "-u", "-L", filepath.Base(s.socket), "-f", "/dev/null", verb, "-t", "=fleet"}
		if !slices.Equal(got, want) {
			t.Errorf("with TMUX=%s: %q", env, got)
		}
	}
}

// The same, from a real terminal inside another tmux and then from inside.
func TestAttachArgsWork(t *testing.T) {
	t.Parallel()
	s, outer := newServer(t), newServer(t)
	short, long := spec(t), spec(t)
	short.Session, long.Session = "fleet", "fleet_2"
	mustOpen(t, s, long)
	first := mustOpen(t, s, short)
	shown := func(session string) {
		t.Helper()
		eventually(t, "a client at "+session, func() bool {
			return must(t, s, []string{"list-clients", "-F", "#{client_session}"}) == session
		})
	}
	terminal := spec(t)
	terminal.Args = append([]string{"env", "-u", "TMUX"}, s.AttachArgs("fleet", "")...)
	mustOpen(t, outer, terminal)
	shown("fleet")

	inside := must(t, s, []string{"display-message", "-p", "-t", string(first), "#{socket_path},#{pid},0"})
	must(t, s, append([]string{"respawn-pane", "-k", "-t", string(first), "--"}, s.AttachArgs("fleet_2", inside)...))
	shown("fleet_2")
}

// PAINS row 48: a server that hangs is no news about its panes.
func TestTimeOutIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := mustOpen(t, s, spec(t))
	pid, err := strconv.Atoi(must(t, s, []string{"display-message", "-p", "#{pid}"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, found, err := s.Pane(ctx, id)
	if found || !errors.Is(err, ErrNoAnswer) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNoPane) {
		t.Errorf("Pane of a stopped server: %v", err)
	}
	if err := s.Kill(ctx, id); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("Kill at a stopped server: %v", err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, s, id, opened)
}

// What tmux says, and what we make of it.
func TestClassify(t *testing.T) {
	t.Parallel()
	exit := errors.New("exit status 1")
	for _, c := range []struct {
		name    string
		run     proc.Runner
		want    error // of Kill, for which a known absence is success
		unknown bool  // Panes must fail
	}{
		{"no server", fails(1, "no server running on /tmp/x", exit), nil, false},
		{"no socket", fails(1, "error connecting to /tmp/x (No such file or directory)", exit), nil, false},
		{"no session", fails(1, "no current target", exit), nil, false},
		{"no access", fails(1, "error connecting to /tmp/x (Permission denied)", exit), ErrNoAnswer, true},
		{"server ends", then(fails(1, "server exited unexpectedly", exit), fails(1, "no server running on /tmp/x", exit)), nil, false},
		{"lost server", then(fails(1, "lost server", exit), fails(-1, "", context.DeadlineExceeded)), ErrNoAnswer, true},
		{"no pane", fails(1, "can't find pane: %3", exit), nil, true},
		{"something else", fails(1, "unknown command: kill-pane", exit), exit, true},
		{"time-out", fails(-1, "", context.DeadlineExceeded), ErrNoAnswer, true},
		{"missing", fails(-1, "", exec.ErrNotFound), ErrNoAnswer, true},
	} {
		s, err := New(c.run, "fleet-demo", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Kill(t.Context(), "%3"); !errors.Is(err, c.want) {
			t.Errorf("%s: Kill: %v", c.name, err)
		}
		list, err := s.Panes(t.Context())
		if errors.Is(err, ErrNoAnswer) != c.unknown || len(list) != 0 {
			t.Errorf("%s: Panes: %v, %v", c.name, list, err)
		}
		if c.name == "missing" && !proc.Missing(err) {
			t.Errorf("a missing tmux cannot be told: %v", err)
		}
	}
}

// then is a Runner whose odd calls end in one way and the others in another.
func then(first, second proc.Runner) proc.Runner {
	n := 0
	return func(ctx context.Context, c proc.Cmd) ([]byte, error) {
		if n++; n%2 == 1 {
			return first(ctx, c)
		}
		return second(ctx, c)
	}
}

func TestEveryCallHasADeadline(t *testing.T) {
	t.Parallel()
	var left time.Duration
	s, err := New(func(ctx context.Context, _ proc.Cmd) ([]byte, error) {
		deadline, ok := ctx.Deadline()
		if !ok {
			t.Error("no deadline")
		}
		left = time.Until(deadline)
		return nil, nil
	}, "fleet-demo", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Panes(context.Background()); err != nil || left > callTimeout || left < callTimeout-time.Second {
		t.Errorf("%v left, %v", left, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if _, err := s.Panes(ctx); err != nil || left < 50*time.Minute {
		t.Errorf("the caller's own deadline: %v left, %v", left, err)
	}
}

// T1 and T2, PAINS rows 24 and 25: both forms are exact, where each is used.
func TestTargetsAreExact(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	long := spec(t)
	long.Session = "foo_bar"
	mustOpen(t, s, long)
	for _, cmd := range [][]string{
		{"has-session", "-t", sessionTarget("foo")},
		{"kill-session", "-t", sessionTarget("foo")},
		{"set-option", "-t", insideTarget("foo"), "@x", "y"},
		{"new-window", "-d", "-t", insideTarget("foo"), "sleep", "1000"},
	} {
		if _, err := s.do(t.Context(), cmd); err == nil || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%q: %v", cmd, err)
		}
	}
	must(t, s, []string{"has-session", "-t", sessionTarget("foo_bar")}, []string{"set-option", "-t", insideTarget("foo_bar"), "@x", "y"})
	if got := panes(t, s); len(got) != 1 {
		t.Errorf("panes: %+v", got)
	}
}

// T3: a word that ends in ";" stays a word, wherever it stands.
func TestTrailingSemicolons(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustOpen(t, s, spec(t))
	for _, value := range []string{";", "x;", `x\;`, `x\\;`, ";;", "a;b;", `\`, "a ; b", "-x;"} {
		if got := must(t, s, []string{"set-buffer", "-b", "b", "--", value}, []string{"show-buffer", "-b", "b"}); got != value {
			t.Errorf("%q became %q", value, got)
		}
	}
}
