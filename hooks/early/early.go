// Package early answers hooks before the rest of the program is initialised.
//
// Agents wait for a hook at every write, and a good part of what it would cost is
// the initialisation of packages that it never uses: HTTP, terminals, the command
// line. Go initialises packages in the order of their import paths, each after its
// own imports, so this one comes before most of those: it imports neither the parser
// of shell commands nor anything else from beyond this program that could be spared.
// What is about a shell command is left to package late. Importing it does nothing to
// any other call of the program.
package early

import (
	"bytes"
	"io"
	"os"

	"fleet/hooks"
)

// input is that of a hook that is not answered yet.
var input bytes.Buffer

//nolint:gochecknoinits // the point of this package
func init() { answer(io.TeeReader(os.Stdin, &input), nil) }

// Finish answers, with a reader of shell commands, a hook that was left.
func Finish(shell hooks.Shell) { answer(&input, shell) }

// answer ends the program if it was called as a hook and that can be answered.
func answer(stdin io.Reader, shell hooks.Shell) {
	if len(os.Args) < 3 || os.Args[1] != "hook" || !hooks.Known(os.Args[2]) {
		return
	}
	//nolint:forbidigo // nothing comes after
	h := hooks.Host{Stdin: stdin, Stdout: os.Stdout, Getenv: os.Getenv, Shell: shell, Exit: os.Exit}
	if code := hooks.Main(os.Args[2:], h); code != hooks.Unanswered {
		os.Exit(code) //nolint:forbidigo // nothing comes after
	}
}
