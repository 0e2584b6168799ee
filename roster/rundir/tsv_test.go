package rundir

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fleet/roster"
)

// lines joins rows of cells, which are written with | for a tab, to the text of a file.
func lines(rows ...string) string {
	return strings.ReplaceAll(strings.Join(rows, "\n")+"\n", "|", "\t")
}

// CF-9, CF-10, CF-11, CF-18, CF-19, CFN-13, CFN-14: the ten columns of roster.tsv, in their order, for ever, and those that came after.
func TestColumns(t *testing.T) {
	eq(t, "roster", headerLine(rosterColumns(), nil), lines(
		"ws_id|name|task|status|claims|landed_sha|migration_num|scratch_db|heartbeat|notes|brain|mode|tree|epoch|task_id|session_id|updated_at|parked_until|lane"))
	eq(t, "tasks", headerLine(taskColumns(), nil), lines(
		"task_id|title|status|priority|depends_on|scope|workstream|pinned|brain|attempts|max_attempts|backoff_until|verify|error_kind|"+
			"blocked_on|assigned_at|started_at|completed_at|input_tokens|output_tokens|cost_usd|duration_ms|session_id|created_at|updated_at|"+
			"deadline|checks"))
	eq(t, "leases", headerLine(leaseColumns(), nil), lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp"))
}

// Every field of a row survives the way to the file and back.
func TestRoundTrip(t *testing.T) {
	at := roster.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)}
	trip(t, rosterColumns(), roster.Workstream{
		ID: "WS01", Name: "api", Task: "add it", Status: roster.Blocked, Claims: []string{"a", `b,c\d`, "e f"}, LandedSHA: "abc",
		MigrationNum: "7", ScratchDB: "db1", Heartbeat: 1772600767, Notes: "blocked: 日本", Brain: "claude", Mode: "headless",
		Tree: ".claude/worktrees/x", Epoch: 3, TaskID: "T1", SessionID: "s-1", UpdatedAt: at, ParkedUntil: at, Lane: roster.Isolated,
	})
	trip(t, taskColumns(), roster.Task{
		ID: "T1", Title: "x", Status: roster.TaskBlockedUpstream, Priority: 5, DependsOn: []string{"T0", "T2"}, Scope: []string{"a,b"},
		Workstream: "WS01", Pinned: true, Brain: "glm", Attempts: 2, MaxAttempts: 4, BackoffUntil: at, Verify: "make test",
		ErrorKind: roster.ErrVeto, BlockedOn: "a b", AssignedAt: at, StartedAt: at, CompletedAt: at, InputTokens: math.MaxInt64,
		OutputTokens: 6, CostUSD: 0.1234567890123, DurationMS: 99, SessionID: "s", CreatedAt: at, UpdatedAt: at, Deadline: at, Checks: 2,
	})
	trip(t, leaseColumns(), roster.Lease{Path: "a b/日.go", WS: "WS01", Task: "T1", Epoch: 2, Tool: "Edit", AcquiredAt: at, Stamp: "1:2"})
	trip(t, rosterColumns(), roster.Workstream{ID: "WS02", Status: roster.Pending})
	trip(t, taskColumns(), roster.Task{ID: "T2", Status: roster.TaskPending})
}

func trip[T any](t *testing.T, columns []column[T], row T) {
	t.Helper()
	text := headerLine(columns, nil) + rowLine(columns, &row, nil)
	got, err := parse("x.tsv", text, columns)
	must(t, err)
	eq(t, "rows", got.rows, []T{row})
	eq(t, "text", got.text(got.rows), text)
}

// CFN-20: what would break a line or a cell becomes a space.
func TestFlatCells(t *testing.T) {
	got, err := parse(rosterFile, headerLine(rosterColumns(), nil)+rowLine(rosterColumns(), &roster.Workstream{
		ID: "WS01", Status: roster.Pending, Notes: "a\tb\nc\r\nd\x00e\x7ff", Claims: []string{"x\ty", "z"},
	}, nil), rosterColumns())
	must(t, err)
	eq(t, "notes", got.rows[0].Notes, "a b c  d e f")
	eq(t, "claims", got.rows[0].Claims, []string{"x y", "z"})
}

// CFN-14, CFN-21: columns are found by their names. What a file lacks reads empty, and what it has beyond ours survives.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []roster.Lease
		out  string // the text after a rewrite
	}{
		"header only": {
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp"), nil,
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp"),
		},
		"empty cells in a row": {
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|WS01|||||"),
			[]roster.Lease{{Path: "a", WS: "WS01"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|WS01||0|||"),
		},
		"short line": {
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|WS01", "b"),
			[]roster.Lease{{Path: "a", WS: "WS01"}, {Path: "b"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|WS01||0|||", "b|||0|||"),
		},
		"missing columns": {
			lines("path|ws_id", "a|WS01"),
			[]roster.Lease{{Path: "a", WS: "WS01"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|WS01||0|||"),
		},
		"another order": {
			lines("tool|epoch|path", "Edit|7|a"),
			[]roster.Lease{{Path: "a", Epoch: 7, Tool: "Edit"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a|||7|Edit||"),
		},
		"columns of later versions": {
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp|engine|colour", "a|WS01||0||||x|y z", "b|WS01||0||||", "c|WS01||0|||||blue"),
			[]roster.Lease{{Path: "a", WS: "WS01"}, {Path: "b", WS: "WS01"}, {Path: "c", WS: "WS01"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp|engine|colour", "a|WS01||0||||x|y z", "b|WS01||0|||||", "c|WS01||0|||||blue"),
		},
		"a column of somebody's in the middle": {
			lines("path|colour|ws_id", "a|red|WS01"),
			[]roster.Lease{{Path: "a", WS: "WS01"}},
			lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp|colour", "a|WS01||0||||red"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(leasesFile, c.in, leaseColumns())
			must(t, err)
			eq(t, "rows", got.rows, c.want)
			eq(t, "text", got.text(got.rows), c.out)
		})
	}
	got, err := parse(leasesFile, lines("path|ws_id|colour", "a|WS01|red", "b|WS01|blue"), leaseColumns())
	must(t, err)
	rows := []roster.Lease{{Path: "new", WS: "WS02"}, got.rows[1]}
	eq(t, "rows that went and came", got.text(rows),
		lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp|colour", "new|WS02||0||||", "b|WS01||0||||blue"))
}

// CFN-23, CF-28: what can't be read without guessing, a status beyond the closed list above all, is an error that names the line.
func TestParseRefuses(t *testing.T) {
	head := "ws_id|name|task|status|claims|heartbeat|epoch|updated_at"
	for name, c := range map[string]struct{ in, says string }{
		"empty":                  {"", "roster.tsv: is empty"},
		"torn header":            {"ws_id\tname", "roster.tsv:1: the last line is torn"},
		"torn line":              {lines(head, "WS01||x|pending") + "WS02", "roster.tsv:3: the last line is torn"},
		"CR line ends":           {strings.ReplaceAll(lines(head, "WS01||x|pending"), "\n", "\r\n"), `roster.tsv:1: control character '\r'`},
		"one CR":                 {lines(head, "WS01||x|pending", "WS02||x\r|pending"), "roster.tsv:3: control character"},
		"a control character":    {lines(head, "WS01||x\x1by|pending"), "roster.tsv:2: control character"},
		"a NUL":                  {lines(head, "WS01||x\x00y|pending"), "roster.tsv:2: control character"},
		"more cells":             {lines(head, "WS01||x|pending|||||surplus"), "roster.tsv:2: 9 cells under 8 columns"},
		"double id":              {lines(head, "WS01||x|pending", "WS02||x|pending", "WS01||y|done"), `roster.tsv:4: ws_id "WS01" stands in line 2 already`},
		"header twice":           {lines(head, "WS01||x|pending", head), `roster.tsv:3: ws_id "ws_id"`},
		"column twice":           {lines("ws_id|status|status", "WS01|done|done"), `roster.tsv:1: column "status" stands twice`},
		"column without a name":  {lines("ws_id|status||", "WS01|done"), `roster.tsv:1: column "" stands twice`},
		"no key":                 {lines("name|status", "api|done"), `roster.tsv:1: no column "ws_id"`},
		"empty line":             {lines(head, "", "WS01||x|pending"), "roster.tsv:2: ws_id"},
		"empty line at the end":  {lines(head, "WS01||x|pending", ""), "roster.tsv:3: ws_id"},
		"form of the id":         {lines(head, "WS1||x|pending"), `roster.tsv:2: ws_id "WS1"`},
		"status":                 {lines(head, "WS01||x|sleeping"), `roster.tsv:2: status "sleeping": want one of`},
		"status in another case": {lines(head, "WS01||x|Done"), `roster.tsv:2: status "Done"`},
		"no status":              {lines(head, "WS01||x"), `roster.tsv:2: status ""`},
		"no column of statuses":  {lines("ws_id|name", "WS01|api"), `roster.tsv:2: no column "status"`},
		"heartbeat":              {lines(head, "WS01||x|done||soon"), `roster.tsv:2: heartbeat "soon": want a number`},
		"epoch":                  {lines(head, "WS01||x|done|||1.5"), `roster.tsv:2: epoch "1.5"`},
		"time":                   {lines(head, "WS01||x|done||||yesterday"), `roster.tsv:2: updated_at "yesterday": want a time`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(rosterFile, c.in, rosterColumns())
			fails(t, err, roster.Data, c.says)
		})
	}
	_, err := parse(tasksFile, lines("task_id|status|error_kind", "T1|failed|tired"), taskColumns())
	fails(t, err, roster.Data, `tasks.tsv:2: error_kind "tired": want one of [ agent_error veto timeout budget infra attempts_exhausted cancelled]`)
	for cell, says := range map[string]string{"maybe|": `pinned "maybe": want true or false`, "|NaN": `cost_usd "NaN": want a number`, "|1e999": "cost_usd", "|x": "cost_usd"} {
		_, err := parse(tasksFile, lines("task_id|status|pinned|cost_usd", "T1|pending|"+cell), taskColumns())
		fails(t, err, roster.Data, "tasks.tsv:2: "+says)
	}
	_, err = parse(tasksFile, lines("task_id|status", "|pending"), taskColumns())
	fails(t, err, roster.Data, "tasks.tsv:2: task_id is empty")
}

func TestLists(t *testing.T) {
	for cell, want := range map[string][]string{
		"":             nil,
		"a":            {"a"},
		"a,b":          {"a", "b"},
		`a\,b,c`:       {"a,b", "c"},
		`a\\,b`:        {`a\`, "b"},
		`a\\\,b`:       {`a\,b`},
		"a b,c":        {"a b", "c"},
		",":            {"", ""},
		`src/*.{a\,b}`: {"src/*.{a,b}"},
	} {
		eq(t, cell, splitList(cell), want)
		eq(t, "back", joinList(want), cell)
	}
	eq(t, "a backslash at the end", splitList(`a\`), []string{`a\`})
	eq(t, "before another letter", splitList(`\a`), []string{"a"})
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune(`ab,\ é`)), 1, 6, -1), 1, 4).Draw(t, "values")
		if got := splitList(joinList(values)); strings.Join(got, "\n") != strings.Join(values, "\n") {
			t.Fatalf("%q became %q", values, got)
		}
	})
}

// The lease table answers for one path from the text, and for all from the rows: either way as a map would.
func TestLeaseFileIsATable(t *testing.T) {
	paths := []string{"a", "a b", "aa", "b/a", "WS01", "path", "a\\,b"}
	rapid.Check(t, func(t *rapid.T) {
		want := roster.LeaseMap{}
		file := headerLine(leaseColumns(), nil)
		f, err := openLeases(strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		path := func(t *rapid.T) string { return rapid.SampledFrom(paths).Draw(t, "path") }
		same := func(t *rapid.T) {
			got := roster.LeaseMap{}
			for l := range f.All() {
				got[l.Path] = l
			}
			if len(got) != len(want) {
				t.Fatalf("%v, want %v", got, want)
			}
			for p, l := range want {
				if got[p] != l {
					t.Fatalf("%s: %v, want %v", p, got[p], l)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"Put": func(t *rapid.T) {
				l := roster.Lease{Path: path(t), WS: rapid.SampledFrom([]string{"WS01", "a"}).Draw(t, "ws"), Epoch: rapid.IntRange(0, 99).Draw(t, "epoch")}
				want.Put(l)
				f.Put(l)
			},
			"Delete": func(t *rapid.T) {
				p := path(t)
				want.Delete(p)
				f.Delete(p)
			},
			"DeleteAllOfOne": func(t *rapid.T) {
				for l := range f.All() {
					if l.WS == "a" {
						f.Delete(l.Path)
					}
				}
				for l := range want.All() {
					if l.WS == "a" {
						want.Delete(l.Path)
					}
				}
			},
			"All": same,
			"Reopen": func(t *rapid.T) {
				rows, whole := f.change()
				if file += rows; whole != "" {
					file = whole
				}
				if f, err = openLeases(strings.NewReader(file), int64(len(file))); err != nil {
					t.Fatal(err)
				}
			},
			"Get": func(t *rapid.T) { // one alone: a second one makes the table be read
				p := path(t)
				got, held := f.Get(p)
				if l, ok := want.Get(p); ok != held || got != l {
					t.Fatalf("%s: %v, %v, want %v", p, got, held, l)
				}
			},
		})
		same(t)
	})
}

// A lease table that can't be read is an error of whoever looks, and nobody's permission to write.
func TestUnreadableLeases(t *testing.T) {
	good := lines("path|ws_id|task_id|epoch|tool|acquired_at|stamp", "a.go|WS01||1|||", "b.go|WS02||1|||")
	for name, text := range map[string]string{
		"a bad cell":   strings.Replace(good, "\t1\t", "\tx\t", 1),
		"surplus":      strings.Replace(good, "WS02\t\t1\t\t\t", "WS02\t\t1\t\t\t\t\t", 1),
		"torn":         strings.TrimSuffix(good, "\n"),
		"empty":        "",
		"double":       good + lines("a.go|WS02||1|||"),
		"another head": lines("path|path", "a.go|b"),
	} {
		t.Run(name, func(t *testing.T) {
			d := atWork(t)
			write(t, d.file(leasesFile), text)
			before := files(t, d)
			for _, fn := range []func(*roster.State) error{
				func(s *roster.State) error { // an operator's write
					s.CheckWrite([]string{"a.go", "b.go"}, nil, func(string) bool { return true })
					return everyLease(s)
				},
				func(s *roster.State) error { // a worker's
					_ = acquire(s, "WS01", 1, "a.go", "b.go", "c.go")
					return everyLease(s)
				},
			} {
				fails(t, d.View(t.Context(), fn), roster.Data, "leases.tsv")
				fails(t, d.Update(t.Context(), fn), roster.Data, "leases.tsv")
				fails(t, d.UpdateLeases(t.Context(), fn), roster.Data, "leases.tsv")
			}
			eq(t, "files", files(t, d), before)
		})
	}
}

// everyLease makes the table be read whole.
func everyLease(s *roster.State) error {
	for range s.Leases.All() {
	}
	return nil
}
