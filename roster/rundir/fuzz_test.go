package rundir

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fleet/roster"
)

// Whatever a table's text is, reading it doesn't panic, and what can be read is written so that it reads the same.

func FuzzRoster(f *testing.F) { fuzzTable(f, rosterFile, rosterColumns()) }

func FuzzTasks(f *testing.F) { fuzzTable(f, tasksFile, taskColumns()) }

func FuzzLeases(f *testing.F) { fuzzTable(f, leasesFile, leaseColumns()) }

func fuzzTable[T any](f *testing.F, file string, columns []column[T]) {
	head := headerLine(columns, []string{"extra"})
	f.Add(head)
	f.Add(head + rowLine(columns, new(T), []string{"x"}))
	f.Add(lines("ws_id|status|claims|heartbeat|updated_at", `WS01|done|a\,b,c\\d,\|-7|2026-01-02T03:04:05.006Z`))
	f.Add(lines("task_id|status|pinned|cost_usd|depends_on", "T1|succeeded|true|1e-7|a,,b", "T2|pending"))
	f.Add(lines("path|ws_id|engine|epoch", "a b|WS01|x|+3", "日|WS02||"))
	f.Fuzz(func(t *testing.T, text string) {
		first, err := parse(file, text, columns)
		if err != nil {
			var rule *roster.Error
			if !errors.As(err, &rule) || !strings.HasPrefix(rule.Msg, file) {
				t.Fatalf("%v does not name the file", err)
			}
			return
		}
		again := first.text(first.rows)
		second, err := parse(file, again, columns)
		if err != nil {
			t.Fatalf("%q was written as %q, which can't be read: %v", text, again, err)
		}
		if stable := second.text(second.rows); stable != again {
			t.Fatalf("%q was written as %q, then as %q", text, again, stable)
		}
		if got, want := fmt.Sprint(second.rows, second.extra), fmt.Sprint(first.rows, first.extra); got != want {
			t.Fatalf("%q was read as %s, then as %s", text, want, got)
		}
	})
}

// Looking one path up in the text gives what the parsed table gives.
func FuzzLeaseLookup(f *testing.F) {
	head := headerLine(leaseColumns(), nil)
	f.Add(head+lines("a.go|WS01|T1|1|Edit|2026-01-02T03:04:05.006Z|1:2", "b.go|WS02|T2|2|||"), "b.go")
	f.Add(head+lines("a|WS01|b|1|||", "b|WS02|a|2|||"), "a")
	f.Add(head, "path")
	f.Fuzz(func(t *testing.T, text, path string) {
		want, err := parse(leasesFile, text, leaseColumns())
		if err != nil || path == "" || roster.Flat(path) != path {
			return
		}
		table, err := openLeases(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		got, held := table.Get(path)
		for _, l := range want.rows {
			if l.Path == path {
				if !held || fmt.Sprint(got) != fmt.Sprint(l) {
					t.Fatalf("%q: got %v, want %v", path, got, l)
				}
				return
			}
		}
		if held || table.err != nil {
			t.Fatalf("%q: got %v, %v, and there is none", path, got, table.err)
		}
	})
}

// A fleet.env is read or refused with the line that is wrong; never anything else.
func FuzzConfig(f *testing.F) {
	f.Add(ConfigText(nil))
	f.Add("FLEET_DB=docker\r\n# x\n=\nFLEET_TMUX==")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := parseConfig(envFile, text)
		var rule *roster.Error
		if err != nil && (!errors.As(err, &rule) || !strings.HasPrefix(rule.Msg, "fleet.env:")) {
			t.Fatal(err)
		}
		if err == nil && (config.DB != "none" && config.DB != "docker" || config.Tmux != "own" && config.Tmux != "current") {
			t.Fatalf("%q was read as %+v", text, config)
		}
	})
}

// Whatever a log holds, reading it ends, and gives ids that rise from the one asked for.
func FuzzEvents(f *testing.F) {
	f.Add(log(f, 0, 5, 500), int64(1))
	f.Add(log(f, 0, 0)+`{"id":3`, int64(2))
	f.Add(log(f, 0)+"\n{}\n"+log(f, 0), int64(0))
	f.Add(log(f, 0, 0)+log(f, 0, 0, 0), int64(0))
	f.Fuzz(func(t *testing.T, text string, after int64) {
		last, failed := after, false
		eventsAfter(strings.NewReader(text), int64(len(text)), after, func(e roster.Event, err error) bool {
			if failed {
				t.Fatal("the reader went on after an error")
			}
			if failed = err != nil; !failed && e.ID <= last {
				t.Fatalf("event %d after %d", e.ID, last)
			}
			last = e.ID
			return true
		})
		end, err := findEnd(strings.NewReader(text), int64(len(text)))
		if err == nil && (end.offset > end.size || end.size != int64(len(text)) || end.offset > 0 && text[end.offset-1] != '\n') {
			t.Fatalf("the end is %+v of %q", end, text)
		}
	})
}
