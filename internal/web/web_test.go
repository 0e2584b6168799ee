package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fleet/internal/master"
	"fleet/internal/proc"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// face is a server of a run with WS01, which has a task, and a client of it.
type face struct {
	*Server
	t    *testing.T
	url  string
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, settings map[string]string, change ...func(*Server)) *face {
	t.Helper()
	d, err := rundir.Create(t.TempDir(), "shop", planningtemplate.Files, rundir.ConfigText(settings))
	if err != nil {
		t.Fatal(err)
	}
	s := New(&master.Fleet{Dir: d, Exe: "/nonexistent/fleet", Run: proc.Run}, "secret", true)
	for _, c := range change {
		c(s)
	}
	l, _, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	f := &face{Server: s, t: t, url: "http://" + l.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { f.done <- s.Serve(ctx, narrow{l}) }()
	t.Cleanup(func() {
		stop()
		if err, open := <-f.done; open && err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return f
}

// narrow is a network that takes little of what nobody reads.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(8 << 10)
	}
	return c, err
}

func (f *face) update(fn func(*roster.State) error) {
	f.t.Helper()
	if err := f.fleet.Dir.Update(f.t.Context(), fn); err != nil {
		f.t.Fatal(err)
	}
}

func (f *face) add(ws string) {
	f.t.Helper()
	f.update(func(s *roster.State) error {
		return s.Add(roster.NewWorkstream{ID: ws, Text: "work of " + ws, Brain: "scripted"})
	})
}

// happen lets n more events be written, one by one.
func (f *face) happen(n int) {
	f.t.Helper()
	for range n {
		f.update(func(s *roster.State) error {
			s.Note(roster.Notification, "WS01", "", map[string]any{"message": "<hi>\n"})
			return nil
		})
	}
}

// ask sends a request. The headers are given in pairs of name and value.
func (f *face) ask(method, path, body string, headers ...string) (*http.Response, string) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(text)
}

// mine are the headers of one who may write.
var mine = []string{"Authorization", "Bearer secret", "Content-Type", "application/json"}

func (f *face) post(path, body string) (*http.Response, string) {
	f.t.Helper()
	return f.ask(http.MethodPost, path, body, mine...)
}

// get answers with a document that must be JSON.
func (f *face) get(path string) map[string]any {
	f.t.Helper()
	resp, text := f.ask(http.MethodGet, path, "")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil || resp.StatusCode != http.StatusOK {
		f.t.Fatalf("GET %s: %s %q: %v", path, resp.Status, text, err)
	}
	return doc
}

// wants checks the status of an answer and the code of its error.
func wants(t *testing.T, what string, resp *http.Response, text string, status int, code string) {
	t.Helper()
	var doc struct {
		Error struct {
			Code, Message string
			Detail        *string
		}
	}
	err := json.Unmarshal([]byte(text), &doc)
	if resp.StatusCode != status || err != nil || doc.Error.Code != code || doc.Error.Message == "" || doc.Error.Detail == nil {
		t.Errorf("%s: %s %s, want %d with the code %q", what, resp.Status, text, status, code)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("%s: an error of type %q", what, kind)
	}
}

// told is an event of a stream.
type told struct{ id, event, data string }

// listener reads a stream frame by frame.
type listener struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
}

func (f *face) listen(path string, headers ...string) *listener {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		f.t.Fatalf("a stream of type %q", kind)
	}
	f.t.Cleanup(func() { resp.Body.Close() })
	return &listener{f.t, resp.Body, bufio.NewReader(resp.Body)}
}

// next is the next frame with data, or what ended the stream. Comments are counted.
func (l *listener) next() (fr told, comments int, err error) {
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return fr, comments, err
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			fr.id = value
		case "event":
			fr.event = value
		case "data":
			fr.data = value
		case "":
			if value != "" {
				comments++
			} else if fr.data != "" {
				return fr, comments, nil
			}
		}
	}
}

func (l *listener) frames(n int) (all []told) {
	l.t.Helper()
	for range n {
		fr, _, err := l.next()
		if err != nil {
			l.t.Fatalf("after %d frames: %v", len(all), err)
		}
		all = append(all, fr)
	}
	return all
}

// written are the events of the file as frames.
func (f *face) written() (all []told) {
	for e, err := range f.fleet.Dir.Events(0) {
		if err != nil {
			f.t.Fatal(err)
		}
		line, _ := json.Marshal(e)
		all = append(all, told{fmt.Sprint(e.ID), string(e.Type), string(line)})
	}
	return all
}

// CF-108, CF-109, CF-150: a stream replays the log from where the client was, goes on with what comes,
// and is the file: the same events with the same ids in the same order.
func TestStream(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	f.happen(20)
	all, behind := f.listen("/events/stream?since=0"), f.listen("/events/stream?since=3", "Last-Event-ID", "10")
	f.happen(30)
	want := f.written()
	if got := all.frames(len(want)); !slices.Equal(got, want) {
		t.Errorf("the stream is\n%v, the file\n%v", got, want)
	}
	if got := behind.frames(len(want) - 10); !slices.Equal(got, want[10:]) {
		t.Errorf("after Last-Event-ID 10 the stream is\n%v", got)
	}
	events := f.get(fmt.Sprintf("/events?since=0&limit=%d", len(want)))["events"].([]any)
	if len(events) != len(want) || events[7].(map[string]any)["id"] != 8.0 {
		t.Errorf("/events has %d events, the file %d", len(events), len(want))
	}
}

// CF-108: a stream on which nothing happens gives a sign of life, and lives longer than a request may take.
func TestStreamPings(t *testing.T) {
	f := serve(t, nil, func(s *Server) { s.ping, s.patience = 50*time.Millisecond, 100*time.Millisecond })
	f.add("WS01")
	l := f.listen("/events/stream?since=2")
	for range 20 { // a second, in which a request would have run out of time
		line := ""
		for line != ": ping\n" {
			var err error
			if line, err = l.in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.happen(1)
	if got := l.frames(1); got[0].id != "3" {
		t.Errorf("after the silence comes event %s, want 3", got[0].id)
	}
}

// A hundred listen and one of them reads nothing. The others get all, in order, and the one is dropped.
func TestStreamStuckClient(t *testing.T) {
	f := serve(t, nil, func(s *Server) { s.patience = 20 * time.Second }) // far more than one that reads ever needs
	f.add("WS01")
	const clients, events = 99, 100
	f.listen("/events/stream?since=0") // and never reads
	type result struct {
		got []told
		err error
	}
	results := make(chan result)
	for range clients {
		l := f.listen("/events/stream?since=2")
		go func() {
			var r result
			for len(r.got) < events && r.err == nil {
				var fr told
				fr, _, r.err = l.next()
				r.got = append(r.got, fr)
			}
			results <- r
		}()
	}
	large := strings.Repeat("x", 10_000) // what no buffer between the two takes a hundred of
	for range events {
		f.update(func(s *roster.State) error {
			s.Note(roster.Notification, "WS01", "", map[string]any{"message": large})
			return nil
		})
	}
	want := f.written()[2:]
	for range clients {
		if r := <-results; r.err != nil || !slices.Equal(r.got, want) {
			t.Fatalf("one that reads got %d events (%v), want the %d of the file", len(r.got), r.err, len(want))
		}
	}
	for left := 1; left > 0; time.Sleep(10 * time.Millisecond) { // the test's own deadline is the limit
		f.feed.mu.Lock()
		left = len(f.feed.listeners) - clients
		f.feed.mu.Unlock()
	}
}

// A reset begins the log anew: streams end, and a client that comes again with its old id gets the new events from the first on.
func TestStreamOfAResetRun(t *testing.T) {
	f := serve(t, map[string]string{"FLEET_ALLOW_RESET": "on"})
	f.add("WS01")
	f.happen(5)
	l := f.listen("/events/stream?since=6")
	l.frames(1)
	if resp, text := f.post("/reset", ""); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("reset: %s %s", resp.Status, text)
	}
	f.happen(1)
	if fr, _, err := l.next(); err == nil {
		t.Errorf("the stream went on with %v", fr)
	}
	if got := f.listen("/events/stream", "Last-Event-ID", "7").frames(1); got[0].id != "1" {
		t.Errorf("the stream begins with event %s, want 1", got[0].id)
	}
}

// The end of the server ends its streams at once and without an error, and what has been asked is answered.
func TestShutdown(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	l := f.listen("/events/stream?since=0")
	l.frames(2)
	f.stop()
	if fr, _, err := l.next(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v, %v", fr, err)
	}
	if err := <-f.done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	close(f.done)
}
