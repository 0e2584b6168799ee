package rundir

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"fleet/roster"
)

// Files that keep what a reader of the run has seen, or has been told.
const (
	WatchSeen = ".watch.state"
	BenchSeen = ".watch.state.wb-started"
)

// Seen reads what a reader saw last, nil if there was none.
func (d *Dir) Seen(file string) (roster.Seen, error) {
	text, err := os.ReadFile(d.file(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := make(roster.Seen)
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fileErr(file, 0, "malformed; remove it to start afresh")
		}
		seen[key] = value
	}
	return seen, nil
}

// SetSeen writes what a reader saw: lines of a key, such as ws|field, a tab and the value, sorted.
func (d *Dir) SetSeen(file string, seen roster.Seen) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		b.WriteString(key + "\t" + seen[key] + "\n")
	}
	return d.Write(d.file(file), []byte(b.String()))
}
