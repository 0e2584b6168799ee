// Package scripted is an agent without a model: it plays a script of tool calls,
// and for each runs the hooks of its settings file as Claude Code runs them, in
// the permission mode in which only an explicit allow lets a write through.
// Demo and tests drive the shipped hooks with it.
package scripted

import (
	"encoding/json"
	"fmt"
	"os"
)

// Script is what an agent will do: each prompt that it takes plays the next turn.
type Script struct {
	Turns []Turn `json:"turns"`
}

// Turn is a series of steps and the message with which the turn ends.
type Turn struct {
	Steps   []Step `json:"steps"`
	Message string `json:"message"`
	Error   bool   `json:"error,omitempty"` // the turn ends as one that an agent's service cut off
}

// Step is a tool call, or a wait.
type Step struct {
	Tool  string         `json:"tool,omitempty"` // Write, Edit or Bash
	Input map[string]any `json:"input,omitempty"`
	Await string         `json:"await,omitempty"` // wait until this path exists
	// StopIfDenied ends the turn when the call is denied, as an agent does that was told to.
	StopIfDenied bool `json:"stop_if_denied,omitempty"`
}

// Load reads a script. A missing file is a script of no turns.
func Load(path string) (Script, error) {
	var s Script
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}
