// Command fleet runs several coding agents on one repository without a lost write.
package main

import (
	"os"

	"fleet/cmd"
	_ "fleet/hooks/late" // hooks are answered before the rest is initialised
)

func main() { os.Exit(cmd.Main()) }
