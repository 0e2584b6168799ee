package rundir

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"fleet/roster"
)

// leaseFile is leases.tsv as a roster.Leases. As long as one path alone is asked for,
// its row is looked up in the file where it lies, since a write check asks for one of
// perhaps thousands, and reading them all would be most of what it costs. Whoever
// wants more has all rows read.
type leaseFile struct {
	file    io.ReaderAt
	size    int64
	one     *leaseRow // what was looked up, nil if nothing was
	tail    string    // new rows behind the file
	touched bool
	rewrite bool // appending won't do: a row has changed, or the file has other columns than ours
	parsed  *table[roster.Lease]
	index   map[string]int // by path, into parsed.rows
	err     error          // the table can't be read; the commit refuses
}

// leaseRow is the row of a path.
type leaseRow struct {
	path string
	line string // in the file; empty if there is none
	at   int64  // where it stands there
	now  string // what it is to be, empty as long as that is no other
}

// openLeases prepares leases.tsv. Only its ends are looked at here: a torn file is refused at once.
func openLeases(file io.ReaderAt, size int64) (*leaseFile, error) {
	f := &leaseFile{file: file, size: size}
	header := headerLine(leaseColumns(), nil)
	head, end := make([]byte, len(header)), make([]byte, 1)
	_, _ = file.ReadAt(head, 0) // of what can't be read, parse says why
	_, _ = file.ReadAt(end, size-1)
	if string(head) != header || string(end) != "\n" {
		f.rewrite = true
		f.parse() // another order or further columns: rows can't be found by their first cell
	}
	return f, f.err
}

func (f *leaseFile) parse() {
	if f.parsed != nil {
		return
	}
	t, err := parse(leasesFile, f.text(), leaseColumns())
	if err != nil {
		f.err = cmp.Or(f.err, err)
		t = &table[roster.Lease]{file: leasesFile, columns: leaseColumns()}
	}
	f.parsed, f.index = t, make(map[string]int, len(t.rows))
	for i := range t.rows {
		f.index[t.rows[i].Path] = i
	}
}

// text is the file with the changed row in it.
func (f *leaseFile) text() string {
	b, err := io.ReadAll(io.NewSectionReader(f.file, 0, f.size))
	f.err = errors.Join(f.err, err)
	text := string(b)
	if f.one == nil || f.one.line == "" || f.one.now == "" {
		return text + f.tail
	}
	return text[:f.one.at] + f.one.now + text[f.one.at+int64(len(f.one.line)):]
}

// row looks a path up, nil if all rows are in memory by now.
func (f *leaseFile) row(path string) *leaseRow {
	if f.parsed == nil && f.one == nil {
		f.one = f.find(path)
	}
	if f.parsed == nil && f.one.path != path {
		f.parse()
	}
	if f.parsed != nil {
		return nil
	}
	return f.one
}

// find reads the file up to the row of a path, by pieces. A line that doesn't fit into one is no row of ours.
func (f *leaseFile) find(path string) *leaseRow {
	r := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.size), 16<<10)
	for at := int64(0); ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			f.err = errors.Join(f.err, ignoreEOF(err))
			return &leaseRow{path: path}
		}
		if first, _, _ := bytes.Cut(line[:len(line)-1], []byte("\t")); string(first) == path && at > 0 {
			return &leaseRow{path: path, line: string(line), at: at}
		}
		at += int64(len(line))
	}
}

func (f *leaseFile) Get(path string) (l roster.Lease, held bool) {
	r := f.row(path)
	if r == nil {
		i, ok := f.index[path]
		if ok {
			l = f.parsed.rows[i]
		}
		return l, ok
	}
	line := cmp.Or(r.now, r.line)
	if line == "" {
		return l, false
	}
	columns := leaseColumns()
	for i, cell := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
		if i >= len(columns) || columns[i].set(&l, cell) != nil {
			f.parse() // names the line
			return roster.Lease{}, false
		}
	}
	return l, true
}

func (f *leaseFile) All() iter.Seq[roster.Lease] {
	f.parse()
	return func(yield func(roster.Lease) bool) {
		for i := range f.parsed.rows {
			if l := f.parsed.rows[i]; l.Path != "" && !yield(l) {
				return
			}
		}
	}
}

func (f *leaseFile) Put(l roster.Lease) {
	f.touched = true
	line := rowLine(leaseColumns(), &l, nil)
	if r := f.row(l.Path); r != nil {
		r.now = line
		if r.line == "" {
			f.tail = line
		} else {
			f.rewrite = true
		}
		return
	}
	if i, ok := f.index[l.Path]; ok {
		f.parsed.rows[i], f.rewrite = l, true
		return
	}
	f.index[l.Path] = len(f.parsed.rows)
	f.parsed.rows = append(f.parsed.rows, l)
	f.tail += line
}

func (f *leaseFile) Delete(path string) {
	f.parse()
	if i, ok := f.index[path]; ok {
		f.parsed.rows[i].Path = "" // the row stays, so that a loop over All may delete
		delete(f.index, path)
		f.rewrite, f.touched = true, true
	}
}

// change is what there is to write: rows to append to the file, or, where that
// won't do, its whole new text. Both are empty when nothing has changed.
func (f *leaseFile) change() (tail, whole string) {
	switch {
	case !f.touched:
		return "", ""
	case !f.rewrite:
		return f.tail, ""
	case f.parsed != nil:
		return "", f.parsed.text(slices.Collect(f.All()))
	}
	return "", f.text()
}
