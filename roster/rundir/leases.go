package rundir

import (
	"iter"
	"slices"
	"strings"

	"fleet/roster"
)

// leaseFile is leases.tsv as a roster.Leases. One path is looked up in the text
// as it stands; the rows are parsed only when somebody wants them all.
type leaseFile struct {
	original string
	text     string // original and what was appended; stale once parsed is set
	parsed   *table[roster.Lease]
	index    map[string]int // by path, into parsed.rows
	err      error          // the table can't be read; the commit refuses
}

// openLeases prepares the text of leases.tsv. Only the ends are looked at here: a torn file is refused at once.
func openLeases(text string) (*leaseFile, error) {
	f := &leaseFile{original: text, text: text}
	if !strings.HasPrefix(text, headerLine(leaseColumns(), nil)) || !strings.HasSuffix(text, "\n") {
		f.parse() // another order or further columns: rows can't be found by their first cell
	}
	return f, f.err
}

func (f *leaseFile) parse() {
	if f.parsed != nil {
		return
	}
	t, err := parse(leasesFile, f.text, leaseColumns())
	if err != nil {
		f.err = err
		t = &table[roster.Lease]{file: leasesFile, columns: leaseColumns()}
	}
	f.parsed, f.index = t, make(map[string]int, len(t.rows))
	for i := range t.rows {
		f.index[t.rows[i].Path] = i
	}
}

// row finds the line of a path in the text, without its newline.
func (f *leaseFile) row(path string) (line string, at int) {
	at = strings.Index(f.text, "\n"+path+"\t")
	if at < 0 {
		return "", -1
	}
	at++
	end := strings.IndexByte(f.text[at:], '\n')
	return f.text[at : at+end], at
}

func (f *leaseFile) Get(path string) (roster.Lease, bool) {
	if f.parsed != nil {
		i, ok := f.index[path]
		if !ok {
			return roster.Lease{}, false
		}
		return f.parsed.rows[i], true
	}
	line, at := f.row(path)
	if at < 0 {
		return roster.Lease{}, false
	}
	columns := leaseColumns()
	cells := strings.Split(line, "\t")
	var l roster.Lease
	for i, cell := range cells {
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
	if f.parsed != nil {
		if i, ok := f.index[l.Path]; ok {
			f.parsed.rows[i] = l
			return
		}
		f.index[l.Path] = len(f.parsed.rows)
		f.parsed.rows = append(f.parsed.rows, l)
		return
	}
	line := rowLine(leaseColumns(), &l, nil)
	if old, at := f.row(l.Path); at >= 0 {
		f.text = f.text[:at] + line + f.text[at+len(old)+1:]
		return
	}
	f.text += line
}

func (f *leaseFile) Delete(path string) {
	f.parse()
	if i, ok := f.index[path]; ok {
		f.parsed.rows[i].Path = "" // the row stays, so that a loop over All may delete
		delete(f.index, path)
	}
}

// now is the text of the table as it stands.
func (f *leaseFile) now() string {
	if f.parsed != nil && f.err == nil {
		return f.parsed.text(slices.Collect(f.All()))
	}
	return f.text
}
