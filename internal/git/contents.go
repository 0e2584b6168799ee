package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Contents maps each path that differs from the last commit to what is there now:
// the SHA-256 of a file, of a link's target behind "link:", or a word for anything else.
func (g *Git) Contents(ctx context.Context) (map[string]string, error) {
	p, err := g.Places(ctx)
	if err != nil {
		return nil, err
	}
	s, err := g.Status(ctx)
	if err != nil {
		return nil, err
	}
	now := make(map[string]string, len(s.Changes))
	for _, path := range s.Paths() {
		if now[path], err = content(ctx, filepath.Join(p.Root, path)); err != nil {
			return nil, err
		}
	}
	return now, nil
}

func content(ctx context.Context, path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // where its directory was is a file
		return "gone", nil
	case err != nil:
		return "", err
	case info.Mode().IsRegular():
		return fileHash(ctx, path)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		sum := sha256.Sum256([]byte(target))
		return "link:" + hex.EncodeToString(sum[:]), err
	}
	return "special", nil // a directory, or a pipe, which nobody may ever write to
}

func fileHash(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "gone", nil // just now
	case errors.Is(err, fs.ErrPermission):
		return "unreadable", nil
	case err != nil:
		return "", err
	}
	defer func() { _ = f.Close() }()
	interrupted := context.AfterFunc(ctx, func() { _ = f.Close() }) // a large file takes its time
	defer interrupted()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", cmp.Or(ctx.Err(), err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
