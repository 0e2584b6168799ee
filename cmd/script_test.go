package cmd

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden files in the scripts")

const scripts = "../testdata/script"

// TestScript runs testdata/script/<verb>_<case>.txtar. Its README tells of the
// commands beyond testscript's own.
func TestScript(t *testing.T) {
	for _, program := range []string{"tmux", "git", "psql"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the scripts need %s: %v", program, err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:   scripts,
		Setup: setup,
		Cmds:  commands,

		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
	})
}

// goCache is where Go keeps what it has built: the demo runs Go's tests, and would build all of Go again in an empty home.
var goCache = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(out)), err
})

// setup gives a script a world of its own: home, git, and tmux servers that are gone after it.
// Nothing of the caller's reaches it but PATH; in particular no FLEET_ variable.
func setup(e *testscript.Env) error {
	// A socket's path must be short, and $WORK is long.
	sockets, err := os.MkdirTemp("/tmp", "ft")
	if err != nil {
		return err
	}
	cache, err := goCache()
	if err != nil {
		return err
	}
	home := filepath.Join(e.WorkDir, "home")
	config := filepath.Join(home, "gitconfig")
	for k, v := range map[string]string{
		"HOME": home, "GOCACHE": cache, "GORACE": os.Getenv("GORACE"), "GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1",
		"RUN": "planning/fleet-shop", "TMUX": "", "TMUX_PANE": "", "TMUX_TMPDIR": sockets, "SHELL": "/bin/sh", "TERM": "xterm-256color",
		"FAKE_AGENT_LOG": filepath.Join(e.WorkDir, "truth"), "FAKE_AGENT_CONTROL": filepath.Join(e.WorkDir, "faults"),
	} {
		e.Setenv(k, v)
	}
	t := e.T().(interface {
		Failed() bool
		Errorf(format string, args ...any)
	})
	e.Defer(func() {
		// A script that failed half-way leaves things about, and has failed already.
		if left := endAll(sockets, e.WorkDir); len(left) > 0 && !t.Failed() {
			t.Errorf("processes are left: %s", strings.Join(left, "; "))
		}
		if err := os.RemoveAll(sockets); err != nil {
			t.Errorf("%v", err)
		}
	})
	const gitconfig = "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[maintenance]\n\tauto = false\n"
	return errors.Join(os.MkdirAll(home, 0o755), os.WriteFile(config, []byte(gitconfig), 0o644))
}

// The README lists each command that the scripts have, and each that they have is used.
func TestScriptCommands(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(scripts, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^- `(?:\\[!\\] )?([a-z]+)").FindAllStringSubmatch(string(readme), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	var have []string
	for name := range commands {
		have = append(have, name)
	}
	slices.Sort(have)
	if !slices.Equal(listed, have) {
		t.Errorf("README.md lists\n%v, the scripts have\n%v", listed, have)
	}
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range have {
		if !regexp.MustCompile(`(?m)^(! )?` + name + `( |$)`).MatchString(all.String()) {
			t.Errorf("no script uses %s", name)
		}
	}
}
