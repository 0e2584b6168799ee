package web

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"

	"fleet/roster"
)

// maxBody is how large a batch of tasks may be, briefs included.
const maxBody = 4 << 20

// newTask is a task as a program writes it. file_scope is another name for scope.
type newTask struct {
	roster.NewTask
	FileScope []string `json:"file_scope"`
}

func (s *Server) addTasks(w http.ResponseWriter, r *http.Request) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, "not_json", "tasks are given as application/json", ""}
	}
	var given struct {
		Tasks []newTask `json:"tasks"`
	}
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	body.DisallowUnknownFields()
	if err := body.Decode(&given); err != nil {
		return asUsage(err)
	}
	if len(given.Tasks) == 0 {
		return roster.Usagef("there is no task in it").Hinted(`want {"tasks":[{"title":"…","description":"…"}]}`)
	}
	batch := make([]roster.NewTask, len(given.Tasks))
	for i, t := range given.Tasks {
		batch[i] = t.NewTask
		batch[i].Scope = slices.Concat(t.Scope, t.FileScope)
	}
	ids, err := s.fleet.AddTasks(r.Context(), batch)
	if err == nil {
		answer(w, http.StatusCreated, map[string]any{"ids": ids})
	}
	return err
}

// asUsage is what a body that can't be read says, unless it is too large.
func asUsage(err error) error {
	if e := classify(err); e.status == http.StatusRequestEntityTooLarge {
		return e
	}
	return roster.Usagef("the body: %v", err)
}

// changeTask applies a rule to one task. What the rule refuses has a code of its own.
func (s *Server) changeTask(refused string, rule func(*roster.State, string) error) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		err := s.fleet.Dir.Update(r.Context(), func(st *roster.State) error { return rule(st, id) })
		if err != nil {
			err = coded(err, roster.Data, http.StatusNotFound, "not_found")
			return coded(err, roster.Refused, http.StatusConflict, refused)
		}
		detail, err := s.fleet.Task(r.Context(), id)
		if err == nil {
			answer(w, http.StatusOK, detail)
		}
		return err
	}
}

func (s *Server) reset(w http.ResponseWriter, r *http.Request) error {
	err := s.fleet.Dir.Reset(r.Context())
	if !s.fleet.Dir.Config.AllowReset {
		err = coded(err, roster.Refused, http.StatusForbidden, "forbidden")
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
