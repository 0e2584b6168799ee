package rundir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// LockTimeout is how long a caller waits for the lock when its context has no deadline.
const LockTimeout = 5 * time.Second

// stepTimeout is how long the same for a longer step is waited for.
const stepTimeout = 3 * time.Minute

// ErrBusy says that the lock could not be had in time.
var ErrBusy = errors.New("the run dir is locked by another process")

// acquire takes the run's lock, exclusive or shared, and returns how to let go.
//
// The wait is flock's own, in the kernel's queue, since polling starves under
// load. A wait that runs out of time leaves its goroutine behind, which lets go
// of the lock the moment it gets it.
func (d *Dir) acquire(ctx context.Context, exclusive bool) (unlock func(), err error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, LockTimeout)
		defer cancel()
	}
	return wait(ctx, d.file(lockFile), os.O_RDONLY, exclusive)
}

// Exclusive takes a lock of its own name, for a step that is longer than a
// transition: starting a worker, typing into a pane.
func (d *Dir) Exclusive(ctx context.Context, name string) (unlock func(), err error) {
	return d.step(ctx, name, true)
}

// Shared takes the same lock beside others who do, so that only who takes it by Exclusive is kept out.
func (d *Dir) Shared(ctx context.Context, name string) (unlock func(), err error) {
	return d.step(ctx, name, false)
}

func (d *Dir) step(ctx context.Context, name string, exclusive bool) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return wait(ctx, filepath.Join(d.Path, "live", "."+name+".lock"), os.O_CREATE|os.O_RDONLY, exclusive)
}

// LockFile takes the lock on a file that is no run file, such as one that all runs of a repository share.
func LockFile(ctx context.Context, path string) (unlock func(), err error) {
	return wait(ctx, path, os.O_CREATE|os.O_RDONLY, true)
}

func wait(ctx context.Context, path string, flag int, exclusive bool) (unlock func(), err error) {
	f := flock.New(path, flock.SetFlag(flag), flock.SetPermissions(0o644))
	try, block := f.TryLock, f.Lock
	if !exclusive {
		try, block = f.TryRLock, f.RLock
	}
	got, err := try()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	release := func() { _ = f.Close() }
	if got {
		return release, nil
	}
	done := make(chan error, 1)
	go func() { done <- block() }()
	select {
	case err := <-done:
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
		}
		return release, nil
	case <-ctx.Done():
		go func() {
			<-done
			release()
		}()
		err := ErrBusy
		if errors.Is(ctx.Err(), context.Canceled) {
			err = context.Canceled // the caller has lost interest, which says nothing about the lock
		}
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
}

func (d *Dir) liveFile(ws string) string { return filepath.Join(d.Path, "live", ws+".lock") }

// HoldLife takes the liveness lock of a workstream for as long as this process
// lives, or until release. The kernel frees it on any death, so alive is a
// question about a lock and never about a pid that may belong to somebody else.
func (d *Dir) HoldLife(ws string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), LockTimeout)
	defer cancel()
	unlock, err := d.Exclusive(ctx, ws) // one who starts at a time
	if err != nil {
		return nil, err
	}
	defer unlock()
	if d.Alive(ws) {
		return nil, fmt.Errorf("%s: %w", ws, ErrAlive)
	}
	// The pid is for whoever stops the worker. It is written before the lock is
	// taken, so that the lock is never held over the pid of an earlier worker.
	if err := os.WriteFile(d.liveFile(ws), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("liveness lock of %s: %w", ws, err)
	}
	// Those who ask whether a worker is alive have the lock for a moment, too.
	let, err := wait(ctx, d.liveFile(ws), os.O_RDONLY, true)
	if err != nil {
		return nil, err
	}
	lives.Store(d.liveFile(ws), let)
	now := time.Now()
	_ = os.Chtimes(d.liveFile(ws), now, now) // taking a lock is no event; this is one, for those who watch for it
	return func() {
		lives.Delete(d.liveFile(ws))
		let()
	}, nil
}

// lives are the liveness locks of this process. A file that nobody refers to is
// closed by the garbage collector, and its lock would go with it.
var lives sync.Map

// ErrAlive says that a worker of the workstream runs already.
var ErrAlive = errors.New("its worker is alive")

// Alive reports whether the wrapper of a workstream's worker runs.
// A lock that can't be tested counts as held: doubt keeps a worker's files.
// It is tested by sharing it, so that those who ask don't take each other for the worker.
func (d *Dir) Alive(ws string) bool {
	f := flock.New(d.liveFile(ws), flock.SetFlag(os.O_RDONLY))
	got, err := f.TryRLock()
	if err == nil && got {
		_ = f.Close()
		return false
	}
	return !errors.Is(err, os.ErrNotExist)
}

// Died reports whether a worker of the workstream has run on this machine and runs no more.
func (d *Dir) Died(ws string) bool {
	_, err := os.Stat(d.liveFile(ws))
	return err == nil && !d.Alive(ws)
}

// Present reports whether the worker of a workstream may be there: it isn't known to have died.
func (d *Dir) Present(ws string) bool { return !d.Died(ws) }

// LivePID returns the process that holds the liveness lock of a workstream, 0 if none does.
func (d *Dir) LivePID(ws string) int {
	if !d.Alive(ws) {
		return 0
	}
	text, err := os.ReadFile(d.liveFile(ws))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
