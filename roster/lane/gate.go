package lane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
func Gate(artifact []byte, schema *Schema) (string, error) {
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
	text, err := schema.check(e.Result)
	if err != nil {
		return "", &RejectedError{Why: "the reply does not fit its schema: " + roster.Flat(err.Error()), Reply: e.Result}
	}
	return text, nil
}

// Schema is what a reply has to fit.
type Schema struct{ compiled *jsonschema.Schema }

// ParseSchema reads a JSON Schema. It must be whole: what it refers to elsewhere is fetched from nowhere.
func ParseSchema(text []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, roster.Dataf("the schema is no JSON: %v", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, roster.Dataf("the schema: %v", err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, roster.Dataf("the schema is not valid: %s", roster.Flat(err.Error()))
	}
	return &Schema{compiled}, nil
}

const schemaURL = "schema.json"

type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not part of it", url) }

// check finds the JSON in a reply, which may stand in a fence, and returns it if it fits.
func (s *Schema) check(reply string) (string, error) {
	text := strings.TrimSpace(reply)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		fenced, ok := unfence(text)
		if !ok {
			return "", err
		}
		if value, err = jsonschema.UnmarshalJSON(strings.NewReader(fenced)); err != nil {
			return "", err
		}
		text = fenced
	}
	return text, faults(s.compiled.Validate(value))
}

// faults is a validation's error without where the schema came from: a line for each place.
func faults(err error) error {
	if err == nil {
		return nil
	}
	_, places, _ := strings.Cut(err.Error(), "\n")
	return errors.New(strings.TrimPrefix(places, "- "))
}

const fence = "```"

// unfence is what stands in the only fenced block of a text.
func unfence(text string) (string, bool) {
	parts := strings.Split(text, fence)
	if len(parts) != 3 {
		return "", false
	}
	_, body, ok := strings.Cut(parts[1], "\n") // after the name of the language
	return strings.TrimSpace(body), ok
}
