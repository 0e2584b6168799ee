package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"fleet/internal/progress"
	"fleet/roster"
	"fleet/roster/rundir"
)

// feed hands the events of a log on to all who listen. It alone follows the file,
// and makes the frames that all of them get. Whoever can't keep up is dropped: a
// client comes again by itself, and says where it was.
type feed struct {
	mu        sync.Mutex
	listeners map[chan []frame]bool
	over      bool
}

// frame is an event as it is sent. Its data is the line of the file; what it says in
// words are fields of our own, which other clients pass over.
type frame struct {
	id   int64
	text []byte
}

func newFrame(e roster.Event) frame {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // it was read from JSON
	}
	said, tone := progress.Say(e)
	return frame{e.ID, fmt.Appendf(nil, "id: %d\nevent: %s\ntone: %s\nsaid: %s\ndata: %s\n\n", e.ID, e.Type, tone, roster.Flat(said), line)}
}

const (
	gather       = 25 * time.Millisecond // what comes within it is handed on together
	backlog      = 128                   // times that a client may be behind
	maxListeners = 1000
)

// join adds a listener, who gets all that is written from now on, and perhaps a little of what was before.
func (f *feed) join() (chan []frame, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || len(f.listeners) == maxListeners {
		return nil, &httpError{http.StatusServiceUnavailable, "no_stream", "no further stream can be opened now", "poll /events?since=N"}
	}
	l := make(chan []frame, backlog)
	f.listeners[l] = true
	return l, nil
}

// leave may come after the listener has been dropped.
func (f *feed) leave(l chan []frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(l)
}

func (f *feed) drop(l chan []frame) {
	if f.listeners[l] {
		delete(f.listeners, l)
		close(l)
	}
}

func (f *feed) dropAll(over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = over
	for l := range f.listeners {
		f.drop(l)
	}
}

// run hands on what comes until the context ends, and then lets all listeners go.
func (f *feed) run(ctx context.Context, d *rundir.Dir) error {
	defer f.dropAll(true)
	last, err := d.LastEvent()
	if err != nil {
		return err
	}
	var frames []frame
	return d.FollowBatches(ctx, last, func(e roster.Event) error {
		if e.ID <= last { // the log has begun anew, and so must they
			f.dropAll(false)
			frames = nil
		}
		last = e.ID
		frames = append(frames, newFrame(e))
		return nil
	}, func() {
		if len(frames) == 0 {
			return
		}
		f.hand(frames)
		frames = nil
		select {
		case <-ctx.Done():
		case <-time.After(gather):
		}
	})
}

func (f *feed) hand(frames []frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		select {
		case l <- frames:
		default:
			f.drop(l)
		}
	}
}

// stream tells of events as they come, after those since the one that the client names.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	since, err := s.streamFrom(r)
	if err != nil {
		return err
	}
	more, err := s.feed.join()
	if err != nil {
		return err
	}
	defer s.feed.leave(more)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // nothing more is to be read
	put := func(text []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(s.patience))
		_, err := w.Write(text)
		return errors.Join(err, out.Flush())
	}
	defer func() { _ = out.SetWriteDeadline(time.Now().Add(s.patience)) }() // the end of the answer is to be written, too
	if put([]byte("retry: 1000\n\n")) != nil {
		return nil // the client is gone, or will come again
	}
	if since, err = s.replay(since, put); err != nil {
		return nil
	}
	ping := time.NewTicker(s.ping)
	defer ping.Stop()
	for {
		var text []byte
		select {
		case <-r.Context().Done():
			return nil
		case <-ping.C:
			text = []byte(": ping\n\n")
		case frames, goOn := <-more:
			if !goOn {
				return nil
			}
			for _, fr := range frames {
				if fr.id > since {
					text = append(text, fr.text...)
				}
			}
		}
		if put(text) != nil {
			return nil
		}
	}
}

// streamFrom is the last event that a client has: one that comes again says so itself. An id that is not in the log is of before a reset.
func (s *Server) streamFrom(r *http.Request) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		_ = r.ParseForm()
		r.Form.Set("since", id)
	}
	since, err := number(r, "since", 0)
	if err != nil {
		return 0, err
	}
	last, err := s.fleet.Dir.LastEvent()
	if int64(since) > last {
		since = 0
	}
	return int64(since), err
}

// replayPart is how much of a long log is sent at once.
const replayPart = 64 << 10

// replay sends what is in the file after an event, and tells the last.
func (s *Server) replay(last int64, put func([]byte) error) (int64, error) {
	var text []byte
	for e, err := range s.fleet.Dir.Events(last) {
		if err != nil {
			return last, err
		}
		last = e.ID
		if text = append(text, newFrame(e).text...); len(text) > replayPart {
			if err := put(text); err != nil {
				return last, err
			}
			text = text[:0]
		}
	}
	return last, put(text)
}
