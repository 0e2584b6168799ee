package scratchdb

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

// cache gives the test a cache directory that the server's account can enter.
func cache(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, closed := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(closed, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir) // where that is the parent of the cache
	return dir
}

// local is a cluster of the test's own, gone after it.
func local(t *testing.T) (Local, *cluster) {
	t.Helper()
	cache(t)
	l := Local{Run: proc.Run, Slug: "shop", RunDir: t.TempDir()}
	t.Cleanup(func() {
		if _, err := l.Remove(context.Background(), true); err != nil {
			t.Error(err)
		}
	})
	base, err := clusters()
	if err != nil {
		t.Fatal(err)
	}
	return l, l.cluster(base, l.name())
}

func database(t *testing.T, l Local) string {
	t.Helper()
	url, err := l.Database(t.Context(), "WS01")
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// kill ends a server as a power cut does, and returns when nothing is left of it.
func kill(t *testing.T, c *cluster) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	lock, err := c.openLock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := await(ctx, time.Millisecond, func() bool { return isFree(lock) }); err != nil {
		t.Fatal(err)
	}
}

// CFN-86: after a reboot, the number in postmaster.pid may be that of another program of the
// same user, and the port another's. Neither keeps the next server from starting.
func TestLocalStartsAfterACrash(t *testing.T) {
	l, c := local(t)
	before := database(t, l)
	kill(t, c)
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(c.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	other := exec.Command("/bin/sh", "-c", "read _")
	other.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = other.Process.Kill(), other.Wait() })
	path := filepath.Join(c.data(), "postmaster.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(strconv.Itoa(other.Process.Pid)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := database(t, l); after == before {
		t.Errorf("the port is another's, and still the URL is %s", after)
	}
}

// CFN-86: whatever was interrupted in making a cluster, the next call goes on with it.
func TestLocalGoesOn(t *testing.T) {
	l, c := local(t)
	if err := os.MkdirAll(filepath.Join(c.fresh(), "base"), 0o755); err != nil {
		t.Fatal(err)
	}
	first := database(t, l)
	if second := database(t, l); second != first {
		t.Errorf("the URL was %s and is %s", first, second)
	}
}

// CFN-87: what has no marker is none of fleet's.
func TestLocalRemovesItsOwnAlone(t *testing.T) {
	l, c := local(t)
	theirs := filepath.Join(c.data(), "theirs")
	if err := os.MkdirAll(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(c.dir), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, every := range []bool{false, true} {
		if removed, err := l.Remove(t.Context(), every); len(removed) > 0 || err != nil {
			t.Errorf("%v, %v", removed, err)
		}
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}

// A machine without PostgreSQL is told of, and nothing is made on it.
func TestLocalWithoutPostgres(t *testing.T) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		t.Setenv("PATH", t.TempDir())
		if got := Program("psql"); !strings.HasPrefix(got, "/usr/lib/postgresql/") {
			t.Errorf("with none in PATH, psql is %s", got)
		}
	}
	bin := t.TempDir() // has initdb and nothing else
	if err := os.WriteFile(filepath.Join(bin, "initdb"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	l, c := local(t)
	_, err := l.Database(t.Context(), "WS01")
	if roster.KindOf(err) != roster.Refused || err.Error() != "PostgreSQL is not installed: no pg_ctl in PATH or /usr/lib/postgresql" {
		t.Errorf("error: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(c.dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has made something: %v", err)
	}
}

// A folder that the server's account can't enter is refused in words, before anything is tried.
func TestEnterable(t *testing.T) {
	dir := cache(t)
	if err := enterable(dir); err != nil {
		t.Errorf("an open folder: %v", err)
	}
	closed := filepath.Join(dir, "closed", "below")
	if err := os.MkdirAll(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(closed), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := enterable(closed); roster.KindOf(err) != roster.Refused || !strings.HasSuffix(err.Error(), "/closed") {
		t.Errorf("a closed one: %v", err)
	}
}
