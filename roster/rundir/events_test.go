package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fleet/roster"
)

// log makes the text of a log whose events carry texts of these lengths.
func log(t interface{ Fatal(...any) }, lengths ...int) string {
	var events []roster.Event
	for _, n := range lengths {
		events = append(events, roster.Event{Type: roster.Notification, WS: "WS01", Data: map[string]any{"x": strings.Repeat("x", n)}})
	}
	text, err := eventLines(events, 0)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ids are those of the events after an id, and the first error.
func ids(text string, after int64) (got []int64, err error) {
	eventsAfter(strings.NewReader(text), int64(len(text)), after, func(e roster.Event, bad error) bool {
		if err = bad; bad == nil {
			got = append(got, e.ID)
		}
		return true
	})
	return got, err
}

// CF-23: whatever the lengths of the lines, and whether or not the last is still being written, a reader gets what comes after its id.
func TestEventsAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.OneOf(
			rapid.IntRange(0, 80), rapid.SampledFrom([]int{3900, 4000, 4096, 8192, 70_000, 200_000}),
		), 0, 40).Draw(t, "lengths")
		text := log(t, lengths...)
		whole := int64(len(lengths))
		if whole > 0 && rapid.Bool().Draw(t, "torn") {
			last := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
			text = text[:rapid.IntRange(last, len(text)-1).Draw(t, "cut")]
			whole--
		}
		after := rapid.Int64Range(-1, int64(len(lengths))+2).Draw(t, "after")
		var want []int64
		for id := max(after, 0) + 1; id <= whole; id++ {
			want = append(want, id)
		}
		got, err := ids(text, after)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("after %d of %d: %v, %v", after, whole, got, err)
		}
		end, err := findEnd(strings.NewReader(text), int64(len(text)))
		if want := int64(strings.LastIndexByte(text, '\n') + 1); err != nil || end != (logEnd{whole, want, int64(len(text))}) {
			t.Fatalf("the end is %+v, %v, want %d at %d of %d", end, err, whole, want, len(text))
		}
	})
}

// growing is a log that gets longer whenever somebody reads it.
type growing struct {
	text  string
	shown int
	more  func() int
}

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	n, err := strings.NewReader(g.text[:g.shown]).ReadAt(p, off)
	g.shown = min(len(g.text), g.shown+g.more())
	return n, err
}

// However a log grows while it is read, no event is passed over: those that a reader gets follow its id without a gap.
func TestEventsAfterInAGrowingLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 30, 4000, 5000}), 1, 12).Draw(t, "lengths")
		text := log(t, lengths...)
		size := rapid.IntRange(0, len(text)).Draw(t, "size")
		after := rapid.Int64Range(0, int64(len(lengths))).Draw(t, "after")
		whole := int64(strings.Count(text[:size], "\n"))
		g := &growing{text, size, func() int { return rapid.IntRange(0, 300).Draw(t, "more") }}
		last := after
		eventsAfter(g, int64(size), after, func(e roster.Event, err error) bool {
			if last++; err != nil || e.ID != last {
				t.Fatalf("event %d after %d, %v", e.ID, last-1, err)
			}
			return true
		})
		if last < whole {
			t.Fatalf("the last event was %d, and %d were there before", last, whole)
		}
	})
}

// A torn line must not be taken for one of a smaller id, which would lead the search astray.
func TestEventsAfterWithATornID(t *testing.T) {
	text := log(t, make([]int, 1234)...) + `{"id":12`
	for _, after := range []int64{0, 1, 11, 12, 13, 1000, 1233, 1234, 5000} {
		got, err := ids(text, after)
		must(t, err)
		eq(t, fmt.Sprint("after ", after), len(got), max(0, 1234-int(after)))
	}
}

// Neither the end of a log nor what comes after an id near it costs more in a long log than in a short one.
func TestEventsCostIndependentOfLength(t *testing.T) {
	read := func(n int) (search, end int) {
		text := []byte(log(t, make([]int, n)...))
		m := &meter{file: bytes.NewReader(text)}
		count := 0
		eventsAfter(m, int64(len(text)), int64(n-1), func(_ roster.Event, err error) bool { must(t, err); count++; return true })
		eq(t, "events", count, 1)
		search, m.read = m.read, 0
		got, err := findEnd(m, int64(len(text)))
		must(t, err)
		eq(t, "last", got.lastID, int64(n))
		return search, m.read
	}
	search, end := read(1000)
	longSearch, longEnd := read(64_000)
	// 64 times the length is 6 steps of the search more, of at most a block and the head of a line each.
	if most := search + 7*(4096+32); longSearch > most {
		t.Errorf("the search read %d bytes of the short log and %d of the long one, want at most %d", search, longSearch, most)
	}
	eq(t, "bytes read for the end", longEnd, end)
}

func TestEventID(t *testing.T) {
	for line, want := range map[string]int64{
		`{"id":1,"at":""}`: 1, `{"id":9223372036854775807,"`: 9223372036854775807,
		`{"id":12`: 0, `{"id":`: 0, ``: 0, `{"id":x,`: 0, `{"id":,`: 0, `{"id":-5,`: 0, `{"id":0,`: 0, `{"id":99999999999999999999,`: 0,
		`{"ID":1,`: 0, ` {"id":1,`: 0, "\x00\x00": 0,
	} {
		eq(t, line, eventID([]byte(line)), want)
	}
}

// A log that was damaged is told of, and nothing is added to it.
func TestDamagedLog(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(string) string
		update string // what an update says
		events string // what a reader is told
	}{
		"torn":              {func(s string) string { return s + `{"id":99,"at` }, "events.jsonl: the last line is torn", ""},
		"no event":          {func(s string) string { return s + "nonsense\n" }, "events.jsonl: its last line is no event", "events.jsonl: offset"},
		"empty line":        {func(s string) string { return s + "\n" }, "events.jsonl: its last line is no event", "events.jsonl: offset"},
		"zeros":             {func(s string) string { return s + "\x00\x00\x00" }, "events.jsonl: the last line is torn", ""},
		"broken in between": {func(s string) string { return strings.Replace(s, `"type"`, `"ty`, 1) }, "", "events.jsonl: offset 0"},
	} {
		t.Run(name, func(t *testing.T) {
			d := atWork(t)
			write(t, d.file(eventsFile), c.damage(read(t, d.file(eventsFile))))
			before := files(t, d)
			err := d.Update(t.Context(), func(s *roster.State) error { return acquire(s, "WS01", 1, "c.go") })
			if c.update != "" {
				fails(t, err, roster.Data, c.update)
				eq(t, "files", files(t, d), before)
			} else {
				must(t, err)
			}
			noRemains(t, d)
			var told error
			for _, err := range d.Events(0) {
				told = errors.Join(told, err)
			}
			if c.events == "" {
				must(t, told)
			} else {
				fails(t, told, roster.Data, c.events)
			}
		})
	}
}

func TestEventsOfARun(t *testing.T) {
	d := atWork(t)
	last, err := d.LastEvent()
	must(t, err)
	eq(t, "last", last, int64(begun))
	var got []string
	for e, err := range d.Events(begun - 2) {
		must(t, err)
		wait, waited := e.Data["wait_ms"].(float64)
		took, timed := e.Data["took_ms"].(float64)
		eq(t, "a write check tells how long it took, the wait for the lock included", waited && timed && wait > 0 && took > wait, true)
		delete(e.Data, "wait_ms")
		delete(e.Data, "took_ms")
		got = append(got, fmt.Sprintf("%d %s %s %v", e.ID, e.Type, e.WS, e.Data))
	}
	eq(t, "events", got, []string{"20 lease_acquired WS01 map[path:a.go tool:Write]", "21 lease_acquired WS02 map[path:b.go tool:Write]"})
	for e := range d.Events(0) {
		eq(t, "a reader may stop", e.ID, int64(1))
		break
	}
	must(t, os.Remove(d.file(eventsFile)))
	for e, err := range d.Events(0) {
		t.Errorf("event %v, %v of no log", e, err)
	}
	last, err = d.LastEvent()
	must(t, err)
	eq(t, "last of no log", last, int64(0))

	must(t, os.Mkdir(d.file(eventsFile), 0o755))
	for _, err := range d.Events(0) {
		if err == nil {
			t.Error("events of a directory")
		}
	}
	if _, err := d.LastEvent(); err == nil {
		t.Error("the last event of a directory")
	}
	if err := d.Update(t.Context(), func(s *roster.State) error { return acquire(s, "WS01", 1, "c.go") }); err == nil {
		t.Error("events were added to a directory")
	}
	noRemains(t, d)
}

// While a writer adds a line, who asks for the last event without the lock gets the one before.
func TestLastEventOfAGrowingLog(t *testing.T) {
	d := atWork(t)
	text := read(t, d.file(eventsFile))
	for _, torn := range []string{`{`, `{"id":22`, `{"id":22,"at":"`, `{"id":22,"at":"` + strings.Repeat("x", 50_000)} {
		write(t, d.file(eventsFile), text+torn)
		last, err := d.LastEvent()
		must(t, err)
		eq(t, "last", last, int64(begun))
	}
}
