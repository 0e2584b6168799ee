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
		Name: "opencode", Program: "opencode", Commits: true, Hooks: true, Since: "1.18.33", read: readOpencode,
		screen: screen{
			sign: "┃", foot: 1, hints: []string{"Ask anything"},
			dialogs: []dialog{{"Permission required", "a permission dialog"}, {"Connect a provider", "the login"}},
		},
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

// readOpencode takes a frame of "opencode run --format json". It has none for the end of a session: that is
// the last end of a step that isn't followed by another.
func readOpencode(s *Session, f frame, _ []byte, show func(string)) {
	s.ID = cmp.Or(s.ID, f.text("sessionID"))
	switch f.text("type") {
	case "text":
		s.last = f.text("part.text")
		show("● " + s.last)
	case "tool_use":
		show(s.called(f.text("part.tool"), f.at("part.state.input")))
	case "step_finish":
		r := Result{Subtype: success, Text: s.last}
		r.Cost, _ = f.at("part.cost").(float64)
		var used usage
		if s.Result != nil {
			r.Cost += s.Result.Cost
			used = s.Result.Usage[""]
		}
		s.end(r, used.Input+f.number("part.tokens.input"), used.Output+f.number("part.tokens.output"))
	case "error":
		s.end(Result{IsError: true, Text: cmp.Or(f.text("error.data.message"), f.text("error.name"))}, 0, 0)
	}
}
