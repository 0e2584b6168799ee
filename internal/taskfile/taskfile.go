// Package taskfile reads what a user wrote down for a fleet to do.
//
// A task file is YAML, and thereby may be JSON: a list of tasks, alone or under
// the key tasks, or a fleet.config.json with workers under the key instances.
// Whether the tasks make a sound graph is for package roster to say.
//
// It is strict, since a misspelt key would silently do nothing, and an error
// names the line. So it walks the nodes of the document, and follows no alias:
// with those a small file could grow without bound.
package taskfile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"fleet/roster"
)

// File is what a task file asks for: tasks or instances, in their order.
type File struct {
	Tasks     []roster.NewTask // of a graph
	Instances []Instance       // of a fleet.config.json
}

// Instance is a worker with a queue of its own.
type Instance struct {
	Name  string   // unique in the file
	Model string   // as written: the name of a brain, or of something else
	Tasks []string // prompts; may be empty
}

// Parse reads a task file of at most 4 MiB. The name is for errors: each is a
// *roster.Error of kind Data, "name:line: " and the first thing that is wrong.
// Every task has a title, if need be from its description, which may be empty.
func Parse(name string, text []byte) (File, error) {
	f, err := parse(text)
	if err != nil {
		return File{}, roster.Dataf("%s:%v", name, err)
	}
	return f, nil
}

// at makes an error about a line; Parse puts the file's name before it.
func at(line int, format string, args ...any) error {
	return fmt.Errorf("%d: %s", line, fmt.Sprintf(format, args...))
}

func parse(text []byte) (f File, err error) {
	root, err := document(text)
	switch {
	case err != nil:
		return f, err
	case root.Kind == yaml.SequenceNode:
		err = f.readTasks(root)
	default:
		err = mapping("the file", root, field{"tasks", f.readTasks}, field{"instances", f.readInstances})
	}
	if err == nil && (len(f.Tasks) > 0) == (len(f.Instances) > 0) {
		err = at(root.Line, "want either tasks or instances, and at least one")
	}
	return f, err
}

func (f *File) readTasks(n *yaml.Node) error {
	return entries("tasks", "tasks", n, func(n *yaml.Node) error {
		var t roster.NewTask
		err := mapping("a task", n,
			field{"id", &t.ID}, field{"title", &t.Title}, field{"description", &t.Description},
			field{"priority", number{&t.Priority, 5}},
			field{"scope", list{&t.Scope, "paths", false}}, field{"depends_on", list{&t.DependsOn, "task ids", false}},
			field{"max_attempts", number{&t.MaxAttempts, 100}},
			field{"workstream", &t.Workstream}, field{"brain", &t.Brain}, field{"verify", &t.Verify})
		if err != nil {
			return err
		}
		if t.Title = strings.TrimSpace(roster.Flat(t.Title)); t.Title == "" {
			t.Title = roster.Title(t.Description)
		}
		if t.Title == "" {
			return at(n.Line, "a task needs a title or a description")
		}
		f.Tasks = append(f.Tasks, t)
		return nil
	})
}

func (f *File) readInstances(n *yaml.Node) error {
	const secret refused = "a secret is never stored in a run: set it in the environment of fleet"
	lines := make(map[string]int)
	return entries("instances", "instances", n, func(n *yaml.Node) error {
		var i Instance
		err := mapping("an instance", n,
			field{"name", &i.Name}, field{"model", &i.Model}, field{"cwd", checkCwd}, field{"tasks", list{&i.Tasks, "prompts", true}},
			field{"apiKey", secret}, field{"apiBaseUrl", secret},
			field{"env", refused("not supported")}, field{"args", refused("not supported")})
		switch first := lines[i.Name]; {
		case err != nil:
			return err
		case strings.TrimSpace(i.Name) == "":
			return at(n.Line, "an instance needs a name")
		case first > 0:
			return at(n.Line, "the instance in line %d has the name %q already", first, roster.Title(i.Name))
		}
		lines[i.Name] = n.Line
		f.Instances = append(f.Instances, i)
		return nil
	})
}

func checkCwd(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Value != "." {
		return at(n.Line, `cwd: want ".", or none: a run has one repository`)
	}
	return nil
}
