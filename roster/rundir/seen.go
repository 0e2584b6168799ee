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

const seenFile = ".watch.state"

// Seen reads what the last watch saw, nil if there was none.
func (d *Dir) Seen() (roster.Seen, error) {
	text, err := os.ReadFile(d.file(seenFile))
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
			return nil, fileErr(seenFile, 0, "malformed; remove it to start afresh")
		}
		seen[key] = value
	}
	return seen, nil
}

// SetSeen writes what a watch saw: lines of ws|field, a tab and the value, sorted.
func (d *Dir) SetSeen(seen roster.Seen) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		b.WriteString(key + "\t" + seen[key] + "\n")
	}
	return d.Write(d.file(seenFile), []byte(b.String()))
}
