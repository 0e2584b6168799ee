// Package shell reads the command line of an agent's Bash tool and tells what
// it would do to a checkout that others work in, too: which files it writes,
// and which git verbs reach beyond the agent's own files.
//
// It is a guard against ordinary habits, not a sandbox. It reports what can be
// read off the line; what only a run would show (programs it doesn't know,
// values from the environment or from another command) it leaves out, for the
// audit after the call. It reads no file and runs nothing.
package shell

import (
	"errors"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"fleet/hooks/effect"
)

const (
	// maxLength is the longest command read. Linux hands no longer argument to
	// a program, and the parser's recursion stays within the stack below it.
	maxLength = 128 << 10

	// maxNesting is the most parentheses open at once. The parser tries each
	// pair as arithmetic first, and takes seconds for ten thousands.
	maxNesting = 1000
)

// Inspect parses command as bash would run it in dir, which has to be
// absolute, and reports what it would do. An error means that the line can't
// be read, and comes with an empty report. The effort is bounded: of a line
// that loops without end the report holds the beginning.
func Inspect(command, dir string) (effect.Report, error) {
	stmts, err := parse(command)
	if err != nil {
		return effect.Report{}, err
	}
	w := walker{fuel: 1 << 20, seen: make(map[any]bool)}
	w.vars = make(map[string]string)
	if path.IsAbs(dir) {
		w.dir = path.Clean(dir)
	}
	w.stmts(stmts)
	return w.report, nil
}

func parse(script string) ([]*syntax.Stmt, error) {
	open := 0
	for i := range len(script) {
		switch script[i] {
		case '(':
			open++
		case ')':
			open = max(open-1, 0)
		}
		if i >= maxLength || open > maxNesting {
			return nil, errors.New("the command is too long or too deep to be read")
		}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	return file.Stmts, nil
}

// write reports that a file is written, or into if the file turns out to be a
// directory, and, with tree, all that is below.
func (w *walker) write(file, into string, tree bool) {
	t := effect.Target{Path: w.abs(file), Into: w.abs(into), Tree: tree}
	if isGlob(t.Path) {
		t.Path, t.Into, t.Pattern = pattern.Replace(t.Path), pattern.Replace(t.Into), true
	}
	if t.Path != "" && !isDevice(t.Path) && w.first(t) {
		w.report.Writes = append(w.report.Writes, t)
	}
}

// isDevice reports whether a path is a device's. What is in memory is files all the same, perhaps a repository.
func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// trample reports a git command that is run in the current directory.
func (w *walker) trample(command, why, instead string) {
	t := effect.Trample{Command: command, Dir: w.dir, Why: why, Instead: instead}
	if isGlob(t.Dir) {
		t.Dir = "" // which of several can't be told
	}
	if w.first(t) {
		w.report.Tramples = append(w.report.Tramples, t)
	}
}

// first tells whether an entry is new to the report.
func (w *walker) first(entry any) bool {
	known := w.seen[entry]
	w.seen[entry] = true
	return !known
}
