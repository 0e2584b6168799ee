package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"fleet/internal/scripted"
	"fleet/roster"
)

// The two workers that need one file, and the file.
const (
	holder    = "WS01"
	waiter    = "WS02"
	contested = "CHANGELOG.md"
)

// repository is what the demo's repository starts with.
var repository = map[string]string{
	"README.md": "# shop\n\nA little shop: orders come in, invoices go out.\n",
	contested:   "# Changes\n",
	"api/shop":  "orders: none\n",
}

// part is one workstream of the demo.
type part struct {
	ws, name, task string
	claims         []string
	entry          string // its line in the contested file; empty for a part that stays away from it
}

var parts = []part{
	{
		ws: holder, name: "orders", claims: []string{"api/"}, entry: "- orders can be placed",
		task: "First add the line \"- orders can be placed\" to CHANGELOG.md with Edit. Then run `sleep 20` in Bash, once. " +
			"Then write api/orders with one line that says what an order is. Nothing else.",
	},
	{
		ws: waiter, name: "invoices", entry: "- invoices are sent",
		task: "First run `sleep 8` in Bash, once. Then write docs/invoices.md with one line that says what an invoice is. Then add the line " +
			"\"- invoices are sent\" to CHANGELOG.md with Edit. If that is denied, end your turn and name the file; when you are called again, do it then. Nothing else.",
	},
	{
		ws: "WS03", name: "tests", claims: []string{"tests/"},
		task: "Write tests/orders.sh, a shell script of three lines that checks that api/orders exists. Nothing else.",
	},
}

// script is what the scripted agent does for a part. It waits for what happens, never for time.
func (d *demo) script(p part) []byte {
	write := func(path, content string) scripted.Step {
		return scripted.Step{Tool: "Write", Input: map[string]any{"file_path": path, "content": content}}
	}
	enter := scripted.Step{Tool: "Edit", StopIfDenied: true, Input: map[string]any{
		"file_path": contested, "old_string": "# Changes\n", "new_string": "# Changes\n" + p.entry + "\n",
	}}
	await := func(sign string) scripted.Step { return scripted.Step{Await: filepath.Join(d.signs, sign)} }
	touch := func(sign string) scripted.Step {
		return scripted.Step{Tool: "Bash", Input: map[string]any{"command": fmt.Sprintf("touch '%s'", filepath.Join(d.signs, sign))}}
	}
	var s scripted.Script
	switch p.ws {
	case holder:
		s.Turns = []scripted.Turn{{
			Steps:   []scripted.Step{enter, touch("held"), await("denied"), write("api/orders", "an order has items and a price\n")},
			Message: "Orders are in.",
		}}
	case waiter:
		s.Turns = []scripted.Turn{
			{Steps: []scripted.Step{write("docs/invoices.md", "An invoice lists what was ordered.\n"), await("held"), enter}},
			{Steps: []scripted.Step{enter}, Message: "Invoices are in."},
		}
	default:
		s.Turns = []scripted.Turn{{
			Steps:   []scripted.Step{write("tests/orders.sh", "#!/bin/sh\nset -e\ntest -f api/orders\n")},
			Message: "Tests are in.",
		}}
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // plain data always marshals
	}
	return text
}

// line says an event in words, "" for one that would only distract.
func (d *demo) line(e roster.Event) string {
	who := fmt.Sprintf("%s %-9s", e.WS, d.name(e.WS))
	text := func(key string) string { v, _ := e.Data[key].(string); return v }
	switch e.Type {
	case roster.WorkerUp:
		return who + "is up"
	case roster.PromptSubmitted:
		return who + "← " + strings.ReplaceAll(text("prompt"), d.fleet.Dir.Path, "…")
	case roster.LeaseAcquired:
		return who + "holds  " + text("path")
	case roster.FileChanged:
		return who + "wrote  " + text("path")
	case roster.LeaseReleased:
		return who + "frees  " + text("path")
	case roster.LeaseDenied:
		return d.paint(red, fmt.Sprintf("%sDENIED %s: %s holds it", who, text("path"), text("holder")))
	case roster.TaskSucceeded:
		return d.paint(green, who+"is done")
	case roster.StatusChanged:
		if text("to") == string(roster.Blocked) {
			return d.paint(yellow, who+"waits  "+text("reason"))
		}
	}
	return ""
}

func (d *demo) name(ws string) string {
	for _, p := range parts {
		if p.ws == ws {
			return p.name
		}
	}
	return ws
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (d *demo) paint(color, s string) string {
	if !d.Color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
