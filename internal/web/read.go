package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fleet/internal/master"
	"fleet/roster"
)

// getState answers with the snapshot. Many may ask at once, at every event that they
// hear of: it is made anew only when something has changed, or a second has passed.
func (s *Server) getState(w http.ResponseWriter, r *http.Request) error {
	text, err := s.snapshot(r.Context())
	if err == nil {
		send(w, http.StatusOK, text)
	}
	return err
}

func (s *Server) snapshot(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.fleet.Dir.LastEvent()
	if err != nil {
		return nil, err
	}
	seen := fmt.Sprint(s.fleet.Dir.Version(), last, time.Now().Unix())
	if seen == s.seen {
		return s.state, nil
	}
	snap, err := s.fleet.Snapshot(ctx)
	if err == nil {
		s.state, err = json.Marshal(snap)
	}
	if err == nil {
		s.seen = seen
	}
	return s.state, err
}

// view answers with what a snapshot of the tables has.
func (s *Server) view(look func(*http.Request, *roster.State) (any, error)) query {
	return func(ctx context.Context, r *http.Request) (doc any, err error) {
		err = s.fleet.Dir.View(ctx, func(st *roster.State) (err error) {
			doc, err = look(r, st)
			return err
		})
		return doc, err
	}
}

func tasks(r *http.Request, st *roster.State) (any, error) {
	limit, err := number(r, "limit", 0)
	if err != nil {
		return nil, err
	}
	offset, err := number(r, "offset", 0)
	if err != nil {
		return nil, err
	}
	return master.TaskFilter{Status: r.FormValue("status"), Limit: limit, Offset: offset}.Tasks(st)
}

func (s *Server) rows(key string) query {
	return s.view(func(_ *http.Request, st *roster.State) (any, error) {
		return map[string]any{key: master.Rows(s.fleet.Dir, st)}, nil
	})
}

func leases(_ *http.Request, st *roster.State) (any, error) {
	return map[string]any{"leases": master.Leases(st)}, nil
}

func (s *Server) task(ctx context.Context, r *http.Request) (any, error) {
	detail, err := s.fleet.Task(ctx, r.PathValue("id"))
	return detail, coded(err, roster.Data, http.StatusNotFound, "not_found")
}

// brief is the text of a task, by the name that it has in the run dir.
func (s *Server) brief(w http.ResponseWriter, r *http.Request) error {
	id := strings.TrimSuffix(r.PathValue("name"), ".md")
	err := s.fleet.Dir.View(r.Context(), func(st *roster.State) error {
		if st.Task(id) == nil {
			return &httpError{http.StatusNotFound, "not_found", id + " is not in the graph", ""}
		}
		return nil
	})
	if err == nil {
		http.ServeFile(w, r, s.fleet.Dir.Brief(id))
	}
	return err
}

func (s *Server) conflicts(ctx context.Context, r *http.Request) (any, error) {
	var only *bool
	if text := r.FormValue("resolved"); text != "" {
		resolved, err := strconv.ParseBool(text)
		if err != nil {
			return nil, roster.Usagef("resolved %s: want true or false", text)
		}
		only = &resolved
	}
	conflicts, err := s.fleet.Conflicts(ctx, only)
	return map[string]any{"conflicts": conflicts}, err
}

// A portion of the log, unless another is asked for, and the largest one.
const (
	someEvents = 1000
	mostEvents = 10_000
)

func (s *Server) events(ctx context.Context, r *http.Request) (any, error) {
	since, err := number(r, "since", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", someEvents)
	if err != nil {
		return nil, err
	}
	last, err := s.fleet.Dir.LastEvent()
	if err != nil {
		return nil, err
	}
	o := master.EventFilter{Since: int64(since), Limit: min(limit, mostEvents), Types: strings.FieldsFunc(strings.Join(r.Form["type"], ","), func(c rune) bool { return c == ',' })}
	events := []roster.Event{}
	err = s.fleet.Events(ctx, o, false, func(e roster.Event) error {
		events = append(events, e)
		return nil
	})
	return map[string]any{"events": events, "last_event_id": last}, err
}

func (s *Server) health(context.Context, *http.Request) (any, error) {
	last, err := s.fleet.Dir.LastEvent()
	return map[string]any{"status": "ok", "run": s.fleet.Dir.Slug(), "server_time": roster.Time{Time: time.Now()}, "last_event_id": last}, err
}

// number is a parameter of the query.
func number(r *http.Request, name string, otherwise int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, roster.Usagef("%s %s: want a whole number, 0 or more", name, text)
	}
	return n, nil
}
