package rundir

import (
	"iter"
	"slices"
	"strings"

	"fleet/roster"
)

// leaseFile is leases.tsv as a roster.Leases. One path is looked up in the text
// as it stands, and a new one goes to its end; the rows are parsed only when
// somebody wants them all.
type leaseFile struct {
	text    string // as read, with changed rows in it
	tail    string // new rows behind it
	touched bool
	rewrite bool // appending won't do: text isn't what was read, or has other columns than ours
	parsed  *table[roster.Lease]
	index   map[string]int // by path, into parsed.rows
	err     error          // the table can't be read; the commit refuses
}

// openLeases prepares the text of leases.tsv. Only the ends are looked at here: a torn file is refused at once.
func openLeases(text string) (*leaseFile, error) {
	f := &leaseFile{text: text}
	if !strings.HasPrefix(text, headerLine(leaseColumns(), nil)) || !strings.HasSuffix(text, "\n") {
		f.rewrite = true
		f.parse() // another order or further columns: rows can't be found by their first cell
	}
	return f, f.err
}

func (f *leaseFile) parse() {
	if f.parsed != nil {
		return
	}
	t, err := parse(leasesFile, f.text+f.tail, leaseColumns())
	if err != nil {
		f.err = err
		t = &table[roster.Lease]{file: leasesFile, columns: leaseColumns()}
	}
	f.parsed, f.index = t, make(map[string]int, len(t.rows))
	for i := range t.rows {
		f.index[t.rows[i].Path] = i
	}
}

// findRow finds the line of a path in a text, without its newline.
func findRow(text, path string) (line string, at int) {
	for from := 0; ; from = at {
		i := strings.Index(text[from:], "\n"+path)
		if i < 0 {
			return "", -1
		}
		at = from + i + 1
		line, _, _ = strings.Cut(text[at:], "\n")
		if first, _, _ := strings.Cut(line, "\t"); first == path {
			return line, at
		}
	}
}

func (f *leaseFile) Get(path string) (roster.Lease, bool) {
	if f.parsed == nil && f.tail != "" {
		f.parse() // more than one path is asked for: no need to be quick
	}
	if f.parsed != nil {
		i, ok := f.index[path]
		if !ok {
			return roster.Lease{}, false
		}
		return f.parsed.rows[i], true
	}
	line, at := findRow(f.text, path)
	if at < 0 {
		return roster.Lease{}, false
	}
	columns := leaseColumns()
	var l roster.Lease
	for i, cell := range strings.Split(line, "\t") {
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
	if f.parsed == nil && f.tail != "" {
		f.parse()
	}
	line := rowLine(leaseColumns(), &l, nil)
	if f.parsed != nil {
		if i, ok := f.index[l.Path]; ok {
			f.parsed.rows[i], f.rewrite = l, true
			return
		}
		f.index[l.Path] = len(f.parsed.rows)
		f.parsed.rows = append(f.parsed.rows, l)
		f.tail += line
		return
	}
	if old, at := findRow(f.text, l.Path); at >= 0 {
		f.text, f.rewrite = f.text[:at]+line+f.text[at+len(old)+1:], true
		return
	}
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
	return "", f.text + f.tail
}
