package agent

import "encoding/json"

// gemini is Google's. Its hooks could deny, but it takes them from the user's and the repository's own files
// alone, or from one that root owns, up to the root directory (0.61): none of these is fleet's to write. So it is
// kept apart by its worktree.
func gemini() Brain {
	return Brain{
		Name: "gemini", Program: "gemini", read: readGemini,
		service: service{url: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY"},
		launch: func(j Job) (Command, error) {
			args := append([]string{"--approval-mode", "yolo"}, flag("--model", j.Model)...)
			if j.Trust || j.headless() { // there is nobody whom it could ask
				args = append(args, "--skip-trust")
			}
			switch {
			case j.headless():
				args = append(args, "--output-format", "stream-json", "--prompt")
			case j.Prompt != "":
				args = append(args, "--prompt-interactive")
			}
			return Command{Args: args}, nil
		},
		screen: screen{dialogs: []dialog{
			{"Do you trust", "the trust dialog: is this folder trusted?"},
			{"How would you like to authenticate", "the login"},
		}},
	}
}

// readGemini takes a line of "gemini --output-format stream-json".
func readGemini(s *Session, line []byte, show func(string)) {
	var e struct {
		Type    string         `json:"type"`
		Session string         `json:"session_id"`
		Role    string         `json:"role"`
		Content string         `json:"content"`
		Delta   bool           `json:"delta"`
		Tool    string         `json:"tool_name"`
		Params  map[string]any `json:"parameters"`
		Status  string         `json:"status"`
		Message string         `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
		Stats struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"stats"`
	}
	if json.Unmarshal(line, &e) != nil || e.Type == "" {
		showPlain(line, show)
		return
	}
	switch e.Type {
	case "init":
		s.ID, s.Init = e.Session, append(json.RawMessage(nil), line...)
	case "message":
		if e.Role == "assistant" {
			if !e.Delta {
				s.last = ""
			}
			s.last += e.Content
			show("● " + e.Content)
		}
	case "tool_use":
		s.last = ""
		show("● " + e.Tool + "(" + target(e.Params) + ")")
	case "error":
		show("! " + e.Message)
	case "result":
		r := Result{Subtype: success, Text: s.last}
		if e.Status != success {
			r = Result{IsError: true, Text: e.Error.Message}
		}
		s.end(r, e.Stats.Input, e.Stats.Output)
	}
}
