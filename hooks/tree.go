package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fleet/roster/rundir"
)

// tree turns paths as agents name them into the keys of leases.
type tree struct {
	root string // symlinks resolved
	cwd  string // for relative paths
}

func newTree(root, cwd string) (tree, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return tree{}, err
	}
	if !filepath.IsAbs(cwd) {
		cwd = real
	}
	return tree{root: real, cwd: cwd}, nil
}

// maxPath is what the kernel takes at the most.
const maxPath = 4096

// key is a path relative to the tree, POSIX, with symlinks resolved, so that two
// names of one file are one key. A path outside the tree is returned absolute.
func (t tree) key(path string) (string, error) {
	if len(path) > maxPath || strings.IndexFunc(path, func(r rune) bool { return r < ' ' }) >= 0 {
		return "", fmt.Errorf("%.80q: control characters, or too long", path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.cwd, path)
	}
	real, err := resolve(filepath.Clean(path), 0)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(t.root, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return real, nil
	}
	return rel, nil
}

const maxLinks = 40

// resolve follows the symlinks of a path whose end needn't exist, a dangling link included:
// a write through it creates what it points to.
func resolve(path string, links int) (string, error) {
	if links > maxLinks {
		return "", fmt.Errorf("%s: too many symbolic links", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return resolve(filepath.Clean(target), links+1)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	dir, err := resolve(parent, links)
	return filepath.Join(dir, filepath.Base(path)), err
}

// keys resolves all paths or none.
func (t tree) keys(paths []string) ([]string, error) {
	keys := make([]string, 0, len(paths))
	for _, p := range paths {
		k, err := t.key(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// isDir reports whether a key names a directory that exists.
func (t tree) isDir(key string) bool {
	info, err := os.Stat(t.abs(key))
	return err == nil && info.IsDir()
}

func (t tree) abs(key string) string {
	if filepath.IsAbs(key) {
		return key
	}
	return filepath.Join(t.root, key)
}

// stamp describes the file behind a key as it is now, and when it was written.
func (t tree) stamp(key string) (stamp string, modNanos int64) {
	return rundir.Stamp(t.abs(key))
}
