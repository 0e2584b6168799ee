package web

import (
	"context"
	"net/http"

	"fleet/roster"
)

// query answers a GET with a document.
type query func(ctx context.Context, r *http.Request) (any, error)

func (q query) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	doc, err := q(r.Context(), r)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusOK, doc)
}

// action is a handler that may fail before it has answered.
type action func(w http.ResponseWriter, r *http.Request) error

func (a action) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a(w, r); err != nil {
		fail(w, err)
	}
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.Handler{
		"GET /state":              action(s.getState),
		"GET /status.json":        action(s.getState),
		"GET /tasks":              s.view(tasks),
		"GET /tasks/{id}":         query(s.task),
		"GET /briefs/{name}":      action(s.brief),
		"GET /workstreams":        s.rows("workstreams"),
		"GET /agents":             s.rows("agents"),
		"GET /leases":             s.view(leases),
		"GET /conflicts":          query(s.conflicts),
		"GET /events":             query(s.events),
		"GET /events/stream":      action(s.stream),
		"GET /health":             query(s.health),
		"GET /metrics":            action(s.metrics),
		"POST /tasks":             action(s.addTasks),
		"POST /tasks/{id}/cancel": s.changeTask("task_terminal", (*roster.State).CancelTask),
		"POST /tasks/{id}/retry":  s.changeTask("not_failed", (*roster.State).RetryTask),
		"POST /reset":             action(s.reset),
	} {
		mux.Handle(pattern, h)
	}
	for _, name := range pageFiles() {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, "page/"+name) })
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, "page/index.html") })
	return s.guard(inJSON(mux))
}

// inJSON makes the mux say in JSON, too, that it has no such route or method.
func inJSON(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := &statusOnly{header: http.Header{}}
		h.ServeHTTP(said, r)
		if allow := said.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			fail(w, &httpError{http.StatusMethodNotAllowed, "method_not_allowed", r.Method + " is not for " + r.URL.Path, "use " + allow})
			return
		}
		fail(w, &httpError{http.StatusNotFound, "not_found", "there is nothing at " + r.URL.Path, ""})
	})
}

// statusOnly takes an answer and keeps its headers.
type statusOnly struct{ header http.Header }

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(int)             {}
