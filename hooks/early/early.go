// Package early answers hooks before the rest of the program is initialised.
//
// Agents wait for a hook at every write, and a good part of what it would cost is
// the initialisation of packages that it never uses: HTTP, terminals, the command
// line. Go initialises packages in the order of their import paths, each after its
// own imports, so this one comes before most of those. Importing it does nothing
// to any other call of the program.
package early

import (
	"os"

	"fleet/hooks"
)

//nolint:gochecknoinits // the point of this package
func init() {
	if len(os.Args) > 2 && os.Args[1] == "hook" && hooks.Known(os.Args[2]) {
		os.Exit(hooks.Main(os.Args[2:], os.Stdin, os.Stdout, os.Getenv)) //nolint:forbidigo // nothing comes after
	}
}
