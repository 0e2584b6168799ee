package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A brief is served under the name that it has in the run dir, and nothing else that lies there is.
func TestBrief(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	if err := f.fleet.Dir.Write(f.fleet.Dir.Brief("WS01"), []byte("# work of WS01\n")); err != nil {
		t.Fatal(err)
	}
	if resp, text := f.ask(http.MethodGet, "/briefs/WS01.md", ""); resp.StatusCode != http.StatusOK || text != "# work of WS01\n" {
		t.Errorf("the brief is %d %q", resp.StatusCode, text)
	}
	for _, name := range []string{"WS02.md", "..%2ffleet.env", "%2e%2e%2fevents.jsonl", "WS01.script.json"} {
		if resp, text := f.ask(http.MethodGet, "/briefs/"+name, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s is %d %q", name, resp.StatusCode, text)
		}
	}
}

// A stream says each event in words as well, on one line, for the page; its data stays the line of the file.
func TestStreamSaysWords(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	f.happen(1)
	l := f.listen("/events/stream?since=0")
	var seen []string
	for len(seen) < 40 {
		line, err := l.in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, line)
		if strings.HasPrefix(line, "said: <hi>") {
			if before := seen[len(seen)-2]; before != "tone: quiet\n" {
				t.Errorf("its tone is %q", before)
			}
			return
		}
	}
	t.Errorf("no words in %q", seen)
}

// steps notes what is done with the connection of an answer.
type steps struct {
	httptest.ResponseRecorder
	done []string
	put  chan struct{}
}

func (s *steps) Write(b []byte) (int, error)      { s.done = append(s.done, "write"); return len(b), nil }
func (s *steps) SetReadDeadline(time.Time) error  { return nil }
func (s *steps) SetWriteDeadline(time.Time) error { s.done = append(s.done, "deadline"); return nil }
func (s *steps) Flush()                           { s.put <- struct{}{} }

// A stream that ends long after its last event ends properly: browsers take one that is cut off for a fault.
func TestStreamEndsProperly(t *testing.T) {
	f := serve(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	w := &steps{put: make(chan struct{})}
	ended := make(chan error)
	go func() {
		ended <- f.stream(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/events/stream", nil))
	}()
	<-w.put
	leave()
	for waiting := true; waiting; {
		select {
		case <-w.put:
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		}
	}
	if n := len(w.done); n < 3 || w.done[n-1] != "deadline" {
		t.Errorf("the end of the answer has no time of its own: %q", w.done)
	}
}
