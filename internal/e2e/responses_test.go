//go:build e2e

package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"fleet/internal/scriptapi"
)

// responses is OpenAI's Responses API, as far as Codex uses it.
var responses = scriptapi.Dialect{Read: readResponses, Answer: answerResponses}

// freeform is the input of a tool that takes a text instead of an object.
func freeform(text string) map[string]any { return map[string]any{"": text} }

func readResponses(body []byte) (req scriptapi.Request, said []string, err error) {
	var m struct {
		Input []struct {
			Type, Role      string
			Content, Output json.RawMessage
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return req, nil, err
	}
	for _, tool := range m.Tools {
		req.Tools = append(req.Tools, tool.Name)
	}
	for _, item := range m.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			req.Results = append(req.Results, scriptapi.Result{Content: textOf(item.Output)})
		case item.Role == "assistant" || item.Type != "message":
			req.Texts, req.Results = nil, nil
		default:
			req.Texts = append(req.Texts, textOf(item.Content))
			if item.Role == "user" {
				said = append(said, textOf(item.Content))
			}
		}
	}
	return req, said, nil
}

// textOf is a string, or a list of pieces that have a text.
func textOf(raw json.RawMessage) string {
	var text string
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &parts) != nil {
		return text
	}
	for _, p := range parts {
		text += p.Text + "\n"
	}
	return text
}

type object = map[string]any

func answerResponses(w http.ResponseWriter, t scriptapi.Turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, fields object) {
		fields["type"] = event
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
	}
	id := rand.Text()
	var items []object
	if t.Text != "" || len(t.Tools) == 0 {
		text := object{"type": "output_text", "text": t.Text, "annotations": []object{}}
		items = append(items, object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed", "content": []object{text}})
	}
	for i, tool := range t.Tools {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "call_id": fmt.Sprintf("call_%s_%d", id, i), "name": tool.Name, "status": "completed"}
		if text, ok := tool.Input[""]; ok {
			item["type"], item["input"] = "custom_tool_call", text
		} else {
			arguments, _ := json.Marshal(tool.Input)
			item["arguments"] = string(arguments)
		}
		items = append(items, item)
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
