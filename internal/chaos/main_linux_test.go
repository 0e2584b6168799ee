package chaos

import (
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"fleet/cmd"
	_ "fleet/hooks/late" // as in the product
)

var seedFlag = flag.Uint64("seed", 0, "of the graph and of who is killed when; 0 makes one (or CHAOS_SEED)")

// TestMain makes the test binary play fleet when it is called by that name, with an agent that is hard to end.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != fleetName {
		os.Exit(m.Run())
	}
	if len(os.Args) > 1 && os.Args[1] == "play" {
		// An agent whose wrapper is gone would die of its next word. Real ones needn't,
		// and what they try from then on is what the fence is for.
		signal.Ignore(syscall.SIGPIPE)
	}
	os.Exit(cmd.Main())
}
