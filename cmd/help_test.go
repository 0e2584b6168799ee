package cmd

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// every calls fn with each command of the tree.
func every(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, sub := range c.Commands() {
		every(sub, fn)
	}
}

// --help answers, on stdout alone, and does nothing: no run dir, no git, no tmux.
func TestHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	t.Setenv("FLEET_RUN_DIR", "/nowhere")
	every(newRoot(&app{}), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		for _, args := range [][]string{append(path, "--help"), append([]string{"help"}, path...)} {
			var out, errOut bytes.Buffer
			a := &app{in: strings.NewReader(""), out: &out, errOut: &errOut, getenv: os.Getenv}
			root := newRoot(a)
			root.SetArgs(args)
			if err := root.Execute(); err != nil || errOut.Len() > 0 || out.Len() == 0 || c.Runnable() && !strings.Contains(out.String(), "Usage:") {
				t.Errorf("fleet %s: %v\n%s%s", strings.Join(args, " "), err, errOut.String(), out.String())
			}
		}
	})
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it has made %v, %v", left, err)
	}
}

// Each command says in a line what it is for, and one that people give words to shows an example.
func TestEveryCommandIsDocumented(t *testing.T) {
	every(newRoot(&app{}), func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short is %q", c.CommandPath(), c.Short)
		}
		takesWords := strings.Contains(c.Use, "<") && !c.Hidden && c.Name() != "hook"
		if takesWords && !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s has no example of its own", c.CommandPath())
		}
		alone := []string{"version", "exit-codes", "completion"}
		if c.HasParent() && c.Parent() == c.Root() && !c.Hidden && c.GroupID == "" && !slices.Contains(alone, c.Name()) {
			t.Errorf("%s belongs to no group of the help", c.CommandPath())
		}
	})
}
