// Package late answers the hooks that package early leaves: those about a shell
// command. It still comes before HTTP and the command line are initialised.
package late

import (
	"fleet/hooks/early"
	"fleet/hooks/shell"
)

//nolint:gochecknoinits // the point of this package
func init() { early.Finish(shell.Inspect) }
