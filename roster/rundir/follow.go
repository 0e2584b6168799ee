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

// burst is for how long notifications are gathered: one transition makes a dozen.
const burst = 5 * time.Millisecond

// Follow calls fn with every event after an id, those that are there and then
// those to come, until fn returns an error, the context ends or the run dir is
// removed. The end of the context is no error. When the run is reset, its events
// begin anew, and fn gets them from the first one on.
func (d *Dir) Follow(ctx context.Context, after int64, fn func(roster.Event) error) error {
	return d.FollowBatches(ctx, after, fn, func() {})
}

// FollowBatches is Follow for one who hands on many events at once: all is called
// whenever fn has been given all that is there.
func (d *Dir) FollowBatches(ctx context.Context, after int64, fn func(roster.Event) error, all func()) error {
	wake, stop := d.Changes()
	defer stop()
	for log := d.logID(); ; {
		if now := d.logID(); now != log { // appending changes no file for another, a reset does
			log, after = now, 0
		}
		for e, err := range d.Events(after) {
			if err != nil {
				return err
			}
			if err := fn(e); err != nil {
				return err
			}
			after = e.ID
		}
		all()
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

func (d *Dir) logID() uint64 {
	info, err := os.Stat(d.file(eventsFile))
	if err != nil {
		return 0
	}
	return fileID(info)
}

// Changes is Watch for those who needn't know how they are served.
func (d *Dir) Changes(subdirs ...string) (wake <-chan struct{}, stop func()) {
	wake, stop, _ = d.Watch(subdirs...)
	return wake, stop
}

// Watch returns a channel that has a value when something in the run dir may
// have changed, at the latest every two seconds. Watching one directory is all
// that is asked of the system, and those of its subdirectories that are named;
// where even that is refused, the two seconds remain, and degraded says why.
// While nobody takes the value, notifications pile up in the system and cost nothing.
func (d *Dir) Watch(subdirs ...string) (wake <-chan struct{}, stop func(), degraded error) {
	out := make(chan struct{})
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
		degraded = fmt.Errorf("degraded: files are looked at every %v, since they can't be watched: %w", pollEvery, err)
	}
	go tell(w, time.NewTicker(pollEvery), out, done)
	return out, func() {
		close(done)
		if err == nil {
			_ = w.Close()
		}
	}, degraded
}

// tell sends a value for each burst of notifications, and at each tick.
func tell(w *fsnotify.Watcher, tick *time.Ticker, out chan<- struct{}, done <-chan struct{}) {
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		case <-w.Errors: // an overflow: something changed
		case <-w.Events:
			gather(w)
		}
		select {
		case <-done:
			return
		case out <- struct{}{}:
		}
	}
}

func gather(w *fsnotify.Watcher) {
	over := time.After(burst)
	for {
		select {
		case _, open := <-w.Events:
			if !open {
				return
			}
		case <-over:
			return
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
