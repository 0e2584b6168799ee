// Command fleet runs several coding agents on one repository without a lost write.
package main

import (
	"os"

	"fleet/cmd"
)

func main() { os.Exit(cmd.Main()) }
