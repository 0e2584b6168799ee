package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"fleet/roster"
)

// maxLine bounds a line of an agent's stream. What is longer is read past.
const maxLine = 32 << 20

// Session is what a headless session said, in the lines of JSON that its program writes.
type Session struct {
	ID     string          // as the session itself gives it
	CWD    string          // where it works
	Init   json.RawMessage // the frame with which it began: tools, model, permission mode
	Result *Result         // the frame with which it ended; nil if there was none
	last   string          // what it said last
	open   []byte          // an envelope that has begun and not ended
}

// success is the Subtype of a result that is none of an error.
const success = "success"

// end notes how a session ended, in the words of Claude Code, with the tokens that it used.
func (s *Session) end(r Result, input, output int64) {
	r.Usage = map[string]usage{"": {Input: input, Output: output}}
	s.Result = &r
}

// Result is the last frame of a session.
type Result struct {
	Subtype    string           `json:"subtype"`
	IsError    bool             `json:"is_error"`
	Text       string           `json:"result"`
	SessionID  string           `json:"session_id"`
	Cost       float64          `json:"total_cost_usd"`
	DurationMS int64            `json:"duration_ms"`
	Reason     string           `json:"terminal_reason"`
	Usage      map[string]usage `json:"modelUsage"`
}

type usage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadInputTokens"`
	CacheCreation int64 `json:"cacheCreationInputTokens"`
}

// frame is one line of the stream, the fields that matter here.
type frame struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	CWD       string `json:"cwd"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// ReadSession reads what a headless session says to its end and tells line by line what the agent
// does. Lines that aren't frames are shown as they are: a program that fails says why in plain words.
func (b Brain) ReadSession(r io.Reader, show func(line string)) (Session, error) {
	var s Session
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines)
		b.read(&s, line, show)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}

// readLine reads a line of any length; of one beyond maxLine it returns nothing.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func showPlain(line []byte, show func(string)) {
	if text := strings.TrimRight(string(line), "\r\n"); text != "" {
		show(text)
	}
}

// readClaude takes a line of what Claude Code writes (--output-format stream-json).
func readClaude(s *Session, line []byte, show func(string)) {
	var f frame
	if json.Unmarshal(line, &f) != nil || f.Type == "" {
		showPlain(line, show)
		return
	}
	switch {
	case f.Type == "system" && f.Subtype == "init":
		s.ID, s.CWD, s.Init = f.SessionID, f.CWD, append(json.RawMessage(nil), line...)
	case f.Type == "result":
		r := &Result{}
		if err := json.Unmarshal(line, r); err != nil { // a number that is none must not lose the rest
			r.Usage = nil
		}
		r.Subtype = f.Subtype
		s.Result = r
	case f.Type == "assistant":
		for _, text := range blocks(f.Message.Content) {
			show(text)
		}
	}
}

// blocks says in a line each what an agent's message contains.
func blocks(content json.RawMessage) []string {
	var list []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	}
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	var lines []string
	for _, b := range list {
		switch b.Type {
		case "text":
			lines = append(lines, "● "+b.Text)
		case "tool_use":
			lines = append(lines, fmt.Sprintf("● %s(%s)", b.Name, target(b.Input)))
		}
	}
	return lines
}

// target is what a tool call is about.
func target(input map[string]any) string {
	for _, key := range []string{"file_path", "filePath", "notebook_path", "path", "command", "pattern"} {
		if v, ok := input[key].(string); ok {
			return roster.Title(v)
		}
	}
	return ""
}

// Outcome judges a session by what it said and how its program ended. A veto is
// not seen here: the run's own files know of it.
func (s Session) Outcome(exit int, timedOut bool) roster.Outcome {
	o := roster.Outcome{SessionID: s.ID}
	if r := s.Result; r != nil {
		o.Summary, o.DurationMS = r.Text, r.DurationMS
		o.CostUSD = max(0, r.Cost)
		for _, u := range r.Usage {
			o.InputTokens += max(0, u.Input) + max(0, u.CacheRead) + max(0, u.CacheCreation)
			o.OutputTokens += max(0, u.Output)
		}
	}
	switch r := s.Result; {
	case timedOut:
		o.Kind, o.Reason = roster.ErrTimeout, "its time was over"
	case r == nil:
		o.Kind, o.Reason = roster.ErrInfra, fmt.Sprintf("it ended with code %d and without a result", exit)
	case r.Subtype == "error_max_turns" || strings.HasPrefix(r.Subtype, "error_max_budget"):
		o.Kind, o.Reason = roster.ErrBudget, "it reached its limit: "+r.Subtype
	case r.IsError || exit != 0 || r.Subtype != success:
		o.Kind, o.Reason = roster.ErrAgent, r.failure(exit)
	default:
		o.OK = true
	}
	return o
}

// failure says why a session that ended in an error did: what it calls the error, if it has a name for it, and what it said.
func (r *Result) failure(exit int) string {
	var parts []string
	for _, name := range []string{r.Subtype, r.Reason} {
		if name != "" && name != success && name != "completed" {
			parts = append(parts, name)
		}
	}
	if text := roster.Title(r.Text); text != "" {
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("it ended with code %d", exit))
	}
	return strings.Join(parts, ": ")
}
