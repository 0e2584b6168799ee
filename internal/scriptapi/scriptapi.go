// Package scriptapi is an Anthropic Messages API on loopback whose answers are
// written in advance, so that a real agent can be driven offline. Many agents
// may talk to one server: each conversation is recognised by its key, a piece of
// text that its user said, and takes its turns from the queue of that key.
package scriptapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Subagent begins the keys of conversations that a subagent leads, and only such
// keys are looked for in those: a subagent whose prompt repeats its parent's words
// must not take its parent's turns.
const Subagent = "subagent:"

// Turn is one answer of the model: it calls Tools or, without any, ends.
type Turn struct {
	Text  string
	Tools []Tool
	// Gate holds the answer back until it is closed, or the client leaves.
	Gate <-chan struct{}
	// Status, if not zero, makes the answer an HTTP error with ErrorType
	// ("api_error" if empty), Text and Header. Clients repeat what failed with 401,
	// 429 or 5xx, unless X-Should-Retry is "false"; each repetition takes a turn.
	Status    int
	ErrorType string
	Header    http.Header
}

// Tool is one call that the model asks for.
type Tool struct {
	Name  string
	Input map[string]any
}

// Request is what one request told the model: everything since it last spoke.
type Request struct {
	Texts   []string // of the user and of the system, in order
	Results []Result // of the calls that the turn before asked for
	Tools   []string // names of the tools on offer, those that the client runs
}

// Result is what one tool call came to.
type Result struct {
	Content string
	IsError bool
}

// Server answers on a loopback port until it is closed.
type Server struct {
	http     *http.Server
	mu       sync.Mutex
	queues   map[string][]Turn // its keys are the known ones
	requests map[string][]Request
	arrived  chan struct{} // closed, and replaced, at every request
	dialects map[string]Dialect
}

// Dialect is another API, of which the server knows no more than this.
type Dialect struct {
	Read   func(body []byte) (req Request, said []string, err error) // what is new in a request, and all that the user ever said
	Answer func(w http.ResponseWriter, t Turn)
}

// Speak answers requests to a path in a dialect. It is called before any arrives.
func (s *Server) Speak(path string, d Dialect) { s.dialects[path] = d }

// Start listens on a free port of 127.0.0.1.
func Start() (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scriptapi: %w", err)
	}
	s := &Server{queues: map[string][]Turn{}, requests: map[string][]Request{}, dialects: map[string]Dialect{}, arrived: make(chan struct{})}
	s.http = &http.Server{
		Addr:              listener.Addr().String(),
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() { _ = s.http.Serve(listener) }() // until Close
	return s, nil
}

// URL is what an agent needs as ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return "http://" + s.http.Addr }

// Close stops listening and drops every connection, and so every held answer.
func (s *Server) Close() error { return s.http.Close() }

// Script makes a key known and appends turns to its queue. A conversation belongs
// to the first text of its user that contains a known key, and there to the
// longest; the key "" is for conversations without any. An empty queue answers
// "nothing more to do". Where a client compacts a conversation, that takes a turn.
func (s *Server) Script(key string, turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[key] = append(s.queues[key], turns...)
}

// Requests returns what arrived in the conversations of a key, oldest first.
// Requests beside a conversation (titles, probes, token counts) are left out.
func (s *Server) Requests(key string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[key])
}

// Await returns when n requests of a key have arrived, answered or not.
func (s *Server) Await(ctx context.Context, key string, n int) error {
	for {
		s.mu.Lock()
		got, arrived := len(s.requests[key]), s.arrived
		s.mu.Unlock()
		if got >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return fmt.Errorf("scriptapi: %d of %d requests of %q: %w", got, n, key, ctx.Err())
		}
	}
}

// next records a request and takes its turn, or the last word if none is left.
func (s *Server) next(key string, req Request) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[key] = append(s.requests[key], req)
	close(s.arrived)
	s.arrived = make(chan struct{})
	queue := s.queues[key]
	if len(queue) == 0 {
		return Turn{Text: "nothing more to do"}
	}
	s.queues[key] = queue[1:]
	return queue[0]
}

// keyOf finds the known key, among those with a prefix, of a conversation in
// which the user said these texts. The prefix alone is the key of the others.
func (s *Server) keyOf(said []string, prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := prefix
	for _, text := range said {
		for key := range s.queues {
			words, ok := strings.CutPrefix(key, prefix)
			if ok && len(key) > len(best) && strings.Contains(text, words) {
				best = key
			}
		}
		if best != prefix {
			break
		}
	}
	return best
}
