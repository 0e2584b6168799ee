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
	dir *rundir.Dir

	mu        sync.Mutex
	last      int64 // event that was handed on
	listeners map[chan portion]bool
	over      bool
}

// portion is some events as frames of a stream. Their ids rise by one.
type portion struct {
	first int64
	text  []byte
	ends  []int // of the frames in the text
}

// add adds an event as a server-sent one. Its data is the line of the file;
// what it says in words are fields of our own, which other clients pass over.
func (p *portion) add(e roster.Event) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // it was read from JSON
	}
	if len(p.ends) == 0 {
		p.first = e.ID
	}
	said, tone := progress.Say(e)
	p.text = fmt.Appendf(p.text, "id: %d\nevent: %s\ntone: %s\nsaid: %s\ndata: %s\n\n", e.ID, e.Type, tone, roster.Flat(said), line)
	p.ends = append(p.ends, len(p.text))
}

// after are the frames behind an event.
func (p portion) after(id int64) []byte {
	known := min(max(id-p.first+1, 0), int64(len(p.ends)))
	if known == 0 {
		return p.text
	}
	return p.text[p.ends[known-1]:]
}

const (
	gather       = 25 * time.Millisecond // what comes within it is handed on together
	backlog      = 128                   // portions that a client may be behind
	maxListeners = 1000
)

func newFeed(d *rundir.Dir) *feed { return &feed{dir: d, listeners: make(map[chan portion]bool)} }

var errOver = &httpError{http.StatusServiceUnavailable, "no_stream", "no further stream can be opened now", "poll /events?since=N"}

// join adds a listener, who gets what comes after the event last.
func (f *feed) join() (portions chan portion, last int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || len(f.listeners) == maxListeners {
		return nil, 0, errOver
	}
	portions = make(chan portion, backlog)
	f.listeners[portions] = true
	return portions, f.last, nil
}

// leave may come after the listener has been dropped.
func (f *feed) leave(portions chan portion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(portions)
}

func (f *feed) drop(portions chan portion) {
	if f.listeners[portions] {
		delete(f.listeners, portions)
		close(portions)
	}
}

// run hands on what comes until the context ends, and then lets all listeners go.
func (f *feed) run(ctx context.Context) error {
	var p portion
	var last int64
	err := f.start()
	if err == nil {
		last = f.last
		err = f.dir.FollowBatches(ctx, f.last, func(e roster.Event) error {
			if e.ID <= last { // the log has begun anew, and so must they
				f.letGo()
				p = portion{}
			}
			last = e.ID
			p.add(e)
			return nil
		}, func() {
			if len(p.ends) == 0 {
				return
			}
			f.hand(p, last)
			p = portion{}
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		})
	}
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	f.letGo()
	return err
}

func (f *feed) start() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, err = f.dir.LastEvent()
	return err
}

func (f *feed) hand(p portion, last int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = last
	for l := range f.listeners {
		select {
		case l <- p:
		default:
			f.drop(l)
		}
	}
}

func (f *feed) letGo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = 0
	for l := range f.listeners {
		f.drop(l)
	}
}

// stream tells of events as they come, after those since the one that the client names.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	since, err := s.streamFrom(r)
	if err != nil {
		return err
	}
	portions, last, err := s.feed.join()
	if err != nil {
		return err
	}
	defer s.feed.leave(portions)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // nothing more is to be read
	put := func(text []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(s.patience))
		_, err := w.Write(text)
		return errors.Join(err, out.Flush())
	}
	if put([]byte("retry: 1000\n\n")) != nil || s.replay(since, last, put) != nil {
		return nil // the client is gone, or will come again
	}
	ping := time.NewTicker(s.ping)
	defer ping.Stop()
	for {
		text := []byte(": ping\n\n")
		select {
		case <-r.Context().Done():
			return nil
		case <-ping.C:
		case more, goOn := <-portions:
			if !goOn {
				return nil
			}
			text = more.after(since)
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
	n, err := number(r, "since", 0)
	if err != nil {
		return 0, err
	}
	last, err := s.fleet.Dir.LastEvent()
	if since := int64(n); since <= last {
		return since, err
	}
	return 0, err
}

// replayPart is how much of a long log is sent at once.
const replayPart = 64 << 10

// replay sends the events after one and up to another from the file.
func (s *Server) replay(since, last int64, put func([]byte) error) error {
	var p portion
	for e, err := range s.fleet.Dir.Events(since) {
		if err != nil {
			return err
		}
		if e.ID > last {
			break
		}
		if p.add(e); len(p.text) > replayPart {
			if err := put(p.text); err != nil {
				return err
			}
			p = portion{}
		}
	}
	return put(p.text)
}
