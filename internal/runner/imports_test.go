package runner

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports are the packages of this module that the non-test files of a folder import directly.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(path, "fleet/") && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	slices.Sort(found)
	return found
}

// CF-5, CF-149: a runner is defined by what it may not import. The nouns, the agents
// and the seam for programs are all that it knows: no file, lock or rule of the run.
func TestRunnerImports(t *testing.T) {
	want := []string{"fleet/internal/agent", "fleet/internal/proc", "fleet/roster"}
	if got := imports(t, "."); !slices.Equal(got, want) {
		t.Errorf("the runner imports %v, want %v", got, want)
	}
	// What it imports must not lead it there by a detour.
	for _, dir := range []string{"../agent", "../proc", "../../roster"} {
		for _, path := range imports(t, dir) {
			if !slices.Contains(want, path) {
				t.Errorf("%s, which the runner imports, imports %s", dir, path)
			}
		}
	}
}

// CF-149: hooks stand between an agent and its write, and ask the data plane alone.
func TestHooksImports(t *testing.T) {
	const root = "../../hooks"
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		for _, path := range imports(t, dir) {
			if path == "fleet/internal/master" || path == "fleet/tmux" || strings.HasPrefix(path, "fleet/cmd") {
				t.Errorf("%s imports %s", dir, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
