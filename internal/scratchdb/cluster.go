package scratchdb

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fleet/internal/proc"
)

const (
	marker       = "fleet.json" // in the folder of each cluster; one without it is none of fleet's
	superuser    = "fleet"
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second
)

// cluster is a PostgreSQL cluster. Its fields in capitals are what the marker says.
//
// Whether its server runs is a question about a lock, as with workers: the server and
// all its processes inherit the open file, and the kernel frees the lock with the last
// of them. So a postmaster.pid that a crash or a reboot left is known to be stale.
type cluster struct {
	run proc.Runner
	as  *syscall.Credential
	dir string

	RunDir   string `json:"run_dir"`
	Port     int    `json:"port"` // kept, so that URLs stay good
	Password string `json:"password"`
}

func (c *cluster) data() string  { return filepath.Join(c.dir, "data") }
func (c *cluster) fresh() string { return filepath.Join(c.dir, "fresh") } // data that isn't whole

// load reads the marker. The error is fs.ErrNotExist where fleet has made no cluster.
func (c *cluster) load() (err error) {
	text, err := os.ReadFile(filepath.Join(c.dir, marker))
	if errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, c); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(c.dir, marker), err)
	}
	c.as, err = account()
	return err
}

// save writes the marker, whole or not at all.
func (c *cluster) save() error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(c.dir, marker)
	if err := writeSecret(path+".new", text, nil); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeSecret makes a file that only its owner reads. It follows no link: root writes where the server's account may, too.
func writeSecret(path string, text []byte, owner *syscall.Credential) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if owner != nil {
		err = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
}

// prepare loads the cluster, or makes a folder for a new one.
func (c *cluster) prepare() (err error) {
	if err := c.load(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.as, err = account(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if c.as != nil {
		if err := enterable(filepath.Dir(c.dir)); err != nil {
			return err
		}
		if err := os.Chown(c.dir, int(c.as.Uid), int(c.as.Gid)); err != nil {
			return err
		}
	}
	c.Password = rand.Text()
	return c.save()
}

// up returns when the server of the cluster answers. It is started if none runs.
func (c *cluster) up(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	lock, err := c.openLock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	var failed, silent error
	err = await(ctx, 100*time.Millisecond, func() bool {
		if isFree(lock) {
			failed = c.start(ctx, lock)
			return true
		}
		silent = c.sql(ctx, "") // it runs, or starts, or what is left of one that was killed ends
		return silent == nil
	})
	if err != nil {
		return fmt.Errorf("the server in %s does not answer after %v: %w", c.dir, startTimeout, silent)
	}
	return failed
}

// start makes the data where there is none, and starts a server on it, to which it gives the lock.
func (c *cluster) start(ctx context.Context, lock *os.File) error {
	if _, err := os.Stat(c.data()); errors.Is(err, fs.ErrNotExist) {
		if err := c.initialise(ctx); err != nil {
			return err
		}
	}
	if err := c.choosePort(ctx); err != nil {
		return err
	}
	// Nobody has the lock, so this is of the dead; its number may be another program's by now.
	if err := os.Remove(filepath.Join(c.data(), "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log := filepath.Join(c.dir, "log")
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=", c.Port)
	if err := c.server(ctx, lock, "pg_ctl", "-D", c.data(), "-l", log, "-o", options, "--silent", "--wait", "start"); err != nil {
		return fmt.Errorf("PostgreSQL did not start, %s says why; fleet db-clean begins anew: %w", log, err)
	}
	return nil
}

// initialise makes the data. They aren't synced: a power cut in the next moments costs a scratch database.
func (c *cluster) initialise(ctx context.Context) error {
	if err := os.RemoveAll(c.fresh()); err != nil {
		return err
	}
	secret := filepath.Join(c.dir, "password")
	defer func() { _ = os.Remove(secret) }()
	if err := writeSecret(secret, []byte(c.Password), c.as); err != nil {
		return err
	}
	err := c.server(ctx, nil, "initdb", "-D", c.fresh(), "-U", superuser, "--pwfile="+secret, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return err
	}
	return os.Rename(c.fresh(), c.data())
}

// choosePort keeps the port, unless another program has it by now.
func (c *cluster) choosePort(ctx context.Context) error {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		if l, err = listening.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	c.Port = l.Addr().(*net.TCPAddr).Port
	return errors.Join(l.Close(), c.save())
}

const createDatabase = `
SELECT 'CREATE ROLE NAME LOGIN PASSWORD ''SECRET''' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'NAME') \gexec
SELECT 'CREATE DATABASE NAME OWNER NAME' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'NAME') \gexec
REVOKE ALL ON DATABASE NAME FROM PUBLIC;
`

// database makes a database and its owner, both of one name, where they are missing.
func (c *cluster) database(ctx context.Context, name string) (url string, err error) {
	mac := hmac.New(sha256.New, []byte(c.Password))
	_, _ = mac.Write([]byte(name)) // never fails
	secret := hex.EncodeToString(mac.Sum(nil)[:16])
	if err := c.sql(ctx, strings.NewReplacer("NAME", name, "SECRET", secret).Replace(createDatabase)); err != nil {
		return "", err
	}
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s", name, secret, c.Port, name), nil
}

// remove stops the server and removes the cluster. Where it ends half-way, the next one goes on.
func (c *cluster) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	lock, err := c.openLock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if !isFree(lock) {
		stopped := c.server(ctx, nil, "pg_ctl", "-D", c.data(), "-m", "immediate", "--silent", "--wait", "stop")
		if err := await(ctx, 20*time.Millisecond, func() bool { return isFree(lock) }); err != nil {
			return errors.Join(fmt.Errorf("the server in %s does not end: %w", c.dir, err), stopped)
		}
	}
	// Data that are not whole must not look as if they were, and the marker goes last.
	if err := os.Rename(c.data(), c.fresh()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(c.fresh()); err != nil {
		return err
	}
	return os.RemoveAll(c.dir)
}

// openLock opens the lock of the cluster, which lies beside its folder and is never removed.
func (c *cluster) openLock() (*os.File, error) {
	return os.OpenFile(c.dir+".lock", os.O_CREATE|os.O_RDONLY, 0o600)
}

// isFree takes the lock if nobody has it.
func isFree(lock *os.File) bool {
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
