package demo

import (
	"encoding/json"
	"path"
	"path/filepath"

	"fleet/internal/scripted"
	"fleet/roster"
)

// contested is the file that two tasks need at once.
const contested = "api.go"

// signs tell a scripted worker that it may go on: files that the demo makes when
// something has happened, so that nobody waits for time.
const (
	isHeld   = "held"   // the contested file
	isDenied = "denied" // to the second worker
)

// part is one task of the demo, with what the scripted agent does for it: its
// turns, one for each attempt.
type part struct {
	roster.NewTask
	turns []scripted.Turn
}

// parts is the graph: T1 and T2 share a file and are ordered by their edge; T3 and
// T4 share one that T4 doesn't say, so they run at once and one of them is denied.
func parts(signs string) []part {
	edit := func(name, before, after string) scripted.Step {
		return scripted.Step{Tool: "Edit", StopIfDenied: true, Input: map[string]any{"file_path": name, "old_string": before, "new_string": after}}
	}
	write := func(name string) scripted.Step {
		content, err := files.ReadFile("work/" + path.Base(name) + ".txt")
		if err != nil {
			panic(err) // it is in the program
		}
		return scripted.Step{Tool: "Write", StopIfDenied: true, Input: map[string]any{"file_path": name, "content": string(content)}}
	}
	await := func(sign string) scripted.Step { return scripted.Step{Await: filepath.Join(signs, sign)} }
	once := func(message string, steps ...scripted.Step) []scripted.Turn {
		return []scripted.Turn{{Steps: steps, Message: message}}
	}
	wrap := edit(contested, "\treturn answer\n", "\treturn logged(answer)\n")
	return []part{
		{
			roster.NewTask{
				ID: "T1", Title: "limit how many links there may be", Priority: 5, Scope: []string{"config.go"},
				Description: "In config.go, add the field MaxLinks int to Config, and let Default set it to 1000. Change no other file.",
			},
			once("Config has MaxLinks.",
				edit("config.go", "\tAddr string\n", "\tAddr     string\n\tMaxLinks int // 0 is no limit\n"),
				edit("config.go", `Config{Addr: "127.0.0.1:8080"}`, `Config{Addr: "127.0.0.1:8080", MaxLinks: 1000}`)),
		},
		{
			roster.NewTask{
				ID: "T2", Title: "read the address from the environment", Priority: 4, Scope: []string{"config.go"}, DependsOn: []string{"T1"},
				Description: "In config.go, add func FromEnv(getenv func(string) string) Config: Default, with Addr from SHELF_ADDR if that is set. Change no other file.",
			},
			once("FromEnv is there.", edit("config.go", "// Default is", `// FromEnv is Default with what the environment says.
func FromEnv(getenv func(string) string) Config {
	c := Default()
	if addr := getenv("SHELF_ADDR"); addr != "" {
		c.Addr = addr
	}
	return c
}

// Default is`)),
		},
		{
			roster.NewTask{
				ID: "T3", Title: "answer how many links there are", Priority: 5, Scope: []string{contested},
				Description: "First, in api.go, let Serve answer the line \"count\" with the number of links in decimal. Then write docs/api.md: " +
					"a page on every line that is answered, with examples, of forty lines or more. Change no other file.",
			},
			once("count is answered.",
				edit(contested, "\t\treturn \"error: put", "\t\tif line == \"count\" {\n\t\t\treturn strconv.Itoa(s.Len())\n\t\t}\n\t\treturn \"error: put"),
				edit(contested, "import \"strings\"\n", "import (\n\t\"strconv\"\n\t\"strings\"\n)\n"),
				await(isDenied),
				write("docs/api.md")),
		},
		{
			roster.NewTask{
				ID: "T4", Title: "log every line", Priority: 5, Scope: []string{"middleware.go"},
				Description: "First, in api.go, let Serve return logged(answer) instead of answer. Then, in middleware.go, write " +
					"func logged(next Answer) Answer, which logs each line with package log. Change no other file.",
			},
			[]scripted.Turn{
				{Steps: []scripted.Step{await(isHeld), wrap}},
				{Steps: []scripted.Step{wrap, write("middleware.go")}, Message: "Lines are logged."},
			},
		},
		{
			roster.NewTask{
				ID: "T5", Title: "test the number of links", Priority: 3, Scope: []string{"count_test.go"}, DependsOn: []string{"T3"},
				Description: "In count_test.go, write a test that puts a link on a shelf and wants \"count\" to be answered with 1. Change no other file.",
			},
			once("The number is tested.", write("count_test.go")),
		},
	}
}

// script is what the scripted agent reads.
func (p part) script() []byte {
	text, err := json.Marshal(scripted.Script{Turns: p.turns})
	if err != nil {
		panic(err) // plain data always marshals
	}
	return text
}
