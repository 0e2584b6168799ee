package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sort"
	"strings"

	"fleet/roster"
)

// eventTail finds where events.jsonl ends and the id of its last event. It reads
// the end of the file alone, so that its cost doesn't grow with the log.
func (d *Dir) eventTail() (size, lastID int64, err error) {
	f, err := os.Open(d.file(eventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	size = info.Size()
	if size == 0 {
		return 0, 0, nil
	}
	line, err := lastLine(f, size)
	if err != nil {
		return 0, 0, err
	}
	id := eventID(line)
	if id <= 0 {
		return 0, 0, fileErr(eventsFile, 0, "its last line is no event, or is torn")
	}
	return size, id, nil
}

// lastLine returns the last line before size, which must end in a newline.
func lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	for window := int64(4096); ; window *= 8 {
		from := max(0, size-window)
		buf := make([]byte, size-from)
		if _, err := f.ReadAt(buf, from); err != nil {
			return nil, err
		}
		body, whole := bytes.CutSuffix(buf, []byte("\n"))
		if !whole {
			return nil, fileErr(eventsFile, 0, "the last line is torn: no newline at its end")
		}
		if i := bytes.LastIndexByte(body, '\n'); i >= 0 || from == 0 {
			return body[i+1:], nil
		}
	}
}

// eventID reads the id at the head of a line, 0 if there is none.
func eventID(line []byte) (id int64) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":`))
	if !ok {
		return 0
	}
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + int64(c-'0')
	}
	return id
}

// eventLines gives events their ids and the form in the file.
func eventLines(events []roster.Event, lastID int64) (string, error) {
	var b strings.Builder
	for _, e := range events {
		if !slices.Contains(roster.EventTypes, e.Type) {
			return "", errors.New("unknown event type " + string(e.Type))
		}
		lastID++
		e.ID = lastID
		line, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// LastEvent returns the id of the newest event, 0 when there is none.
func (d *Dir) LastEvent() (int64, error) {
	_, id, err := d.eventTail()
	return id, err
}

// Events yields the events after an id, oldest first, as far as the file goes
// now. The place of an id is found by bisection, not by reading what comes before.
func (d *Dir) Events(after int64) iter.Seq2[roster.Event, error] {
	return func(yield func(roster.Event, error) bool) {
		f, err := os.Open(d.file(eventsFile))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(roster.Event{}, err)
			return
		}
		defer f.Close()
		c := cursor{file: f, after: after}
		if err := c.seek(); err != nil {
			yield(roster.Event{}, err)
			return
		}
		c.each(yield)
	}
}

// cursor reads events after an id from an open log.
type cursor struct {
	file   *os.File
	after  int64
	offset int64
}

// seek moves to the first event after the id.
func (c *cursor) seek() error {
	info, err := c.file.Stat()
	if err != nil || c.after <= 0 {
		return err
	}
	var failed error
	at := sort.Search(int(info.Size()), func(i int) bool {
		id, err := c.idFrom(int64(i))
		failed = errors.Join(failed, err)
		return id == 0 || id > c.after
	})
	if failed != nil {
		return failed
	}
	c.offset, err = c.lineFrom(int64(at))
	return err
}

// idFrom is the id of the first whole line that starts at or after an offset, 0 past the last.
func (c *cursor) idFrom(offset int64) (int64, error) {
	start, err := c.lineFrom(offset)
	if err != nil {
		return 0, err
	}
	head := make([]byte, 32)
	n, err := c.file.ReadAt(head, start)
	if err != nil && err != io.EOF {
		return 0, err
	}
	return eventID(head[:n]), nil
}

// lineFrom is the offset of the first line that starts at or after offset.
func (c *cursor) lineFrom(offset int64) (int64, error) {
	if offset == 0 {
		return 0, nil
	}
	offset-- // a newline here means that the line starts where we were asked
	buf := make([]byte, 4096)
	for {
		n, err := c.file.ReadAt(buf, offset)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		offset += int64(n)
		if err == io.EOF {
			return offset, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// each yields whole lines from the offset on and moves it behind them.
// A line without its newline is being written; it's left for the next time.
func (c *cursor) each(yield func(roster.Event, error) bool) {
	r := newLineReader(c.file, c.offset)
	for {
		line, err := r.next()
		if err == io.EOF {
			return
		}
		var e roster.Event
		if err == nil {
			err = json.Unmarshal(line, &e)
			if err != nil {
				err = fileErr(eventsFile, 0, "offset %d: %v", c.offset, err)
			}
		}
		c.offset = r.offset
		if err == nil && e.ID <= c.after {
			continue
		}
		if !yield(e, err) || err != nil {
			return
		}
		c.after = e.ID
	}
}

// lineReader reads whole lines of any length and knows the offset behind the last one.
type lineReader struct {
	file   io.ReaderAt
	offset int64 // behind the last line given out
	read   int64 // behind the last byte in buf
	buf    []byte
}

func newLineReader(f io.ReaderAt, offset int64) *lineReader {
	return &lineReader{file: f, offset: offset, read: offset}
}

func (r *lineReader) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			line := r.buf[:i]
			r.buf = r.buf[i+1:]
			r.offset += int64(i) + 1
			return line, nil
		}
		chunk := make([]byte, 64<<10)
		n, err := r.file.ReadAt(chunk, r.read)
		r.buf = append(r.buf, chunk[:n]...)
		r.read += int64(n)
		if n == 0 {
			return nil, err
		}
	}
}
