package rundir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"fleet/roster"
)

// pollEvery is the safety net under the file notifications, which the system may drop or refuse.
var pollEvery = 2 * time.Second

// Follow calls fn with every event after an id, those that are there and then
// those to come, until fn returns an error, the context ends or the run dir is
// removed. The end of the context is no error.
func (d *Dir) Follow(ctx context.Context, after int64, fn func(roster.Event) error) error {
	wake, stop := d.Changes()
	defer stop()
	for {
		for e, err := range d.Events(after) {
			if err != nil {
				return err
			}
			if err := fn(e); err != nil {
				return err
			}
			after = e.ID
		}
		if _, err := os.Stat(d.file(rosterFile)); errors.Is(err, fs.ErrNotExist) {
			return roster.Dataf("%s is gone: the run dir was removed", d.Rel(d.Path))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

// Changes returns a channel that has a value when something in the run dir may
// have changed, at the latest every two seconds. Watching one directory is all
// that is asked of the system, and those of its subdirectories that are named;
// where even that is refused, the two seconds remain.
func (d *Dir) Changes(subdirs ...string) (wake <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	done := make(chan struct{})
	w, err := fsnotify.NewWatcher()
	if err == nil {
		for _, sub := range append(subdirs, ".") {
			err = errors.Join(err, w.Add(filepath.Join(d.Path, sub)))
		}
		if err != nil {
			_ = w.Close()
		}
	}
	if err != nil {
		w = &fsnotify.Watcher{} // nil channels: only the ticker speaks
	}
	tick := time.NewTicker(pollEvery)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			case <-w.Events:
			case <-w.Errors: // an overflow: something changed
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, func() {
		close(done)
		if err == nil {
			_ = w.Close()
		}
	}
}

// Version changes whenever who or what is written: it costs two looks at the file system.
func (d *Dir) Version() string {
	var v string
	for _, name := range []string{rosterFile, tasksFile} {
		if info, err := os.Stat(d.file(name)); err == nil {
			v += fmt.Sprintf("%d:%d:%d ", info.ModTime().UnixNano(), info.Size(), fileID(info))
		}
	}
	return v
}

func fileID(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
