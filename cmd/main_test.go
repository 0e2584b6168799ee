package cmd_test

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fleet/cmd"
	_ "fleet/hooks/late" // as in the product
)

// TestMain makes the test binary play fleet, and the fake of Claude Code, in the scripts.
func TestMain(m *testing.M) {
	// Scripts wait more than they work: more of them than there are processors may run at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"fleet":  func() { os.Exit(cmd.Main()) },
		"claude": func() { os.Exit(claude()) },
	})
}
