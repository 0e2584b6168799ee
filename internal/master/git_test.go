package master

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fleet/internal/proc"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// repository is a git repository with a run in it.
type repository struct {
	*Fleet
	t *testing.T
}

// newRepository makes one with workstreams WS01 … WSn, of which each claims a directory of its own name.
func newRepository(t *testing.T, n int, settings map[string]string) repository {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "gitconfig")
	write(t, config, "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[maintenance]\n\tauto = false\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	d, err := rundir.Create(root, "shop", planningtemplate.Files, rundir.ConfigText(settings))
	if err != nil {
		t.Fatal(err)
	}
	r := repository{&Fleet{Dir: d, Exe: "/nonexistent/fleet", Run: proc.Run}, t}
	r.git("init", "-q")
	r.git("commit", "-q", "--allow-empty", "-m", "start")
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("WS%02d", i)
		r.update(func(s *roster.State) error {
			return s.Add(roster.NewWorkstream{ID: id, Text: "work", Claims: []string{id}})
		})
	}
	return r
}

func (r repository) update(fn func(*roster.State) error) {
	r.t.Helper()
	if err := r.Dir.Update(r.t.Context(), fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	return r.gitIn(r.Dir.Root, args...)
}

func (r repository) gitIn(dir string, args ...string) string {
	r.t.Helper()
	out, err := proc.Run(r.t.Context(), proc.Cmd{Args: append([]string{"git"}, args...), Dir: dir})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Eight workers commit at once, a hundred times: each commit holds its worker's
// files alone, and none is lost. Another file stays staged throughout (CFN-50, CFN-58, G2, G3, PAINS 74, 75).
func TestCommitsAtOnce(t *testing.T) {
	const workers, rounds = 8, 100
	r := newRepository(t, workers+1, nil)
	write(t, filepath.Join(r.Dir.Root, "WS09", "staged"), "1")
	r.git("add", "WS09/staged")
	var wg sync.WaitGroup
	commits := make([][]string, workers)
	for i := range workers {
		ws := fmt.Sprintf("WS%02d", i+1)
		wg.Go(func() {
			for n := range rounds {
				write(t, filepath.Join(r.Dir.Root, ws, "same"), fmt.Sprint(n))
				write(t, filepath.Join(r.Dir.Root, ws, fmt.Sprint("new", n)), "x")
				sha, err := r.Commit(t.Context(), ws, CommitOptions{Message: fmt.Sprint("round ", n)})
				if err != nil {
					t.Errorf("%s, round %d: %v", ws, n, err)
					return
				}
				commits[i] = append(commits[i], sha)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for i, mine := range commits {
		ws := fmt.Sprintf("WS%02d", i+1)
		for n, sha := range mine {
			want := []string{fmt.Sprintf("fleet %s: round %d", ws, n), "", fmt.Sprint(ws, "/new", n), ws + "/same"}
			if got := strings.Split(r.git("show", "--format=%s", "--name-only", sha), "\n"); !slices.Equal(got, want) {
				t.Errorf("%s holds %q, want %q", sha, got, want)
			}
		}
	}
	if got := r.git("rev-list", "--count", "HEAD"); got != fmt.Sprint(workers*rounds+1) {
		t.Errorf("%s commits are on the branch, want %d", got, workers*rounds+1)
	}
	if got := r.git("status", "--porcelain"); got != "A  WS09/staged" {
		t.Errorf("status is %q, want the staged file alone", got)
	}
}

// inTree makes a worktree for a workstream with one commit in it.
func (r repository) inTree(ws, file, text string) {
	r.t.Helper()
	tree := filepath.Join(".claude/worktrees", "shop-"+strings.ToLower(ws))
	r.update(func(s *roster.State) error {
		w, err := s.Workstream(ws)
		if err == nil {
			w.Tree, w.Status = tree, roster.Done
		}
		return err
	})
	dir := filepath.Join(r.Dir.Root, tree)
	r.git("worktree", "add", "-q", "--no-track", "-b", "fleet/"+ws, dir)
	write(r.t, filepath.Join(dir, file), text)
	r.gitIn(dir, "add", file)
	r.gitIn(dir, "commit", "-q", "-m", ws)
}

const killAt = "FLEET_TEST_KILL_AT" // "before:7" or "after:7": of the git commands, counted from 1

// TestMain is also a landing that kills itself, for TestLandKilled.
func TestMain(m *testing.M) {
	at := os.Getenv(killAt)
	if at == "" {
		os.Exit(m.Run())
	}
	when, n, _ := strings.Cut(at, ":")
	count := 0
	die := func(now string) {
		if now == when && fmt.Sprint(count) == n {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	run := func(ctx context.Context, c proc.Cmd) ([]byte, error) {
		if filepath.Base(c.Args[0]) != "git" {
			return proc.Run(ctx, c)
		}
		count++
		die("before")
		out, err := proc.Run(ctx, c)
		die("after")
		return out, err
	}
	dir, err := rundir.Open(os.Args[1])
	if err == nil {
		err = landAll(context.Background(), &Fleet{Dir: dir, Exe: "/nonexistent/fleet", Run: run}, os.Args[2] == "merge")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// landAll lands whatever is ready.
func landAll(ctx context.Context, f *Fleet, merge bool) error {
	l, done, err := f.Lander(ctx, LandOptions{Test: "test -e one && ! test -e broken", MergeCommit: merge}, func(string, ...any) {})
	if err != nil {
		return err
	}
	defer done()
	var ready []string
	if err := f.Dir.View(ctx, func(s *roster.State) error { ready = s.Ready(); return nil }); err != nil {
		return err
	}
	for _, ws := range ready {
		if _, err := l.Land(ctx, ws); err != nil {
			return err
		}
	}
	return nil
}

// mostGit is how many git commands one landing may need beside a lane in flight: ten, and three to make,
// furnish and remove the tree of the test.
const mostGit = 13

// A landing is killed before and after each git command that it runs. Whenever that is, the base branch holds what
// was tested, nothing of anybody's is lost, and the next landing ends what was begun (CFN-80, FF-104, PAINS 64).
func TestLandKilled(t *testing.T) {
	for _, how := range []string{"ff", "merge"} {
		t.Run(how, func(t *testing.T) {
			for n := 1; ; n++ {
				finished := landKilled(t, how, fmt.Sprint("after:", n))
				if !finished && how == "ff" { // what is written between two commands is on the other side of the kill
					landKilled(t, how, fmt.Sprint("before:", n+1))
				}
				if finished {
					t.Logf("%s: %d git commands for one landing, beside a lane in flight", how, n-1)
				}
				if finished && n-1 > mostGit {
					t.Fatalf("a landing needs %d git commands, want at most %d", n-1, mostGit)
				}
				if finished {
					return
				}
			}
		})
	}
}

// landKilled kills one landing and reports whether it came to its end before that.
func landKilled(t *testing.T, how, at string) (finished bool) {
	t.Helper()
	r := newRepository(t, 3, nil)
	write(t, filepath.Join(r.Dir.Root, "one"), "1")
	r.git("add", "one")
	r.git("commit", "-q", "-m", "one")
	r.inTree("WS01", "one", "first\n")
	r.inTree("WS03", "three", "third\n")
	r.update(func(s *roster.State) error { // it is in flight, and not ready
		w, err := s.Workstream("WS03")
		w.Status = roster.Started
		return err
	})
	write(t, filepath.Join(r.Dir.Root, "dirty"), "mine")
	third := r.gitIn(filepath.Join(r.Dir.Root, ".claude/worktrees/shop-ws03"), "rev-parse", "HEAD")

	cmd := exec.Command(os.Args[0], r.Dir.Path, how)
	cmd.Env = append(os.Environ(), killAt+"="+at)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "signal: killed") {
		t.Fatalf("killed %s: %v\n%s", at, err, out)
	}
	if err := landAll(t.Context(), r.Fleet, how == "merge"); err != nil {
		t.Fatalf("killed %s, the next landing: %v", at, err)
	}
	for path, want := range map[string]string{"one": "first\n", "dirty": "mine"} {
		if got, err := os.ReadFile(filepath.Join(r.Dir.Root, path)); err != nil || string(got) != want {
			t.Errorf("killed %s: %s is %q (%v), want %q", at, path, got, err, want)
		}
	}
	if got := r.git("status", "--porcelain"); got != "?? dirty" {
		t.Errorf("killed %s: status is %q", at, got)
	}
	if got := r.git("branch", "--list", "fleet/*", "--format=%(refname:short)"); got != "fleet/WS03" {
		t.Errorf("killed %s: branches left: %q", at, got)
	}
	if got := strings.Count(r.git("worktree", "list"), "\n"); got != 1 {
		t.Errorf("killed %s: %d worktrees are left, want that of WS03 alone", at, got)
	}
	if got := r.git("show", "--no-patch", "--format=%s", "fleet/WS03"); got != "WS03" {
		t.Errorf("killed %s: the third's work is %q, was %s", at, got, third)
	}
	if w, err := r.Dir.Workstream(t.Context(), "WS01"); err != nil || w.Status != roster.Landed {
		t.Errorf("killed %s: WS01 is %s (%v)", at, w.Status, err)
	}
	if l, err := r.Dir.Landing(); l != nil || err != nil {
		t.Errorf("killed %s: a landing is left: %+v, %v", at, l, err)
	}
	return err == nil
}
