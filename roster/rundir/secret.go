package rundir

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

const tokenFile = ".serve.token"

// Token is the text by which a program shows that it may act on the run, and the file
// that keeps it, which only its user can read. It is made at the first call, and anew if others could read it.
func (d *Dir) Token(ctx context.Context) (token, path string, err error) {
	unlock, err := d.Exclusive(ctx, "token")
	if err != nil {
		return "", "", err
	}
	defer unlock()
	path = d.file(tokenFile)
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 == 0 {
		text, err := os.ReadFile(path)
		return string(text), path, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	token = rand.Text()
	return token, path, renameio.WriteFile(path, []byte(token), 0o600)
}
