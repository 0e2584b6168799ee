package master

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
