package scriptapi

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
)

// Freeform is the Input of a Tool that takes a text instead of an object.
func Freeform(text string) map[string]any { return map[string]any{freeform: text} }

const freeform = ""

// responsesRequest is the part of a request to the Responses API that matters here.
type responsesRequest struct {
	Input []struct {
		Type, Role string
		Content    content
		Output     content // of a call
	}
	Tools []struct{ Name string }
}

func (m *responsesRequest) read() (req Request, said []string) {
	for _, tool := range m.Tools {
		if tool.Name != "" {
			req.Tools = append(req.Tools, tool.Name)
		}
	}
	for _, item := range m.Input {
		switch {
		case item.Type == "function_call_output" || item.Type == "custom_tool_call_output":
			req.Results = append(req.Results, Result{Content: item.Output.String()})
		case item.Role == "assistant" || item.Type != "message":
			req.Texts, req.Results = nil, nil
		default:
			req.Texts = append(req.Texts, item.Content.String())
			if item.Role == "user" {
				said = append(said, item.Content.String())
			}
		}
	}
	return req, said
}

func (s *Server) respond(w http.ResponseWriter, r *http.Request, data []byte) {
	var m responsesRequest
	if json.Unmarshal(data, &m) != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	req, said := m.read()
	turn := Turn{Text: `{"title":"scripted"}`}
	if len(req.Tools) > 0 {
		turn = s.next(s.keyOf(said, ""), req)
	}
	if turn.fails(w, r) {
		return
	}
	id := rand.Text()
	items := turn.items(id)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, fields object) {
		fields["type"] = event
		data, _ := json.Marshal(fields)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data) // who has left misses nothing
	}
	send("response.created", object{"response": object{"id": "resp_" + id, "status": "in_progress"}})
	for i, item := range items {
		send("response.output_item.added", object{"output_index": i, "item": item})
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	usage := object{
		"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 10},
		"output_tokens": 20, "output_tokens_details": object{"reasoning_tokens": 5}, "total_tokens": 120,
	}
	send("response.completed", object{"response": object{"id": "resp_" + id, "status": "completed", "output": items, "usage": usage}})
}

// items is the output of the turn.
func (t Turn) items(id string) (items []object) {
	if t.Text != "" || len(t.Tools) == 0 {
		text := object{"type": "output_text", "text": t.Text, "annotations": []object{}}
		items = append(items, object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed", "content": []object{text}})
	}
	for i, tool := range t.Tools {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "call_id": fmt.Sprintf("call_%s_%d", id, i), "name": tool.Name, "status": "completed"}
		if text, ok := tool.Input[freeform]; ok {
			item["type"], item["input"] = "custom_tool_call", text
		} else {
			arguments, _ := json.Marshal(tool.Input)
			item["arguments"] = string(arguments)
		}
		items = append(items, item)
	}
	return items
}
