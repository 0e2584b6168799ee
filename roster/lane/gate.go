package lane

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"fleet/roster"
)

// Envelope is a lane's artifact: what its agent replied last, in one form for all brains.
type Envelope struct {
	IsError      *bool   `json:"is_error"` // a missing one is no success
	Result       string  `json:"result"`
	Reason       string  `json:"reason,omitempty"` // why it is an error
	Brain        string  `json:"brain"`
	SessionID    string  `json:"session_id,omitempty"`
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CostUSD      float64 `json:"total_cost_usd,omitempty"` // as the agent reckons it; no bill where the service is not Anthropic's
	DurationMS   int64   `json:"duration_ms,omitempty"`
}

// NewEnvelope is that of a session's outcome.
func NewEnvelope(brain string, o roster.Outcome) Envelope {
	failed := !o.OK
	return Envelope{
		IsError: &failed, Result: o.Summary, Reason: o.Reason, Brain: brain, SessionID: o.SessionID,
		InputTokens: o.InputTokens, OutputTokens: o.OutputTokens, CostUSD: o.CostUSD, DurationMS: o.DurationMS,
	}
}

// ErrMissing says that a lane has no result yet.
var ErrMissing = errors.New("no result")

// RejectedError is the gate's no to a result.
type RejectedError struct {
	Why   string
	Reply string // that is no answer to its schema; empty where the schema is not the matter
}

func (e *RejectedError) Error() string { return e.Why }

// Gate returns the reply of an artifact if it counts: the agent called it no error, there is one,
// and it fits the schema if there is one. With a schema it is the JSON alone. The error is
// ErrMissing or a *RejectedError.
func Gate(artifact []byte, schema Schema) (string, error) {
	if len(bytes.TrimSpace(artifact)) == 0 {
		return "", ErrMissing
	}
	var e Envelope
	switch err := json.Unmarshal(artifact, &e); {
	case err != nil:
		return "", &RejectedError{Why: "the result can't be read: " + err.Error()}
	case e.IsError == nil:
		return "", &RejectedError{Why: "the result does not say whether it is an error"}
	case *e.IsError:
		return "", &RejectedError{Why: strings.TrimSuffix("the agent ended in an error: "+e.Reason, ": ")}
	case strings.TrimSpace(e.Result) == "":
		return "", &RejectedError{Why: "the agent's last reply is empty"}
	}
	if schema == nil {
		return e.Result, nil
	}
	text, err := schema(e.Result)
	if err != nil {
		return "", &RejectedError{Why: "the reply does not fit its schema: " + roster.Flat(err.Error()), Reply: e.Result}
	}
	return text, nil
}

// Schema checks that a reply fits a schema, and returns it as the JSON alone. Package
// schema makes one: it is apart, since what it needs is slow to initialise and this
// package belongs to what answers hooks.
type Schema func(reply string) (string, error)
