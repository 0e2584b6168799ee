package taskfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fleet/roster"
)

const (
	taskKeys = "id, title, description, priority, scope, depends_on, max_attempts, workstream, brain, verify"
	secret   = "a secret is never stored in a run: set it in the environment of fleet"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want File
	}{
		"every key": {
			`# a graph
tasks:
  - id: T1
    title: Write the parser
    description: |
      Write it.

      Test it.
    priority: 5
    scope: [internal/a, "docs/*.md"]
    depends_on:
      - T0
    max_attempts: 100
    workstream: WS01
    brain: claude
    verify: go test ./...
`,
			File{Tasks: []roster.NewTask{{
				ID: "T1", Title: "Write the parser", Description: "Write it.\n\nTest it.\n", Priority: 5,
				Scope: []string{"internal/a", "docs/*.md"}, DependsOn: []string{"T0"}, MaxAttempts: 100,
				Workstream: "WS01", Brain: "claude", Verify: "go test ./...",
			}}},
		},
		"bare list, in order": {"- title: b\n- title: a\n", titled("b", "a")},
		"JSON":                {"{\n\t\"tasks\":[{\"title\":\"a\\/b\",\"priority\":1,\n\t\"scope\":[]}]\n}", File{Tasks: []roster.NewTask{{Title: "a/b", Priority: 1}}}},
		"JSON list":           {`[{"title":"a"},{"title":"b"}]`, titled("a", "b")},
		"JSON escapes":        {`[{"title":"\ud83d\uDE00 \u00e9 \\/ \\\/ \"\\ud83d\\ude00\""}]`, titled("😀 é \\/ \\/ \"\\ud83d\\ude00\"")},
		"no JSON":             {"- title: '\\/ \\ud83d\\ude00'", titled("\\/ \\ud83d\\ude00")},
		"CRLF":                {"- title: a\r\n- title: b\r\n", titled("a", "b")},
		"byte order mark":     {"\ufeff- title: a\n", titled("a")},
		"end of document":     {"---\n- title: a\n...\n# the end\n", titled("a")},
		"no newline":          {"- title: a", titled("a")},
		"title made flat":     {`- title: " a\tb\nc` + `\x7f"`, titled("a b c")},
		"title in a block":    {"- title: |\n    a\n    b\n", titled("a b")},
		"title from description": {
			"- description: |\n    \n    Do a.\n    Then b.\n",
			File{Tasks: []roster.NewTask{{Title: "Do a.", Description: "\nDo a.\nThen b.\n"}}},
		},
		"blank title": {
			"- title: \" \"\n  description: a\n",
			File{Tasks: []roster.NewTask{{Title: "a", Description: "a"}}},
		},
		"file_scope": {"- title: a\n  file_scope: [x]\n", File{Tasks: []roster.NewTask{{Title: "a", Scope: []string{"x"}}}}},
		"repeated entries": {
			"- title: a\n  scope: [y, x, y]\n  depends_on: [B, A, B, A]\n",
			File{Tasks: []roster.NewTask{{Title: "a", Scope: []string{"y", "x"}, DependsOn: []string{"B", "A"}}}},
		},
		"quoted": {`- {id: "7", title: "*a*", verify: 'true'}`, File{Tasks: []roster.NewTask{{ID: "7", Title: "*a*", Verify: "true"}}}},
		"instances": {
			`{"instances": [{"name": "api", "model": "opus", "cwd": ".", "tasks": ["do a\nwell", "do b", "do b"]}, {"name": "ui"}]}`,
			File{Instances: []Instance{{Name: "api", Model: "opus", Tasks: []string{"do a\nwell", "do b", "do b"}}, {Name: "ui"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("graph.yaml", []byte(c.text))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func titled(titles ...string) File {
	var f File
	for _, title := range titles {
		f.Tasks = append(f.Tasks, roster.NewTask{Title: title})
	}
	return f
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		// Nothing to do.
		"":                    "1: the file is empty",
		"# a\n# b\n":          "1: the file is empty",
		"---\n":               "1: the file is empty",
		"[]":                  "1: want either tasks or instances, and at least one",
		"{}":                  "1: want either tasks or instances, and at least one",
		"# a\ntasks: []\n":    "2: want either tasks or instances, and at least one",
		`{"instances": []}`:   "1: want either tasks or instances, and at least one",
		"tasks:\n":            "1: tasks: want a list of tasks",
		"tasks: do it\n":      "1: tasks: want a list of tasks, not a single string",
		"tasks: {title: a}\n": "1: tasks: want a list of tasks",
		"Do it.\n":            "1: the file: want a mapping, with keys such as tasks",
		"tasks: [{title: a}]\ninstances: [{name: b}]": "1: want either tasks or instances, and at least one",

		// Keys.
		"title: a\n": `1: unknown key "title" in the file; want: tasks, instances`,
		"tasks:\n- title: a\n\n- title: b\n  prio: 3\n": `5: unknown key "prio" in a task; want: ` + taskKeys,
		"- title: a\n  Title: b\n":                      `2: unknown key "Title" in a task; want: ` + taskKeys,
		"- ? [title]\n  : a\n":                          `1: unknown key "" in a task; want: ` + taskKeys,
		"- title: a\n  priority: 1\n  title: b\n":       "3: title: line 1 gives title already",
		"- title: a\n  scope: []\n  file_scope: [x]\n":  "3: file_scope: line 2 gives scope already",
		"- title: a\n  file_scope: [x]\n  scope: [x]\n": "3: scope: line 2 gives scope already",
		"tasks: [{title: a}]\ntasks: [{title: b}]\n":    "2: tasks: line 1 gives tasks already",

		// Values.
		"- id: A\n":                                     "1: a task needs a title or a description",
		"- title: a\n- title: ' '\n":                    "2: a task needs a title or a description",
		"- title: a\n- fix it\n":                        "2: a task: want a mapping, with keys such as id",
		"- title:\n":                                    "1: title: want a text, " + quotes,
		"- title: 7\n":                                  "1: title: want a text, " + quotes,
		"- title: [a]\n":                                "1: title: want a text, " + quotes,
		"- title: a\n  verify: true\n":                  "2: verify: want a text, " + quotes,
		"- title: a\n  priority: high\n":                "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: '3'\n":                 "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: 0\n":                   "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: 6\n":                   "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: 2.5\n":                 "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: !!int {}\n":            "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority: 9223372036854775808\n": "2: priority: want a whole number from 1 to 5",
		"- title: a\n  priority:\n":                     "2: priority: want a whole number from 1 to 5",
		"- title: a\n  max_attempts: 0\n":               "2: max_attempts: want a whole number from 1 to 100",
		"- title: a\n  max_attempts: 101\n":             "2: max_attempts: want a whole number from 1 to 100",
		"- title: a\n  max_attempts: -1\n":              "2: max_attempts: want a whole number from 1 to 100",
		"- title: a\n  scope: x\n":                      "2: scope: want a list of paths, not a single string",
		"- title: a\n  file_scope: x\n":                 "2: scope: want a list of paths, not a single string",
		"- title: a\n  depends_on: A\n":                 "2: depends_on: want a list of task ids, not a single string",
		"- title: a\n  scope: {x: y}\n":                 "2: scope: want a list of paths",
		"- title: a\n  scope:\n  - x\n  - ' '\n":        "4: scope: want a list of paths, each a text, " + quotes,
		"- title: a\n  depends_on:\n  - A\n  - 2\n":     "4: depends_on: want a list of task ids, each a text, " + quotes,

		// What YAML has and a task file hasn't.
		"- &a\n  title: b\n- *a\n":                   "3: a task: want a mapping, with keys such as id",
		"- title: &a b\n":                            "1: title: want a text, " + quotes,
		"- title: !important b\n":                    "1: title: want a text, " + quotes,
		"- id: A\n  title: !!str {a: b}\n":           "2: title: want a text, " + quotes,
		"- title: b\n  scope: &s [x]\n- scope: *s\n": "3: scope: want a list of paths",
		"- <<: {title: a}\n":                         `1: unknown key "<<" in a task; want: ` + taskKeys,
		"- &title title: a\n- {*title : b}\n":        `2: unknown key "title" in a task; want: ` + taskKeys,
		"- title: a\n---\n- title: b\n":              "2: want one document, and a second one begins",
		"- title: a\n---\n":                          "2: want one document, and a second one begins",
		"- title: a\n...\n}\n":                       "3: did not find expected <document start>",

		// What YAML can't read.
		"- title: a\n- title: *b\n- title: c\n":                     "2: unknown anchor 'b' referenced",
		"- title: a: b\n":                                           "1: mapping values are not allowed in this context",
		"tasks:\n- title: a\n\n# a\n- title: b\n scope: c\n":        "6: did not find expected key",
		"tasks:\n  - title: a\n  - title: b\n   verify: x\n":        "4: did not find expected '-' indicator",
		"tasks:\n\t- title: a\n":                                    "2: found character that cannot start any token",
		"{\n\"tasks\": [\n{\"title\": \"a\"}\n{\"title\": \"b\"}]}": "3: did not find expected ',' or ']'",
		"[\n{\"title\": \"\\ud83d\"}]":                              "2: found invalid Unicode character escape code",
		"- title: a\n- title: \x00\n":                               "2: control characters are not allowed",
		"- title: a\n- title: \xff\n- b\n":                          "2: want a text file, in UTF-8",
		"\xff\xfe-\x00":                                             "1: want a text file, in UTF-8",
		strings.Repeat("[", 20_000):                                 "1: exceeded max depth of 10000",
		strings.Repeat("- title: a\n", 2<<20):                       "1: the file is larger than 4 MiB",

		// A fleet.config.json.
		"instances:\n- model: a\n":                   "2: an instance needs a name",
		"instances:\n- name: ''\n":                   "2: an instance needs a name",
		"instances:\n- name: a\n- name: a\n":         `3: the instance in line 2 has the name "a" already`,
		"instances:\n- name: a\n  cwd: ./api\n":      `3: cwd: want ".", or none: a run has one repository`,
		"instances:\n- name: a\n  cwd: [.]\n":        `3: cwd: want ".", or none: a run has one repository`,
		"instances:\n- name: a\n  apiKey: sk-1\n":    "3: apiKey: " + secret,
		"instances:\n- name: a\n  apiBaseUrl: x\n":   "3: apiBaseUrl: " + secret,
		"instances:\n- name: a\n  env: {A: b}\n":     "3: env: not supported",
		"instances:\n- name: a\n  args: []\n":        "3: args: not supported",
		"instances:\n- name: a\n  title: b\n":        `3: unknown key "title" in an instance; want: name, model, cwd, tasks`,
		"instances:\n- name: a\n  tasks: b\n":        "3: tasks: want a list of prompts, not a single string",
		"instances:\n- name: a\n  tasks: [{t: b}]\n": "3: tasks: want a list of prompts, each a text, " + quotes,
	} {
		got, err := Parse("graph.yaml", []byte(text))
		checkErr(t, err)
		if want = "graph.yaml:" + want; err == nil || err.Error() != want {
			t.Errorf("%.80q:\n got %v\nwant %s", text, err, want)
		}
		if diff := cmp.Diff(File{}, got); diff != "" {
			t.Errorf("%.80q: something besides the error:\n%s", text, diff)
		}
	}
}

func checkErr(t *testing.T, err error) {
	t.Helper()
	var rule *roster.Error
	if err != nil && (!errors.As(err, &rule) || rule.Kind != roster.Data || roster.Flat(rule.Msg) != rule.Msg) {
		t.Errorf("%v (%T) is no error about data in one line", err, err)
	}
}

// A large graph is read, and a mistake at its end is found where it is.
func TestParseMany(t *testing.T) {
	const many = 10_000
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "- {id: T%d, title: do %d, scope: [src/%d], depends_on: [T%d]}\n", i, i, i, i/2)
	}
	f, err := Parse("graph.yaml", []byte(b.String()))
	if err != nil || len(f.Tasks) != many || f.Tasks[many-1].DependsOn[0] != "T4999" {
		t.Fatalf("%d tasks, %v", len(f.Tasks), err)
	}
	b.WriteString("- title: a\n   id: b\n")
	if _, err := Parse("graph.yaml", []byte(b.String())); err == nil || !strings.HasPrefix(err.Error(), "graph.yaml:10002: ") {
		t.Error(err)
	}
}

// A document that would be 10^12 entries long if its aliases were followed is refused.
func TestParseBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("- &a0 {title: b}\n")
	for i := range 12 {
		fmt.Fprintf(&b, "- &a%d [%s]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	start := time.Now()
	for _, text := range []string{b.String(), "tasks: &a [*a]\n", "- title: b\n  scope: &a [*a]\n"} {
		if _, err := Parse("graph.yaml", []byte(text)); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Any bytes are read or refused with the line that is wrong; never anything else.
func FuzzParse(f *testing.F) {
	f.Add([]byte("tasks:\n- id: A\n  title: a\n  scope: [x, y]\n  priority: 3\n# c\n"))
	f.Add([]byte(`{"instances": [{"name": "a", "cwd": ".", "tasks": ["b"]}]}`))
	f.Add([]byte("- &a {title: !!str b}\n- *a\n- <<: *a\n---\n"))
	f.Add([]byte("a:\n  - b\n  # c\n\n # d\n- ? e\n  : >-\n    f\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse("a.yaml", text)
		checkErr(t, err)
		var line int
		if err != nil {
			if _, bad := fmt.Sscanf(err.Error(), "a.yaml:%d: ", &line); bad != nil || line < 1 {
				t.Fatalf("%v names no line", err)
			}
			return
		}
		if len(got.Tasks)+len(got.Instances) == 0 {
			t.Fatal("nothing was read")
		}
		for _, task := range got.Tasks {
			if task.Title == "" || roster.Flat(task.Title) != task.Title || task.Priority < 0 || task.Priority > 5 {
				t.Fatalf("read as %+v", task)
			}
		}
	})
}
