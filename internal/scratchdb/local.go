package scratchdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"fleet/internal/proc"
)

// Local makes databases in one PostgreSQL cluster a run, which the programs of this
// machine serve on the loopback interface alone. Each has a role and a password of
// its own. The cluster lies in the user's cache directory.
type Local struct {
	Run    proc.Runner
	Slug   string // of the run
	RunDir string // its path, absolute
}

// Database is the one of a workstream in the cluster of the run.
func (l Local) Database(ctx context.Context, ws string) (string, error) {
	if err := installed(); err != nil {
		return "", err
	}
	base, err := clusters()
	if err != nil {
		return "", err
	}
	c := l.cluster(base, l.name())
	if err := c.prepare(); err != nil {
		return "", err
	}
	if err := c.up(ctx); err != nil {
		return "", err
	}
	return c.database(ctx, strings.ToLower(ws))
}

// Remove removes clusters and stops their servers.
func (l Local) Remove(ctx context.Context, every bool) (removed []string, err error) {
	base, err := clusters()
	if err != nil {
		return nil, err
	}
	names := []string{l.name()}
	if every {
		if names, err = markedIn(base); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		c := l.cluster(base, name)
		err := c.load()
		if errors.Is(err, fs.ErrNotExist) {
			continue // there is none, or it is none of ours
		}
		if err == nil {
			err = c.remove(ctx)
		}
		if err != nil {
			return removed, err
		}
		removed = append(removed, c.dir)
	}
	return removed, nil
}

// markedIn names the clusters that fleet has made in a folder.
func markedIn(base string) (names []string, err error) {
	markers, err := fs.Glob(os.DirFS(base), "*/"+marker)
	for _, m := range markers {
		names = append(names, path.Dir(m))
	}
	return names, err
}

func (l Local) cluster(base, name string) *cluster {
	return &cluster{run: l.Run, dir: filepath.Join(base, name), RunDir: l.RunDir}
}

// name is the same for every command of a run, and another one for each checkout.
func (l Local) name() string {
	sum := sha256.Sum256([]byte(l.RunDir))
	return l.Slug + "-" + hex.EncodeToString(sum[:4])
}

// clusters is the folder in which the user's clusters lie. The home of root is closed to
// the account that its servers run as, so those lie in the cache of the system.
func clusters() (string, error) {
	cache, err := os.UserCacheDir()
	if os.Geteuid() == 0 && os.Getenv("XDG_CACHE_HOME") == "" {
		cache, err = "/var/cache", nil
	}
	return filepath.Join(cache, "fleet", "postgres"), err
}
