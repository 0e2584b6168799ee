package git

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fleet/internal/proc"
)

// A diff of what is at work has new files, those that git ignores if they are named, and those of the commits
// since the base; paths at which there is nothing are no error, and the index stays as it is.
func TestWorkDiff(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		id := []string{"git", "-c", "user.name=t", "-c", "user.email=t@localhost"}
		out, err := proc.Run(t.Context(), proc.Cmd{Args: append(id, args...), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(base, want string, only ...string) {
		t.Helper()
		patch, err := In(proc.Run, dir).WorkDiff(t.Context(), base, false, only...)
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^diff --git a/(.*) b/`).FindAllStringSubmatch(patch, -1) {
			got = append(got, m[1])
		}
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%v since %q: it has %q, %v, want %s", only, base, got, err, want)
		}
	}
	git("init", "--quiet", "--initial-branch", "main")
	write("was", "x")
	write("gone", "x")
	write(".gitignore", "ignored\n")
	shows("", ".gitignore gone was")
	shows("", "was", "was", "never")
	git("add", "--all")
	git("commit", "--quiet", "--message", "start")
	git("branch", "base")
	shows("HEAD", "", "was", "never")
	write("was", "y")
	write("new", "x")
	write("*", "x")
	write("ignored", "x")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	git("add", "was")
	index := git("ls-files", "--stage", "--debug")
	shows("HEAD", "* gone ignored new", "gone", "ignored", "new", "never", "*")
	shows("HEAD", "* gone new was")
	if got := git("ls-files", "--stage", "--debug"); got != index {
		t.Errorf("the index is now\n%s\nand was\n%s", got, index)
	}
	git("commit", "--quiet", "--all", "--message", "work")
	shows("base", "* gone new was")
	shows("HEAD", "* new")
	patch, err := In(proc.Run, dir).WorkDiff(t.Context(), "HEAD", true)
	if err != nil || !strings.Contains(patch, "\x1b[32m+") {
		t.Errorf("with colours: %v, %q", err, patch)
	}
}
