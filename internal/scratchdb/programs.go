package scratchdb

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"fleet/internal/proc"
	"fleet/roster"
)

// Program is the path of one of PostgreSQL's programs: from where PATH has initdb,
// else the newest of Debian's, which are in no PATH. Its bare name if there is none.
func Program(name string) string {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Join(filepath.Dir(initdb), name)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return name
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	return filepath.Join(filepath.Dir(newest), name)
}

// installed refuses a machine without PostgreSQL.
func installed() error {
	for _, name := range []string{"initdb", "pg_ctl", "psql"} {
		if _, err := exec.LookPath(Program(name)); err != nil {
			return roster.Refusef("PostgreSQL is not installed: no %s in PATH or /usr/lib/postgresql", name).
				Hinted("install it (apt-get install postgresql), or set FLEET_DB=docker in fleet.env")
		}
	}
	return nil
}

// account is whom a server runs as, nil for the caller: PostgreSQL refuses root.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, badUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, badGID := strconv.ParseUint(u.Gid, 10, 32)
		if badUID == nil && badGID == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, roster.Refusef("PostgreSQL does not run as root, and there is no user postgres or nobody").Hinted("add one: useradd --system postgres")
}

// enterable refuses a folder that others than its owner can't get to.
func enterable(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return roster.Refusef("PostgreSQL does not run as root, and no other user can enter %s", dir).
				Hinted("set XDG_CACHE_HOME to a folder that everybody can enter, or unset it for /var/cache")
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// server runs one of the programs that belong to the server, as its account.
func (c *cluster) server(ctx context.Context, keep *os.File, name string, args ...string) error {
	_, err := c.run(ctx, proc.Cmd{Args: append([]string{Program(name)}, args...), Dir: c.dir, Env: plainEnv(), As: c.as, Keep: keep})
	if errors.Is(err, syscall.EPERM) {
		return roster.Refusef("PostgreSQL does not run as root, and root can't become another user here: %v", err).Hinted("run fleet as an ordinary user")
	}
	return err
}

// sql runs a script as the superuser of the cluster.
func (c *cluster) sql(ctx context.Context, script string) error {
	_, err := c.run(ctx, proc.Cmd{
		Args: []string{
			Program("psql"), "--no-psqlrc", "--quiet", "--no-password", "-v", "ON_ERROR_STOP=1",
			"-h", "127.0.0.1", "-p", strconv.Itoa(c.Port), "-U", superuser, "-d", "postgres",
		},
		Env: append(plainEnv(), "PGPASSWORD="+c.Password, "PGCONNECT_TIMEOUT=5"), Stdin: []byte(script),
	})
	return err
}

// plainEnv is the environment without what speaks of the user's own PostgreSQL.
func plainEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PG") })
}
