package rundir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"fleet/roster"
)

// logEnd is where a log ends.
type logEnd struct {
	lastID int64 // of the last whole line; 0 when there is none
	offset int64 // behind that line
	size   int64 // of the file; it is larger while a line is being written
}

// eventEnd finds the end of events.jsonl. It reads the end of the file alone, so
// that its cost doesn't grow with the log.
func (d *Dir) eventEnd() (logEnd, error) {
	f, err := os.Open(d.file(eventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return logEnd{}, nil
	}
	if err != nil {
		return logEnd{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return logEnd{}, err
	}
	return findEnd(f, info.Size())
}

func findEnd(f io.ReaderAt, size int64) (logEnd, error) {
	line, offset, err := lastLine(f, size)
	if err != nil || offset == 0 {
		return logEnd{size: size}, err
	}
	id := eventID(line)
	if id == 0 {
		return logEnd{}, fileErr(eventsFile, 0, "its last line is no event")
	}
	return logEnd{id, offset, size}, nil
}

// lastLine returns the last whole line of the first size bytes, and the offset behind it, 0 if there is none.
func lastLine(f io.ReaderAt, size int64) (line []byte, offset int64, err error) {
	for window := int64(4096); ; window *= 8 {
		from := max(0, size-window)
		buf := make([]byte, size-from)
		n, err := f.ReadAt(buf, from)
		if ignoreEOF(err) != nil { // an EOF: the file has become shorter
			return nil, 0, err
		}
		end := bytes.LastIndexByte(buf[:n], '\n')
		if end < 0 && from == 0 {
			return nil, 0, nil
		}
		if start := bytes.LastIndexByte(buf[:max(end, 0)], '\n') + 1; start > 0 || from == 0 {
			return buf[start:end], from + int64(end) + 1, nil
		}
	}
}

// eventID reads the id at the head of a line, 0 if there is none or it is torn.
func eventID(line []byte) int64 {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":`))
	digits, _, whole := bytes.Cut(rest, []byte(","))
	if !ok || !whole {
		return 0
	}
	id, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || id < 1 {
		return 0
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
	end, err := d.eventEnd()
	return end.lastID, err
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
		defer func() { _ = f.Close() }()
		info, err := f.Stat()
		if err != nil {
			yield(roster.Event{}, err)
			return
		}
		eventsAfter(f, info.Size(), after, yield)
	}
}

func eventsAfter(f io.ReaderAt, size, after int64, yield func(roster.Event, error) bool) {
	c := cursor{file: f, after: after}
	switch err := c.seek(size); {
	case err == nil:
		c.each(yield)
	case !errors.Is(err, io.EOF):
		yield(roster.Event{}, err)
	}
}

// cursor reads events after an id from an open log.
type cursor struct {
	file   io.ReaderAt
	after  int64
	offset int64
}

// seek moves to the first event after the id, or to where it will be. io.EOF says
// that this can't be told yet, since the line before it is still being written.
func (c *cursor) seek(size int64) (err error) {
	if c.after <= 0 {
		return nil
	}
	var failed error
	at := sort.Search(int(size), func(i int) bool {
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

// idFrom is the id of the first line that starts behind an offset, 0 past the last or where it is torn.
func (c *cursor) idFrom(offset int64) (int64, error) {
	start, err := c.lineFrom(offset)
	if err != nil {
		return 0, ignoreEOF(err)
	}
	head := make([]byte, 32)
	n, err := c.file.ReadAt(head, start)
	return eventID(head[:n]), ignoreEOF(err)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lineFrom is the offset at which the first line behind an offset starts; the
// first line of all is behind 0. The error is io.EOF if the line at the offset has no end yet.
func (c *cursor) lineFrom(offset int64) (int64, error) {
	if offset == 0 {
		return 0, nil
	}
	rest, err := c.reader(offset).ReadBytes('\n')
	return offset + int64(len(rest)), err
}

// each yields whole lines from the offset on and moves it behind them.
// A line without its newline is being written; it's left for the next time.
func (c *cursor) each(yield func(roster.Event, error) bool) {
	r := c.reader(c.offset)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		var e roster.Event
		if err == nil {
			err = json.Unmarshal(line, &e)
			if err != nil {
				err = fileErr(eventsFile, 0, "offset %d: %v", c.offset, err)
			}
		}
		c.offset += int64(len(line))
		if err == nil && e.ID <= c.after {
			continue
		}
		if !yield(e, err) || err != nil {
			return
		}
		c.after = e.ID
	}
}

func (c *cursor) reader(offset int64) *bufio.Reader {
	return bufio.NewReader(io.NewSectionReader(c.file, offset, math.MaxInt64-offset))
}
