package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"fleet/roster"
)

// Local is the file that Install changes, below the root of a repository.
const Local = ".claude/settings.local.json"

// operatorEvent is all that a session of the operator's needs: it takes no
// leases, it only must not write what a worker holds.
func operatorEvent() event { return event{"PreToolUse", "pre-tool-use", writeTools} }

// Install puts fleet's hook into the settings of a repository, once, and leaves
// everything else that stands there as it is. It refuses a file that it can't read.
func Install(root, exe string) (path string, err error) {
	return change(root, func(hooks map[string][]any) {
		entry := operatorEvent().entry(exe, "", 0)
		hooks["PreToolUse"] = append(hooks["PreToolUse"], entry)
	})
}

// Remove takes fleet's hooks out of the settings of a repository.
func Remove(root string) (path string, err error) {
	return change(root, func(map[string][]any) {})
}

// Installed returns the commands of fleet's that stand in the settings of a repository.
func Installed(root string) ([]string, error) { return commandsIn(filepath.Join(root, Local)) }

func commandsIn(path string) ([]string, error) {
	doc, err := read(path)
	if err != nil {
		return nil, err
	}
	var commands []string
	hooks, err := hooksOf(doc)
	if err != nil {
		return nil, err
	}
	for _, groups := range hooks {
		for _, g := range groups {
			commands = append(commands, ours(g)...)
		}
	}
	return commands, nil
}

// change strips fleet's own entries, lets add put new ones in, and writes the file if it differs,
// or removes it if nothing is left.
func change(root string, add func(hooks map[string][]any)) (string, error) {
	path := filepath.Join(root, Local)
	doc, err := read(path)
	if err != nil {
		return path, err
	}
	before, err := json.Marshal(doc)
	if err != nil {
		return path, err
	}
	hooks, err := hooksOf(doc)
	if err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	strip(hooks)
	add(hooks)
	if len(hooks) > 0 {
		doc["hooks"] = hooks
	} else {
		delete(doc, "hooks")
	}
	after, err := json.Marshal(doc)
	if err != nil || string(after) == string(before) {
		return path, err
	}
	if len(doc) == 0 { // nothing was in it but ours
		err := os.Remove(path)
		_ = os.Remove(filepath.Dir(path)) // it stays if anything else is in it
		return path, err
	}
	return path, write(path, doc)
}

func read(path string) (map[string]any, error) {
	doc := make(map[string]any)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // the user's numbers come out as they went in
	err = dec.Decode(&doc)
	if err == nil && dec.More() {
		err = errors.New("more than one value")
	}
	if err != nil {
		return nil, roster.Dataf("%s: not valid JSON, so it is left alone: %v", path, err).Hinted("repair it first")
	}
	if doc == nil {
		return nil, roster.Dataf("%s: want a JSON object, so it is left alone", path)
	}
	return doc, nil
}

func write(path string, doc map[string]any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(path, text.Bytes(), 0o644, renameio.WithExistingPermissions())
}

// hooksOf reads the hooks of a settings document as event → groups.
func hooksOf(doc map[string]any) (map[string][]any, error) {
	hooks := make(map[string][]any)
	all, ok := doc["hooks"]
	if !ok {
		return hooks, nil
	}
	events, ok := all.(map[string]any)
	if !ok {
		return nil, roster.Dataf(`"hooks" is no object, so it is left alone`)
	}
	for name, v := range events {
		groups, ok := v.([]any)
		if !ok {
			return nil, roster.Dataf(`"hooks"."%s" is no list, so it is left alone`, name)
		}
		hooks[name] = groups
	}
	return hooks, nil
}

// strip takes fleet's commands out, and groups and events that are empty then.
func strip(hooks map[string][]any) {
	for name, groups := range hooks {
		var kept []any
		for _, g := range groups {
			if len(ours(g)) > 0 {
				m := g.(map[string]any)
				m["hooks"] = slices.DeleteFunc(m["hooks"].([]any), isOurs)
				if len(m["hooks"].([]any)) == 0 {
					continue
				}
			}
			kept = append(kept, g)
		}
		if len(kept) == 0 {
			delete(hooks, name)
			continue
		}
		hooks[name] = kept
	}
}

// ours returns the commands of a group that are fleet's.
func ours(g any) []string {
	m, _ := g.(map[string]any)
	entries, _ := m["hooks"].([]any)
	var commands []string
	for _, e := range entries {
		if isOurs(e) {
			commands = append(commands, e.(map[string]any)["command"].(string))
		}
	}
	return commands
}

// isOurs knows an entry by the form of its command: a quoted path to a fleet program, then hook.
func isOurs(e any) bool {
	m, _ := e.(map[string]any)
	line, _ := m["command"].(string)
	exe, _, ok := strings.Cut(line, "' hook ")
	return ok && strings.HasPrefix(exe, "'") && filepath.Base(exe) == "fleet"
}

// Commands returns fleet's commands in a settings file that Worker made.
func Commands(path string) ([]string, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return commandsIn(path)
}

// Program is the program that a command of fleet's calls.
func Program(command string) string {
	exe, _, _ := strings.Cut(command, "' hook ")
	return strings.ReplaceAll(strings.TrimPrefix(exe, "'"), `'\''`, "'")
}
