package rundir

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"fleet/roster"
)

const baselineFile = "lanes/main-baseline.txt"

// Baseline reads how the main checkout stood when that was last written down, nil if it never was.
func (d *Dir) Baseline() (roster.Contents, error) {
	text, err := os.ReadFile(d.file(baselineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	baseline := make(roster.Contents)
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		hash, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && strings.HasPrefix(path, `"`) {
			path, err = strconv.Unquote(path)
		}
		if !ok || err != nil {
			return nil, fileErr(baselineFile, n, "want a hash, a tab and a path").Hinted("fleet check-main --rebaseline writes it anew")
		}
		baseline[path] = hash
	}
	return baseline, nil
}

// SetBaseline writes down how the main checkout stands: a line a path, sorted.
func (d *Dir) SetBaseline(now roster.Contents) error {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(now)) {
		b.WriteString(now[path] + "\t" + roster.Printable(path) + "\n")
	}
	return d.Write(d.file(baselineFile), []byte(b.String()))
}
