package agent

// gemini is Google's. Its hooks could deny, but it takes them from the user's and the repository's own files
// alone, or from one that root owns, up to the root directory (0.61): none of these is fleet's to write. So it is
// kept apart by its worktree.
func gemini() Brain {
	return Brain{
		Name: "gemini", Program: "gemini", Commits: true, read: readGemini,
		service: service{url: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY"},
		launch: func(j Job) (Command, error) {
			args := append([]string{"--approval-mode", "yolo"}, flag("--model", j.Model)...)
			if j.Trust || j.headless() { // there is nobody whom it could ask
				args = append(args, "--skip-trust")
			}
			switch { // without --prompt it reads stdin
			case j.headless():
				args = append(args, "--output-format", "stream-json")
				if j.Packet == "" {
					args = append(args, "--prompt")
				}
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

// readGemini takes a frame of "gemini --output-format stream-json". What the agent says comes in parts.
func readGemini(s *Session, f frame, line []byte, show func(string)) {
	switch f.text("type") {
	case "init":
		s.begin(f.text("session_id"), line)
	case "message":
		if f.text("role") == "assistant" {
			s.last += f.text("content")
			show("● " + f.text("content"))
		}
	case "tool_use":
		s.last = ""
		show(s.called(f.text("tool_name"), f.at("parameters")))
	case "error":
		show("! " + f.text("message"))
	case "result":
		r := Result{Subtype: success, Text: s.last}
		if f.text("status") != success {
			r = Result{IsError: true, Text: f.text("error.message")}
		}
		s.end(r, f.number("stats.input_tokens"), f.number("stats.output_tokens"))
	}
}
