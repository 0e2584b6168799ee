package web

import (
	"encoding/json"
	"errors"
	"net/http"

	"fleet/roster"
	"fleet/roster/rundir"
)

// httpError is an error that has chosen its status.
type httpError struct {
	status             int
	code, what, detail string
}

func (e *httpError) Error() string { return e.what }

// fail answers with an error: {"error":{"code","message","detail"}}.
func fail(w http.ResponseWriter, err error) {
	e := classify(err)
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="fleet"`)
	}
	answer(w, e.status, map[string]any{"error": map[string]string{"code": e.code, "message": e.what, "detail": e.detail}})
}

// classify is the one table from errors to statuses.
func classify(err error) *httpError {
	if e, chosen := errors.AsType[*httpError](err); chosen {
		return e
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &httpError{http.StatusRequestEntityTooLarge, "too_large", tooLarge.Error(), ""}
	}
	if errors.Is(err, rundir.ErrBusy) {
		return &httpError{http.StatusServiceUnavailable, "busy", err.Error(), "somebody holds the lock for long: try again"}
	}
	no, isRule := errors.AsType[*roster.Error](err)
	if !isRule {
		return &httpError{http.StatusInternalServerError, "internal", err.Error(), ""}
	}
	e := &httpError{http.StatusUnprocessableEntity, "invalid", no.Msg, no.Hint}
	switch no.Kind {
	case roster.Usage:
		e.status, e.code = http.StatusBadRequest, "bad_request"
	case roster.Refused:
		e.status, e.code = http.StatusConflict, "refused"
	case roster.Data:
	}
	return e
}

// coded gives errors of a kind a status and a code that say more than the table does.
func coded(err error, kind roster.Kind, status int, code string) error {
	if err == nil || roster.KindOf(err) != kind {
		return err
	}
	e := classify(err)
	e.status, e.code = status, code
	return e
}

// answer writes one document.
func answer(w http.ResponseWriter, status int, doc any) {
	text, err := json.Marshal(doc)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer is no JSON","detail":""}}`)
	}
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asked has left
}
