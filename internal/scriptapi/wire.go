package scriptapi

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

// message is the part of a request's body that matters here.
type message struct {
	Model    string
	Stream   bool
	Messages []struct {
		Role    string
		Content content
	}
	Tools []struct {
		Name   string
		Schema json.RawMessage `json:"input_schema"` // tools that the server runs have none
	}
}

// content is a list of blocks; on the wire a string may stand for one of text.
type content []struct {
	Type, Text string
	Content    content
	IsError    bool `json:"is_error"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	type blocks content // without this method
	return json.Unmarshal(data, (*blocks)(c))
}

func (c content) String() string {
	var texts []string
	for _, b := range c {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// read returns what is new in a request, and all that the user ever said. What
// the agent itself put between the user's words is left out of that: project
// instructions, say, may well name another conversation's key.
func (m *message) read() (req Request, said []string) {
	for _, tool := range m.Tools {
		if tool.Schema != nil {
			req.Tools = append(req.Tools, tool.Name)
		}
	}
	for _, msg := range m.Messages {
		if msg.Role == "assistant" {
			req.Texts, req.Results = nil, nil
			continue
		}
		for _, b := range msg.Content {
			switch b.Type {
			case "tool_result":
				req.Results = append(req.Results, Result{b.Content.String(), b.IsError})
			case "text":
				req.Texts = append(req.Texts, b.Text)
				if msg.Role == "user" {
					said = append(said, reminder.ReplaceAllString(b.Text, ""))
				}
			}
		}
	}
	return req, said
}

type object map[string]any

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	var m message
	// Read to the end: only then does the server notice that a client leaves.
	data, err := io.ReadAll(r.Body)
	if d, other := s.dialects[r.URL.Path]; other && err == nil {
		s.speak(w, r, d, data)
		return
	}
	switch path := r.URL.Path; {
	case path == "/v1/messages/count_tokens":
		writeJSON(w, http.StatusOK, object{"input_tokens": 100})
	case path != "/v1/messages":
		http.NotFound(w, r) // a probe takes any answer
	case err != nil || json.Unmarshal(data, &m) != nil:
		http.Error(w, "not a request", http.StatusBadRequest)
	default:
		req, said := m.read()
		// An agent's own loop always offers tools; a request without stands beside
		// the conversation and, if it looks at the answer at all, wants a title.
		turn := Turn{Text: `{"title":"scripted"}`}
		if len(req.Tools) > 0 {
			prefix := ""
			if r.Header.Get("X-Claude-Code-Agent-Id") != "" {
				prefix = Subagent
			}
			turn = s.next(s.keyOf(said, prefix), req)
		}
		turn.answer(w, r, &m)
	}
}

func (s *Server) speak(w http.ResponseWriter, r *http.Request, d Dialect, body []byte) {
	req, said, err := d.Read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if turn := s.next(s.keyOf(said, ""), req); !turn.fails(w, r) {
		d.Answer(w, turn)
	}
}

// answer sends the turn, as a stream if the client wants one.
func (t Turn) answer(w http.ResponseWriter, r *http.Request, m *message) {
	if t.fails(w, r) {
		return
	}
	id := rand.Text() // no two answers share one, even of two servers
	blocks, stop := t.blocks(id)
	whole := object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": m.Model,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": 100, "output_tokens": 20},
	}
	if !m.Stream {
		writeJSON(w, http.StatusOK, whole)
		return
	}
	stream(w, whole, blocks, stop)
}

// fails waits for the gate of the turn, and reports whether that is all that there is to answer: an error, or nothing.
func (t Turn) fails(w http.ResponseWriter, r *http.Request) bool {
	if t.Gate != nil {
		select {
		case <-t.Gate:
		case <-r.Context().Done():
			return true
		}
	}
	if t.Status != 0 {
		maps.Copy(w.Header(), t.Header)
		failure := object{"type": cmp.Or(t.ErrorType, "api_error"), "message": t.Text}
		writeJSON(w, t.Status, object{"type": "error", "error": failure})
	}
	return t.Status != 0
}

// blocks is the content of the turn, and the reason why it stops there.
func (t Turn) blocks(id string) (blocks []object, stop string) {
	stop = "end_turn"
	if t.Text != "" || len(t.Tools) == 0 {
		blocks = append(blocks, object{"type": "text", "text": t.Text})
	}
	for i, tool := range t.Tools {
		stop = "tool_use"
		input := object{} // not null, which is no input
		maps.Copy(input, tool.Input)
		blocks = append(blocks, object{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": tool.Name, "input": input,
		})
	}
	return blocks, stop
}

// stream sends a message as server-sent events: first without what the blocks and
// the end bring, then each block, opened empty and filled by one delta.
func stream(w http.ResponseWriter, opening object, blocks []object, stop string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, fields object) {
		fields["type"] = event
		data, _ := json.Marshal(fields)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data) // who has left misses nothing
	}
	opening["content"], opening["stop_reason"] = []object{}, nil
	send("message_start", object{"message": opening})
	for i, b := range blocks {
		start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			input, _ := json.Marshal(b["input"])
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
			start = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
		}
		send("content_block_start", object{"index": i, "content_block": start})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop}, "usage": opening["usage"]})
	send("message_stop", object{})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
