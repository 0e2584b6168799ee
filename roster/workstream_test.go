package roster

import (
	"strings"
	"testing"
	"time"
)

// CFN-33.
func TestCheckID(t *testing.T) {
	for _, id := range []string{"WS01", "WS99", "WS001", "WS123456"} {
		must(t, CheckID(id))
	}
	for _, id := range []string{"", "WS", "WS1", "ws01", "FLEET02", "WS01x", " WS01", "WS01\n", "WS0١"} {
		refused(t, CheckID(id), Data, "no workstream id")
	}
}

// CFN-32, CFN-34: what a new row holds.
func TestAdd(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}}
	must(t, s.Add(NewWorkstream{
		ID: "WS01", Text: "\n  Add the order API.\nWith tests.\n", Brain: "claude",
		Claims: []string{"./api/", " ", "api", "docs/api.md ", ""},
	}))
	must(t, s.Add(NewWorkstream{ID: "WS002", Text: "web", Name: "Web_2"}))
	same(t, s, &State{
		Now: now,
		Workstreams: []Workstream{
			{
				ID: "WS01", Name: "ws01", Task: "Add the order API.", Status: Pending, Claims: []string{"api", "docs/api.md"},
				Brain: "claude", Mode: Interactive, Tree: "main", UpdatedAt: Time{now},
			},
			{ID: "WS002", Name: "Web_2", Task: "web", Status: Pending, Mode: Interactive, Tree: "main", UpdatedAt: Time{now}},
		},
		Tasks: []Task{
			{
				ID: "WS01", Title: "Add the order API.", Status: TaskPending, Priority: 3, Workstream: "WS01", Pinned: true,
				Brain: "claude", MaxAttempts: 3, CreatedAt: Time{now}, UpdatedAt: Time{now},
			},
			{
				ID: "WS002", Title: "web", Status: TaskPending, Priority: 3, Workstream: "WS002", Pinned: true,
				MaxAttempts: 3, CreatedAt: Time{now}, UpdatedAt: Time{now},
			},
		},
		Leases: LeaseMap{},
	})
	eq(t, "events", said(s), []string{
		"workstream_added WS01 brain=claude name=ws01 task=Add the order API.",
		"claim_added WS01 paths=[api docs/api.md]",
		"task_created WS01 WS01 title=Add the order API.",
		"workstream_added WS002 name=Web_2 task=web",
		"task_created WS002 WS002 title=web",
	})
}

// CFN-33, CFN-35: what is refused, and that it leaves nothing behind.
func TestAddRefuses(t *testing.T) {
	base := State{
		Now:         now,
		Workstreams: []Workstream{{ID: "WS01", Name: "api", Status: Working, Claims: []string{"api"}}},
		Leases:      held("lib/x.go:WS01"),
	}
	for name, c := range map[string]struct {
		in   NewWorkstream
		kind Kind
		says string
	}{
		"form of the id":     {NewWorkstream{ID: "WS2", Text: "x"}, Data, "no workstream id"},
		"known id":           {NewWorkstream{ID: "WS01", Text: "x"}, Data, "in the roster already"},
		"known name":         {NewWorkstream{ID: "WS02", Text: "x", Name: "api"}, Data, `name "api" belongs to WS01`},
		"form of the name":   {NewWorkstream{ID: "WS02", Text: "x", Name: "a b"}, Data, "want letters"},
		"name with a colon":  {NewWorkstream{ID: "WS02", Text: "x", Name: "a:b"}, Data, "want letters"},
		"name with a dot":    {NewWorkstream{ID: "WS02", Text: "x", Name: ".x"}, Data, "want letters"},
		"long name":          {NewWorkstream{ID: "WS02", Text: "x", Name: strings.Repeat("a", 64)}, Data, "want letters"},
		"no task":            {NewWorkstream{ID: "WS02", Text: " \n\t\n"}, Usage, "the task is empty"},
		"overlap":            {NewWorkstream{ID: "WS02", Text: "x", Claims: []string{"web", "api/v1"}}, Data, `overlaps "api" of WS01`},
		"what another holds": {NewWorkstream{ID: "WS02", Text: "x", Claims: []string{"lib"}}, Data, "which WS01 is writing"},
		"malformed claim":    {NewWorkstream{ID: "WS02", Text: "x", Claims: []string{"../x"}}, Data, "outside the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clone(&base)
			refused(t, s.Add(c.in), c.kind, c.says)
			same(t, s, &base)
			eq(t, "events", said(s), []string{})
		})
	}
}

func TestTitle(t *testing.T) {
	long := strings.Repeat("日", 300)
	for in, want := range map[string]string{
		"":                 "",
		" \n\r\n\t":        "",
		"one":              "one",
		"\n\n  two \nmore": "two",
		"a\tb\rc":          "a b c",
		"a\x00\x7fb":       "a  b",
		"a\xffb":           "a\uFFFDb",

		"\x1b[1;32mdone\x1b[0m":               "done",
		"\x1b]0;title\aa\x1b]8;;x\x1b\\b\x1b": "ab",
		"\x1b\x1b[m[m":                        "[m",

		long:         strings.Repeat("日", 199) + "…",
		long[:200*3]: long[:200*3],
	} {
		if got := Title(in); got != want {
			t.Errorf("Title(%q) = %q, want %q", in, got, want)
		}
	}
}

// CFN-45, CFN-46, CFN-47.
func TestHeartbeat(t *testing.T) {
	working := Workstream{ID: "WS01", Status: Working, Epoch: 1, TaskID: "WS01", Notes: "writing", Heartbeat: 5}
	blocked := working
	blocked.Status, blocked.Notes = Blocked, "blocked: a password"
	veto := working
	veto.Status, veto.Notes, veto.TaskID = Blocked, "veto: a.go is held by WS02", ""
	idle := working
	idle.Status, idle.Notes, idle.TaskID = Started, "", ""
	for name, c := range map[string]struct {
		row    Workstream
		note   string
		status Status
		notes  string
		task   TaskStatus
		left   []string // holders afterwards
	}{
		"bare":                     {working, "", Working, "writing", TaskRunning, []string{"a.go:WS01/WS01"}},
		"a note":                   {working, "tests pass", Working, "tests pass", TaskRunning, []string{"a.go:WS01/WS01"}},
		"blocked":                  {working, "blocked: a password", Blocked, "blocked: a password", TaskRunning, []string{"a.go:WS01/WS01"}},
		"blocked, bare":            {blocked, "", Blocked, "blocked: a password", TaskRunning, []string{"a.go:WS01/WS01"}},
		"goes on":                  {blocked, "found it", Working, "found it", TaskRunning, []string{"a.go:WS01/WS01"}},
		"no turn to go on with":    {veto, "hm", Blocked, "hm", TaskPending, []string{"a.go:WS01/WS01"}},
		"done":                     {working, "done: all of it", Done, "done: all of it", TaskDone, nil},
		"done while blocked":       {blocked, "done: all of it", Done, "done: all of it", TaskDone, nil},
		"done, and nobody saw how": {idle, "done: by hand", Done, "done: by hand", TaskDone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			task := Task{ID: "WS01", Workstream: "WS01", Pinned: true, Status: TaskRunning, Attempts: 1, MaxAttempts: 3, StartedAt: ago(time.Minute)}
			if c.row.TaskID == "" {
				task.Status, task.Attempts = TaskPending, 0
			}
			s := &State{Now: now, Workstreams: []Workstream{c.row}, Tasks: []Task{task}, Leases: held("a.go:WS01/WS01")}
			must(t, s.Heartbeat("WS01", c.note))
			w := row(t, s, "WS01")
			eq(t, "status", w.Status, c.status)
			eq(t, "notes", w.Notes, c.notes)
			eq(t, "heartbeat", w.Heartbeat, now.Unix())
			eq(t, "task", s.Tasks[0].Status, c.task)
			eq(t, "holders", holders(s), c.left)
		})
	}
	s := &State{Now: now, Leases: LeaseMap{}}
	refused(t, s.Heartbeat("WS01", "x"), Data, "not in the roster")
	// CF-30: heartbeats are no events.
	s = &State{Now: now, Workstreams: []Workstream{working}, Leases: LeaseMap{}}
	must(t, s.Heartbeat("WS01", "a note"))
	eq(t, "events", said(s), []string{})
}

func TestBlock(t *testing.T) {
	s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: Working, TaskID: "T1"}}, Leases: held("a.go:WS01/T1")}
	refused(t, s.Block("WS01", "  "), Usage, "say what it waits for")
	refused(t, s.Block("WS02", "x"), Data, "not in the roster")
	eq(t, "events", said(s), []string{})
	must(t, s.Block("WS01", "the password"))
	eq(t, "notes", row(t, s, "WS01").Notes, "blocked: the password")
	eq(t, "holders", holders(s), []string{"a.go:WS01/T1"})
	eq(t, "events", said(s), []string{"status_changed WS01 T1 from=working reason=blocked: the password to=blocked"})
}
