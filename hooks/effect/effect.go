// Package effect names what a shell command would do to a checkout. Package shell
// finds it out; it is apart from that, since most hooks are not about a command and
// are answered before a parser of shell commands is initialised.
package effect

// Report is what one command line would do.
type Report struct {
	Writes   []Target  // in order of appearance, without duplicates
	Tramples []Trample // likewise
}

// Target is a file or directory that would be written, created, moved or
// deleted.
type Target struct {
	Path string // absolute and lexically clean; links are not resolved

	// Into is written in place of Path if Path turns out to be a directory
	// (cp a.txt docs). It is empty where that makes no difference.
	Into string

	// Tree says that, if Path is a directory, everything below it is touched
	// as well (rm -r, mv, cp -r, a formatter).
	Tree bool

	// Pattern says that Path is a glob: * ? [] within one path element, an
	// element ** for any number of them, \ to quote. The shell keeps a glob
	// that matches nothing as it stands, so Path may be the very name of a
	// file as well (app/[id]/page.tsx).
	Pattern bool
}

// Trample is a git verb that touches what other workers of the same checkout
// rely on: the index, the branch, the stash or all files.
type Trample struct {
	Command string // the verb with the option that matters: "git reset --hard"
	Dir     string // where it would run; empty if that can't be told
	Why     string // one clause for the agent, without a full stop
	Instead string // what to do in its place, as a sentence; may be empty
}
