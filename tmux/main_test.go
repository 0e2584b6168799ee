package tmux

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/term"

	"fleet/internal/proc"
)

// roleVar makes the test binary play a program in a pane.
const roleVar = "FLEET_TMUX_TEST_ROLE"

// TestMain runs every test as if inside a pane of a decoy server, which must be
// alive and unchanged at the end (T15, PAINS rows 26, 28 and 29). A missing
// tmux fails here.
func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "raw":
		playRaw(os.Args[1])
	case "report":
		playReport(os.Args[1])
	default:
		os.Exit(runInDecoy(m))
	}
}

func runInDecoy(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "ft")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	setenv("TMUX_TMPDIR", dir)
	ctx := context.Background()
	decoy, err := New(proc.Run, "decoy", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = decoy.KillServer(ctx) }()
	id, err := decoy.Open(ctx, PaneSpec{
		Session: "decoy", Window: "decoy", Dir: dir,
		Args: []string{"sleep", "1000"}, Tags: Tags{Run: "decoy"},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the decoy:", err)
		return 1
	}
	before, err := decoy.Panes(ctx)
	setenv("TMUX", decoy.socket+",1,0")
	setenv("TMUX_PANE", string(id))
	code := m.Run()
	after, err2 := decoy.Panes(ctx)
	same := func(a, b Pane) bool {
		return a.ID == b.ID && a.PID == b.PID && a.Dead == b.Dead && a.InMode == b.InMode
	}
	if err != nil || err2 != nil || len(after) != 1 || !slices.EqualFunc(before, after, same) {
		fmt.Fprintln(os.Stderr, "FAIL: the decoy server changed:", before, err, after, err2)
		return 1
	}
	return code
}

// setenv is t.Setenv for the time before there is a test.
func setenv(key, value string) {
	if err := os.Setenv(key, value); err != nil {
		panic(err)
	}
}

// playRaw is a terminal program: raw mode, bracketed paste, and every byte that
// reaches it in a file.
func playRaw(file string) {
	out, err := os.Create(file)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print("\x1b[?2004h\x1b]2;ready\a")
	_, _ = io.Copy(out, os.Stdin)
}

// report is what playReport saw of its circumstances.
type report struct {
	Dir  string
	Args []string
	Env  []string
}

func playReport(file string) {
	dir, _ := os.Getwd()
	data, _ := json.Marshal(report{Dir: dir, Args: os.Args, Env: os.Environ()})
	err := os.WriteFile(file+".new", data, 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		fmt.Println(err)
	}
	time.Sleep(time.Minute) // until the pane is killed
}

var servers atomic.Int32

// newServer returns a private server that is gone after the test.
func newServer(t *testing.T, conf ...string) *Server {
	t.Helper()
	file := ""
	if len(conf) > 0 {
		file = filepath.Join(t.TempDir(), "tmux.conf")
		if err := os.WriteFile(file, []byte(strings.Join(conf, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(proc.Run, fmt.Sprintf("fleet-test-%d-%d", os.Getpid(), servers.Add(1)), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.KillServer(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// spec is a pane in which nothing happens.
func spec(t *testing.T) PaneSpec {
	return PaneSpec{
		Session: "fleet", Window: "workers", Dir: t.TempDir(),
		Args: []string{"sleep", "1000"}, Tags: Tags{Run: "demo", WS: "WS01", Epoch: 1},
	}
}

func mustOpen(t *testing.T, s *Server, spec PaneSpec) PaneID {
	t.Helper()
	id, err := s.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// openRaw opens a pane with playRaw and returns the file of what it receives.
func openRaw(t *testing.T, s *Server) (PaneID, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "received")
	raw := spec(t)
	raw.Args, raw.Env = []string{os.Args[0], file}, []string{roleVar + "=raw"}
	id := mustOpen(t, s, raw)
	await(t, s, id, func(p Pane) bool { return p.Title == "ready" })
	return id, file
}

// must runs tmux commands of the test's own.
func must(t *testing.T, s *Server, cmds ...[]string) string {
	t.Helper()
	out, err := s.do(t.Context(), cmds...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

func panes(t *testing.T, s *Server) []Pane {
	t.Helper()
	list, err := s.Panes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// patiently polls for longer than a busy machine needs.
func patiently(t *testing.T, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return poll(ctx, ask)
}

// eventually waits for something to become true.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	if err := patiently(t, func() (bool, error) { return ask(), nil }); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// await waits for a pane to be as wanted.
func await(t *testing.T, s *Server, id PaneID, wanted func(Pane) bool) Pane {
	t.Helper()
	var last Pane
	err := patiently(t, func() (found bool, err error) {
		last, found, err = s.Pane(t.Context(), id)
		return found && wanted(last), err
	})
	if err != nil {
		t.Fatalf("pane %s is %+v: %v", id, last, err)
	}
	return last
}

// holds waits for a file to have exactly this content.
func holds(t *testing.T, file, want string) {
	t.Helper()
	var got []byte
	err := patiently(t, func() (bool, error) {
		got, _ = os.ReadFile(file)
		return string(got) == want, nil
	})
	if err != nil {
		t.Fatalf("%s holds\n%q, not\n%q", filepath.Base(file), got, want)
	}
}

// fails is a Runner whose every program ends like this.
func fails(code int, stderr string, err error) proc.Runner {
	return func(_ context.Context, c proc.Cmd) ([]byte, error) {
		return nil, &proc.Error{Args: c.Args, Code: code, Stderr: stderr, Err: err}
	}
}
