package agent

import (
	"bufio"
	"bytes"
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
	Tools  int             // how often it used one
	last   string          // what it said last
	open   []byte          // an envelope that has begun and not ended
}

// success is the Subtype of a result that is none of an error.
const success = "success"

// begin notes the first frame.
func (s *Session) begin(id string, line []byte) { s.ID, s.Init = id, bytes.Clone(line) }

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

// frame is an object of JSON as an agent writes it. What isn't there, or isn't what it should be, is empty.
type frame map[string]any

// at finds what stands in the frame: "usage.input_tokens".
func (f frame) at(path string) any {
	var v any = map[string]any(f)
	for key := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func (f frame) text(path string) string { t, _ := f.at(path).(string); return t }

func (f frame) number(path string) int64 { n, _ := f.at(path).(float64); return int64(n) }

func (f frame) list(path string) (frames []frame) {
	items, _ := f.at(path).([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		frames = append(frames, m)
	}
	return frames
}

// ReadSession reads what a headless session says to its end and tells line by line what the agent
// does. Lines that aren't frames are shown as they are: a program that fails says why in plain words.
func (b Brain) ReadSession(r io.Reader, show func(line string)) (Session, error) {
	var s Session
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines)
		b.take(&s, line, show)
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

func (b Brain) take(s *Session, line []byte, show func(string)) {
	if b.whole && (s.open != nil || bytes.HasPrefix(line, []byte("{"))) {
		s.open = append(s.open, line...)
		line = s.open
	}
	var f frame
	if json.Unmarshal(line, &f) == nil && (b.whole || f.text("type") != "") {
		s.open = nil
		b.read(s, f, line, show)
	} else if text := strings.TrimRight(string(line), "\r\n"); text != "" && s.open == nil {
		show(text)
	}
}

// readClaude takes a frame of what Claude Code writes (--output-format stream-json).
func readClaude(s *Session, f frame, line []byte, show func(string)) {
	switch kind := f.text("type"); {
	case kind == "system" && f.text("subtype") == "init":
		s.begin(f.text("session_id"), line)
		s.CWD = f.text("cwd")
	case kind == "result":
		r := &Result{}
		if err := json.Unmarshal(line, r); err != nil { // a number that is none must not lose the rest
			r.Usage = nil
		}
		r.Subtype = f.text("subtype")
		s.Result = r
	case kind == "assistant":
		for _, b := range f.list("message.content") {
			switch b.text("type") {
			case "text":
				show("● " + b.text("text"))
			case "tool_use":
				show(s.called(b.text("name"), b.at("input")))
			}
		}
	}
}

// called counts a tool call, and says it in a line: the tool, and what it is about.
func (s *Session) called(tool string, input any) string {
	s.Tools++
	fields, _ := input.(map[string]any)
	about := frame(fields)
	for _, key := range []string{"file_path", "filePath", "notebook_path", "path", "command", "pattern"} {
		if v := about.text(key); v != "" {
			return fmt.Sprintf("● %s(%s)", tool, roster.Title(v))
		}
	}
	return "● " + tool + "()"
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
