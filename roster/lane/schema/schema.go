// Package schema tells whether a lane's reply fits a JSON Schema.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fleet/roster"
	"fleet/roster/lane"
)

// Parse reads a JSON Schema. It must be whole: what it refers to elsewhere is fetched from nowhere.
func Parse(text []byte) (lane.Schema, error) {
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
	return func(reply string) (string, error) { return check(compiled, reply) }, nil
}

const schemaURL = "schema.json"

type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not part of it", url) }

// check finds the JSON in a reply, which may stand in a fence, and returns it if it fits.
func check(s *jsonschema.Schema, reply string) (string, error) {
	text := strings.TrimSpace(reply)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		fenced, ok := unfence(text)
		if ok {
			value, err = jsonschema.UnmarshalJSON(strings.NewReader(fenced))
		}
		if err != nil {
			return "", fmt.Errorf("it is no JSON: %w", err)
		}
		text = fenced
	}
	return text, faults(s.Validate(value))
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
