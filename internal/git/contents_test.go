package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"fleet/internal/proc"
)

// FF-70: the content of what is dirty, whatever it is.
func TestContents(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) { t.Helper(); check(os.WriteFile(at(name), []byte(text), 0o644)) }
	git("init", "--quiet")
	check(os.Mkdir(at("dir"), 0o755))
	write("dir/was", "x")
	write("pipe", "x")
	git("add", "-A")
	git("commit", "--quiet", "--message", "start")
	check(os.RemoveAll(at("dir")))
	write("dir", "x") // a file where the directory was
	check(os.Remove(at("pipe")))
	check(syscall.Mkfifo(at("pipe"), 0o644))
	check(os.Symlink("x", at("link")))
	const x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	got, err := In(proc.Run, dir).Contents(t.Context())
	check(err)
	for path, want := range map[string]string{"dir": x, "dir/was": "gone", "link": "link:" + x, "pipe": "special"} {
		if got[path] != want {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %v", got)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fileHash(late, "/dev/zero"); !errors.Is(err, context.Canceled) { // which never ends
		t.Errorf("interrupted: %v", err)
	}
	if _, err := In(proc.Run, t.TempDir()).Contents(t.Context()); !errors.Is(err, ErrNoRepo) {
		t.Errorf("outside of a repository: %v", err)
	}
}
