package agent

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"path/filepath"
)

//go:embed opencode.js
var opencodePlugin string

// opencodePluginName is the file of the plugin, beside the settings.
const opencodePluginName = "opencode.js"

// opencode calls fleet's hooks through a plugin, which lets nothing through that the hook did not allow in words.
func opencode() Brain {
	return Brain{
		Name: "opencode", Program: "opencode", Hooks: true, Since: "1.18.33", read: readOpencode,
		Files: map[string]string{opencodePluginName: opencodePlugin},
		launch: func(j Job) (Command, error) {
			var args []string
			if j.headless() {
				args = []string{"run", "--format", "json", "--auto"}
			}
			args = append(args, flag("--model", j.Model)...)
			if j.headless() {
				args = append(args, flag("--variant", j.Effort)...)
			} else if j.Prompt != "" {
				args = append(args, "--prompt")
			}
			c := Command{Args: args, Set: []string{"OPENCODE_DISABLE_AUTOUPDATE=1"}}
			if j.Settings == "" {
				return c, nil
			}
			plugin := "file://" + filepath.Join(filepath.Dir(j.Settings), opencodePluginName)
			config, err := json.Marshal(map[string]any{"plugin": []string{plugin}})
			c.Set = append(c.Set, "OPENCODE_CONFIG_CONTENT="+string(config), "FLEET_HOOKS="+j.Settings)
			return c, err
		},
	}
}

// readOpencode takes a line of "opencode run --format json". It has no frame for the end of a session: that is
// the last end of a step that isn't followed by another.
func readOpencode(s *Session, line []byte, show func(string)) {
	var e struct {
		Type    string `json:"type"`
		Session string `json:"sessionID"`
		Part    struct {
			Text   string  `json:"text"`
			Tool   string  `json:"tool"`
			Reason string  `json:"reason"`
			Cost   float64 `json:"cost"`
			State  struct {
				Input map[string]any `json:"input"`
			} `json:"state"`
			Tokens struct {
				Input  int64 `json:"input"`
				Output int64 `json:"output"`
			} `json:"tokens"`
		} `json:"part"`
		Error struct {
			Name string `json:"name"`
			Data struct {
				Message string `json:"message"`
			} `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(line, &e) != nil || e.Type == "" {
		showPlain(line, show)
		return
	}
	s.ID = cmp.Or(s.ID, e.Session)
	switch e.Type {
	case "text":
		s.last = e.Part.Text
		show("● " + e.Part.Text)
	case "tool_use":
		show("● " + e.Part.Tool + "(" + target(e.Part.State.Input) + ")")
	case "step_finish":
		var sum Result
		if s.Result != nil {
			sum = *s.Result
		}
		used := sum.Usage[""]
		r := Result{Subtype: success, Text: s.last, Cost: sum.Cost + e.Part.Cost}
		s.end(r, used.Input+e.Part.Tokens.Input, used.Output+e.Part.Tokens.Output)
	case "error":
		s.end(Result{IsError: true, Text: cmp.Or(e.Error.Data.Message, e.Error.Name)}, 0, 0)
	}
}
