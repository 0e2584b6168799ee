package rundir

import (
	"fmt"
	"slices"
	"strings"

	"fleet/roster"
)

// column is one known column of a table: how a cell is made from a row and read into one.
type column[T any] struct {
	name string
	get  func(*T) string
	set  func(*T, string) error
}

// table is a parsed file: rows by known columns, and what it had beyond them.
type table[T any] struct {
	file    string
	columns []column[T] // the first is the key
	rows    []T
	missing []column[T]         // known columns that the file lacks
	stale   bool                // there is no such file: the next change makes it
	extra   []string            // names of unknown columns, in the file's order
	cells   map[string][]string // their cells, by key
}

// parse reads a table. Columns are found by name. A known one that is missing
// reads empty, as do cells that a line lacks, and unknown columns are kept for the
// next rewrite. What can't be read without guessing (a torn line, CR line ends,
// other control characters, a double key) is an error that names the line.
func parse[T any](file, text string, columns []column[T]) (*table[T], error) {
	t := &table[T]{file: file, columns: columns}
	if text == "" {
		return nil, fileErr(file, 0, "is empty: want a header line")
	}
	if !strings.HasSuffix(text, "\n") {
		return nil, fileErr(file, strings.Count(text, "\n")+1, "the last line is torn: no newline at its end")
	}
	if i := strings.IndexAny(text, controls); i >= 0 {
		return nil, fileErr(file, 1+strings.Count(text[:i], "\n"), "control character %q: want plain text, with line ends of LF alone", text[i])
	}
	head, body, _ := strings.Cut(text, "\n")
	header := strings.Split(head, "\t")
	at, err := t.readHeader(header)
	if err != nil {
		return nil, err
	}
	n := 1
	lines := strings.Count(body, "\n")
	t.rows = make([]T, 0, lines)
	seen := make(map[string]int, lines)
	for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
		n++
		if body == "" {
			break
		}
		cells := strings.Split(line, "\t")
		if len(cells) > len(header) {
			return nil, fileErr(file, n, "%d cells under %d columns", len(cells), len(header))
		}
		key, err := t.readRow(cells, at)
		if err != nil {
			return nil, fileErr(file, n, "%v", err)
		}
		if first, double := seen[key]; double {
			return nil, fileErr(file, n, "%s %q stands in line %d already", columns[0].name, key, first)
		}
		seen[key] = n
	}
	return t, nil
}

// controls are what no cell may hold, and no line but for its tabs.
const controls = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\r\x0e\x0f" +
	"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"

// readHeader returns for each column of the file the index of the known one, or -1.
func (t *table[T]) readHeader(header []string) ([]int, error) {
	at := make([]int, len(header))
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return nil, fileErr(t.file, 1, "column %q stands twice", name)
		}
		at[i] = slices.IndexFunc(t.columns, func(c column[T]) bool { return c.name == name })
		if at[i] < 0 {
			t.extra = append(t.extra, name)
		}
	}
	if !slices.Contains(at, 0) {
		return nil, fileErr(t.file, 1, "no column %q", t.columns[0].name)
	}
	for i, c := range t.columns {
		if !slices.Contains(at, i) {
			t.missing = append(t.missing, c)
		}
	}
	return at, nil
}

func (t *table[T]) readRow(cells []string, at []int) (key string, err error) {
	var row T
	var extra []string
	for i := range at {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		if at[i] < 0 {
			extra = append(extra, cell)
			continue
		}
		c := t.columns[at[i]]
		if err := c.set(&row, cell); err != nil {
			return "", fmt.Errorf("%s %q: %w", c.name, cell, err)
		}
	}
	for _, c := range t.missing {
		if err := c.set(&row, ""); err != nil {
			return "", fmt.Errorf("no column %q: %w", c.name, err)
		}
	}
	key = t.columns[0].get(&row)
	if key == "" {
		return "", fmt.Errorf("%s is empty", t.columns[0].name)
	}
	t.rows = append(t.rows, row)
	if len(extra) > 0 {
		if t.cells == nil {
			t.cells = make(map[string][]string)
		}
		t.cells[key] = extra
	}
	return key, nil
}

// text is the file that holds rows: known columns first, then what else there was.
func (t *table[T]) text(rows []T) string {
	var b strings.Builder
	b.WriteString(headerLine(t.columns, t.extra))
	for i := range rows {
		b.WriteString(rowLine(t.columns, &rows[i], t.padded(t.columns[0].get(&rows[i]))))
	}
	return b.String()
}

func (t *table[T]) padded(key string) []string {
	cells := t.cells[key]
	return append(slices.Clone(cells), make([]string, len(t.extra)-len(cells))...)
}

func headerLine[T any](columns []column[T], extra []string) string {
	return line(columns, extra, func(c column[T]) string { return c.name })
}

func rowLine[T any](columns []column[T], row *T, extra []string) string {
	return line(columns, extra, func(c column[T]) string { return roster.Flat(c.get(row)) })
}

func line[T any](columns []column[T], extra []string, cell func(column[T]) string) string {
	cells := make([]string, 0, len(columns)+len(extra))
	for _, c := range columns {
		cells = append(cells, cell(c))
	}
	return strings.Join(append(cells, extra...), "\t") + "\n"
}
