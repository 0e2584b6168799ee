package git

import (
	"context"
	"fmt"
	"strings"
)

// Kind says what sort of change git sees at a path.
type Kind byte

// The kinds of changes.
const (
	Tracked   Kind = '1' // a file that git knows: changed, deleted, or added to the index
	Unmerged  Kind = 'u' // a conflict that waits for its resolution
	Untracked Kind = '?'
	Nested    Kind = '/' // an untracked repository inside this one, whose files are its own
)

// Change is one path that differs from the last commit, in the index or in the tree.
type Change struct {
	Kind Kind
	Path string // relative to the root of the checkout, as git has it: any bytes but NUL
}

// Status is how a checkout stands.
type Status struct {
	Head    string // the commit that is checked out; empty before the first one
	Branch  string // empty when HEAD is detached
	Changes []Change
}

// Paths are those of the changes, in git's order.
func (s *Status) Paths() []string { return Paths(s.Changes) }

// Paths are those of some changes.
func Paths(changes []Change) []string {
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths
}

// Status reads how the checkout stands. A rename is two changes, one at each
// path; what is dirty only inside a submodule is the submodule's own affair.
func (g *Git) Status(ctx context.Context) (Status, error) {
	// Without its optional locks git stays out of the way of who commits just now.
	out, err := g.git(ctx, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return Status{}, err
	}
	return parseStatus(out)
}

// parseStatus reads what git status --porcelain=v2 --branch -z wrote.
func parseStatus(out string) (Status, error) {
	var s Status
	for record := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if record == "" {
			continue
		}
		if field, isHeader := strings.CutPrefix(record, "# "); isHeader {
			s.header(field)
			continue
		}
		c, err := parseChange(record)
		if err != nil {
			return Status{}, err
		}
		if c.Kind != 0 {
			s.Changes = append(s.Changes, c)
		}
	}
	return s, nil
}

func (s *Status) header(field string) {
	name, value, _ := strings.Cut(field, " ")
	switch {
	case name == "branch.oid" && value != "(initial)":
		s.Head = value
	case name == "branch.head" && value != "(detached)":
		s.Branch = value
	}
}

// fieldsBefore is how many fields stand before the path of a record.
var fieldsBefore = map[byte]int{'1': 8, 'u': 10, '?': 1, '!': 1}

func parseChange(record string) (Change, error) {
	n, known := fieldsBefore[record[0]]
	fields := strings.SplitN(record, " ", n+1)
	if !known || len(fields) != n+1 || fields[n] == "" {
		return Change{}, fmt.Errorf("git status said %.80q, which is no record of porcelain v2", record)
	}
	path := fields[n]
	switch kind := Kind(record[0]); {
	case kind == '!':
		return Change{}, nil
	case kind == Untracked && strings.HasSuffix(path, "/"):
		return Change{Nested, strings.TrimSuffix(path, "/")}, nil
	default:
		return Change{kind, path}, nil
	}
}
