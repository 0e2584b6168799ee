package roster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// race is a run in which WS01 and WS02 are at work and each holds and claims something.
func race() *State {
	return &State{
		Now: now,
		Workstreams: []Workstream{
			{ID: "WS01", Name: "api", Status: Working, Epoch: 1, TaskID: "T1", Claims: []string{"api"}},
			{ID: "WS02", Name: "web", Status: Working, Epoch: 1, TaskID: "T2", Claims: []string{"web/*.css"}},
			{ID: "WS03", Name: "later", Status: Pending, Claims: []string{"later"}},
			{ID: "WS04", Name: "old", Status: Done, Epoch: 1, Claims: []string{"old"}},
		},
		Tasks: []Task{
			{ID: "T1", Workstream: "WS01", Status: TaskRunning, Attempts: 1, MaxAttempts: 3},
			{ID: "T2", Workstream: "WS02", Status: TaskRunning, Attempts: 1, MaxAttempts: 3},
		},
		Leases: held("lib/one.go:WS01/T1", "lib/two.go:WS02/T2"),
	}
}

func ask(ws string, epoch int, alive func(string) bool, paths ...string) WriteRequest {
	return WriteRequest{WS: ws, Epoch: epoch, Paths: paths, Tool: "Edit", Alive: alive}
}

// CF-62, CF-63, CF-64, CF-65, CF-66, CF-68, CF-72, CF-77, CF-97: every reason, and that a denial takes nothing.
func TestAcquireLeases(t *testing.T) {
	for name, c := range map[string]struct {
		strict bool
		r      WriteRequest
		want   []Denial
		took   []string // holders beyond those that there were
	}{
		"free": {r: ask("WS01", 1, everybody, "new.go"), took: []string{"new.go:WS01/T1"}},
		"several": {
			r: ask("WS01", 1, everybody, "new.go", "api/x.go", "new.go"), took: []string{"api/x.go:WS01/T1", "new.go:WS01/T1"},
		},
		"mine":                   {r: ask("WS01", 1, everybody, "lib/one.go")},
		"no path":                {r: ask("WS01", 1, everybody)},
		"held":                   {r: ask("WS01", 1, everybody, "lib/two.go"), want: []Denial{{Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"}}},
		"claimed":                {r: ask("WS01", 1, everybody, "web/a.css"), want: []Denial{{Path: "web/a.css", Reason: DenyClaimed, Holder: "WS02", HolderTask: "T2", Claim: "web/*.css"}}},
		"beside a claimed glob":  {r: ask("WS01", 1, everybody, "web/a.ts"), took: []string{"web/a.ts:WS01/T1"}},
		"claimed, nobody up yet": {r: ask("WS01", 1, nobody, "later/x"), want: []Denial{{Path: "later/x", Reason: DenyClaimed, Holder: "WS03", Claim: "later"}}},
		"claimed by one done":    {r: ask("WS01", 1, everybody, "old/x"), took: []string{"old/x:WS01/T1"}},
		"outside, absolute":      {r: ask("WS01", 1, everybody, "/etc/passwd"), want: []Denial{{Path: "/etc/passwd", Reason: DenyOutside}}},
		"outside, relative":      {r: ask("WS01", 1, everybody, "../x"), want: []Denial{{Path: "../x", Reason: DenyOutside}}},
		"outside by a detour":    {r: ask("WS01", 1, everybody, "a/../../x"), want: []Denial{{Path: "a/../../x", Reason: DenyOutside}}},
		"the root":               {r: ask("WS01", 1, everybody, "."), want: []Denial{{Path: ".", Reason: DenyOutside}}},
		"nothing":                {r: ask("WS01", 1, everybody, ""), want: []Denial{{Path: "", Reason: DenyOutside}}},
		"another name of mine":   {r: ask("WS01", 1, everybody, "lib/./one.go"), want: []Denial{{Path: "lib/./one.go", Reason: DenyOutside}}},
		"a tab in it":            {r: ask("WS01", 1, everybody, "a\tb"), want: []Denial{{Path: "a\tb", Reason: DenyOutside}}},
		"a delete in it":         {r: ask("WS01", 1, everybody, "a\x7fb"), want: []Denial{{Path: "a\x7fb", Reason: DenyOutside}}},
		"protected":              {r: ask("WS01", 1, everybody, ".git/hooks/pre-commit"), want: []Denial{{Path: ".git/hooks/pre-commit", Reason: DenyProtected}}},
		"strict, claimed": {
			strict: true, r: ask("WS01", 1, everybody, "api/x.go"), took: []string{"api/x.go:WS01/T1"},
		},
		"strict, unclaimed": {
			strict: true, r: ask("WS01", 1, everybody, "new.go"), want: []Denial{{Path: "new.go", Reason: DenyUnclaimed}},
		},
		"strict, mine already": {strict: true, r: ask("WS01", 1, everybody, "lib/one.go")},
		"strict, own handoff": {
			strict: true, r: ask("WS01", 1, everybody, "planning/fleet-a/handoffs/HANDOFF_WS01.md"),
			took: []string{"planning/fleet-a/handoffs/HANDOFF_WS01.md:WS01/T1"},
		},
		"stale":      {r: ask("WS01", 0, everybody, "new.go"), want: []Denial{{Path: "new.go", Reason: DenyStale}}},
		"of later":   {r: ask("WS01", 2, everybody, "new.go"), want: []Denial{{Path: "new.go", Reason: DenyStale}}},
		"stale mine": {r: ask("WS01", 2, everybody, "lib/one.go", "new.go"), want: []Denial{{Path: "lib/one.go", Reason: DenyStale}}},
		"unknown":    {r: ask("WS99", 1, everybody, "new.go"), want: []Denial{{Path: "new.go", Reason: DenyStale}}},
		"all reasons": {
			r: ask("WS01", 1, everybody, "new.go", "web/a.css", "lib/two.go", "/x", ".git"),
			want: []Denial{
				{Path: "web/a.css", Reason: DenyClaimed, Holder: "WS02", HolderTask: "T2", Claim: "web/*.css"},
				{Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"},
				{Path: "/x", Reason: DenyOutside},
				{Path: ".git", Reason: DenyProtected},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := race()
			s.Strict = c.strict
			before := holders(s)
			eq(t, "denials", s.AcquireLeases(c.r), c.want)
			for _, h := range before {
				if path, _, _ := strings.Cut(h, ":"); !strings.Contains(strings.Join(holders(s), "\n"), h) {
					t.Errorf("%s has changed hands", path)
				}
			}
			s.Leases.Delete("lib/one.go")
			s.Leases.Delete("lib/two.go")
			eq(t, "taken", holders(s), c.took)
			var events []string
			for l := range s.Leases.All() {
				events = append(events, "lease_acquired WS01 T1 path="+l.Path+" tool=Edit")
			}
			for _, d := range c.want {
				words := []string{"lease_denied", c.r.WS}
				if d.Reason != DenyStale {
					words = append(words, "T1")
				}
				for _, kv := range [][2]string{
					{"holder", d.Holder},
					{"holder_task", d.HolderTask},
					{"path", d.Path},
					{"reason", string(d.Reason)},
					{"requester", c.r.WS},
					{"tool", "Edit"},
				} {
					if kv[1] != "" {
						words = append(words, kv[0]+"="+kv[1])
					}
				}
				events = append(events, strings.Join(words, " "))
			}
			if len(c.took) < 2 { // the order of several is the request's
				eq(t, "events", said(s), events)
			}
		})
	}
}

// CF-68: of 500 paths all or none, wherever the one stands that is held.
func TestAcquireAllOrNothing(t *testing.T) {
	paths := make([]string, 500)
	for i := range paths {
		paths[i] = fmt.Sprintf("gen/f%03d.go", i)
	}
	for _, taken := range []int{0, 1, 250, 498, 499} {
		s := race()
		s.Leases.Put(Lease{Path: paths[taken], WS: "WS02", Task: "T2", Epoch: 1})
		before := clone(s)
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, paths...)),
			[]Denial{{Path: paths[taken], Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"}})
		eq(t, "holders", holders(s), holders(before))
		// CF-74: the path that was in the way is recorded, not the first of the request.
		eq(t, "blocked on", s.Task("T1").BlockedOn, paths[taken])
	}
	s := race()
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, paths...)), []Denial(nil))
	for _, p := range paths {
		if l, ok := s.Leases.Get(p); !ok || l.WS != "WS01" {
			t.Fatalf("%s is not held", p)
		}
	}
}

// CF-66: a lease of one's own stays as it was, and says that a write is under way.
func TestAcquireOwnAgain(t *testing.T) {
	s := race()
	l, _ := s.Leases.Get("lib/one.go")
	l.Stamp = "12:34"
	s.Leases.Put(l)
	// Even below another's claim: who holds a file may go on with it.
	s.Workstreams[1].Claims = []string{"lib"}
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "lib/one.go")), []Denial(nil))
	l.Stamp = ""
	got, _ := s.Leases.Get("lib/one.go")
	eq(t, "lease", got, l)
	eq(t, "events", said(s), []string{})
	eq(t, "updated", row(t, s, "WS01").UpdatedAt, Time{}) // a write check leaves the roster alone
}

// PAINS 106: a lease has no term. However long ago it was taken, and however quiet its worker is, it holds while that lives.
func TestLeasesDoNotExpire(t *testing.T) {
	s := race()
	l, _ := s.Leases.Get("lib/two.go")
	l.AcquiredAt = ago(365 * 24 * time.Hour)
	s.Leases.Put(l)
	row(t, s, "WS02").Heartbeat = 1
	eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "lib/two.go")), []Denial{{Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"}})
	eq(t, "status of the holder", row(t, s, "WS02").Status, Working)
}

// CF-146, PAINS 99, 101: what a worker held that is gone is freed in the transition of who asks for it.
func TestAcquireFromTheDead(t *testing.T) {
	onlyOne := func(ws string) bool { return ws == "WS01" }
	t.Run("a lease", func(t *testing.T) {
		s := race()
		s.Leases.Put(Lease{Path: "lib/more.go", WS: "WS02", Task: "T2", Epoch: 1})
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, onlyOne, "lib/two.go")), []Denial(nil))
		eq(t, "holders", holders(s), []string{"lib/one.go:WS01/T1", "lib/two.go:WS01/T1"})
		eq(t, "events", said(s), []string{
			"worker_exited WS02 T2 code=-1 epoch=1 reason=its worker is gone",
			"lease_released WS02 T2 path=lib/more.go why=its worker is gone",
			"lease_released WS02 T2 path=lib/two.go why=its worker is gone",
			"task_requeued WS02 T2 attempt=1 error_kind=infra reason=its worker is gone",
			"status_changed WS02 from=working reason=its worker is gone to=dead",
			"lease_acquired WS01 T1 path=lib/two.go tool=Edit",
		})
		w := row(t, s, "WS02")
		eq(t, "epoch", w.Epoch, 2)
		eq(t, "status", w.Status, Dead)
		eq(t, "the zombie", s.AcquireLeases(ask("WS02", 1, everybody, "lib/two.go"))[0].Reason, DenyStale)
	})
	t.Run("a claim", func(t *testing.T) {
		s := race()
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, onlyOne, "web/a.css")), []Denial(nil))
		eq(t, "status", row(t, s, "WS02").Status, Dead)
		eq(t, "holders", holders(s), []string{"lib/one.go:WS01/T1", "web/a.css:WS01/T1"})
	})
	t.Run("a claim of one that waited", func(t *testing.T) {
		s := race()
		s.Workstreams[1].Status, s.Workstreams[1].Notes = Blocked, "asks: may I?"
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, onlyOne, "web/a.css")), []Denial(nil))
		eq(t, "status", row(t, s, "WS02").Status, Dead)
	})
	t.Run("a claim of one that has no worker", func(t *testing.T) {
		for _, w := range []Workstream{
			{ID: "WS02", Status: Blocked, Epoch: 2, Claims: []string{"web"}, Notes: "blocked: a question"},
			{ID: "WS02", Status: Started, Claims: []string{"web"}},
		} {
			s := race()
			s.Workstreams[1] = w
			s.Leases.Delete("lib/two.go")
			eq(t, "reason", s.AcquireLeases(ask("WS01", 1, onlyOne, "web/a.css"))[0].Reason, DenyClaimed)
			eq(t, "status", row(t, s, "WS02").Status, w.Status)
		}
	})
	t.Run("a tree", func(t *testing.T) {
		s := race()
		r := WriteRequest{WS: "WS01", Epoch: 1, Trees: []string{"lib", "web"}, Alive: onlyOne}
		eq(t, "denials", s.AcquireLeases(r), []Denial(nil))
		eq(t, "holders", holders(s), []string{"lib/one.go:WS01/T1"})
	})
	t.Run("what is in the way elsewhere", func(t *testing.T) {
		s := race()
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, onlyOne, "lib/two.go", "later/x")),
			[]Denial{{Path: "later/x", Reason: DenyClaimed, Holder: "WS03", Claim: "later"}})
		eq(t, "holders", holders(s), []string{"lib/one.go:WS01/T1"})
	})
	t.Run("a row that is gone", func(t *testing.T) {
		s := race()
		s.Leases.Put(Lease{Path: "lib/orphan.go", WS: "WS77", Epoch: 1})
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, onlyOne, "lib/orphan.go")), []Denial(nil))
		eq(t, "holders", holders(s), []string{"lib/one.go:WS01/T1", "lib/orphan.go:WS01/T1", "lib/two.go:WS02/T2"})
	})
	t.Run("nobody is asked in vain", func(t *testing.T) {
		s := race()
		alive := func(ws string) bool { t.Errorf("asked whether %s is alive", ws); return true }
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, alive, "lib/one.go", "new.go")), []Denial(nil))
	})
}

// A tree is checked for what others hold and claim below it, and for what decides over the rules.
func TestAcquireTrees(t *testing.T) {
	for dir, want := range map[string]Denial{
		"lib":                 {Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"},
		".":                   {Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"},
		"web":                 {Path: "web", Reason: DenyClaimed, Holder: "WS02", HolderTask: "T2", Claim: "web/*.css"},
		"later":               {Path: "later", Reason: DenyClaimed, Holder: "WS03", Claim: "later"},
		"later/deep":          {Path: "later/deep", Reason: DenyClaimed, Holder: "WS03", Claim: "later"},
		"planning":            {Path: "planning", Reason: DenyProtected},
		"planning/fleet-a":    {Path: "planning/fleet-a", Reason: DenyProtected},
		"planning/fleet-a/hi": {Path: "planning/fleet-a/hi", Reason: DenyProtected},
		".git":                {Path: ".git", Reason: DenyProtected},
		".git/hooks":          {Path: ".git/hooks", Reason: DenyProtected},
		".claude":             {Path: ".claude", Reason: DenyProtected},
		"sub/.codex":          {Path: "sub/.codex", Reason: DenyProtected},
	} {
		s := race()
		eq(t, dir, s.AcquireLeases(WriteRequest{WS: "WS01", Epoch: 1, Trees: []string{dir}, Paths: []string{"new.go"}, Alive: everybody}), []Denial{want})
		eq(t, "holders", holders(s), holders(race()))
	}
	for _, dir := range []string{"api", "old", "src", "webs", "lib2", ".claude/worktrees", "/tmp/x", "../x"} {
		s := race()
		eq(t, dir, s.AcquireLeases(WriteRequest{WS: "WS01", Epoch: 1, Trees: []string{dir}, Alive: everybody}), []Denial(nil))
	}
	alone := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: Working, Epoch: 1, Claims: []string{"a"}}}, Leases: held("a:WS01")}
	eq(t, "all of it, and nobody else here", alone.AcquireLeases(WriteRequest{WS: "WS01", Epoch: 1, Trees: []string{"."}, Alive: everybody}), []Denial(nil))
}

func TestProtected(t *testing.T) {
	w := &Workstream{ID: "WS01", TaskID: "T3"}
	for p, want := range map[string]bool{
		".git":                                          true,
		".git/config":                                   true,
		".gitignore":                                    false,
		".github/workflows/ci.yml":                      false,
		"planning":                                      true,
		"planning/notes.md":                             false,
		"planning/fleet-a":                              true,
		"planning/fleet-a/roster.tsv":                   true,
		"planning/fleet-a/leases.tsv":                   true,
		"planning/fleet-a/hooks/WS1.json":               true,
		"planning/fleet-a/briefs/WS01.md":               false,
		"planning/fleet-a/briefs/T3.md":                 false,
		"planning/fleet-a/briefs/WS02.md":               true,
		"planning/fleet-a/handoffs/HANDOFF_WS01.md":     false,
		"planning/fleet-a/handoffs/HANDOFF_WS02.md":     true,
		"planning/fleet-a/x/handoffs/HANDOFF_WS01.md":   true,
		"planning/fleet-a/handoffs/HANDOFF_WS01.md/sub": true,
		".claude/settings.json":                         true,
		".claude/settings.local.json":                   true,
		"sub/.claude/settings.json":                     true,
		".claude/skills/x.md":                           false,
		".claude/agents/settings.json":                  false,
		"claude/settings.json":                          false,
		".codex/config.toml":                            true,
		".codex/hooks.json":                             true,
		".gemini/settings.json":                         true,
		"src/settings.json":                             false,
	} {
		if got := protected(w, p); got != want {
			t.Errorf("protected(%q) = %v", p, got)
		}
	}
	if !protected(&Workstream{ID: "WS01"}, "planning/fleet-a/briefs/.md") {
		t.Error("without a task in hand, the brief of no task is writable")
	}
}

// Who writes is at work, even if no prompt announced it, so that no lease belongs to somebody who is done.
func TestAcquireMeansWork(t *testing.T) {
	for status, want := range map[Status]Status{Pending: Working, Started: Working, Done: Working, Working: Working, Blocked: Blocked} {
		s := &State{Now: now, Workstreams: []Workstream{{ID: "WS01", Status: status, Epoch: 1}}, Leases: LeaseMap{}}
		eq(t, "denials", s.AcquireLeases(ask("WS01", 1, everybody, "a.go")), []Denial(nil))
		eq(t, string(status), row(t, s, "WS01").Status, want)
	}
}

// The operator's own session takes no leases and is kept from those of living workers alone.
func TestCheckWrite(t *testing.T) {
	s := race()
	before := clone(s)
	eq(t, "denials", s.CheckWrite([]string{"lib/two.go", "new.go", "web/a.css", ".git/config", "lib/one.go"}, nil, everybody), []Denial{
		{Path: "lib/two.go", Reason: DenyHeld, Holder: "WS02", HolderTask: "T2"},
		{Path: "lib/one.go", Reason: DenyHeld, Holder: "WS01", HolderTask: "T1"},
	})
	for dir, want := range map[string][]string{".": {"lib/one.go", "lib/two.go"}, "lib": {"lib/one.go", "lib/two.go"}, "lib/t": nil, "web": nil} {
		var denied []string
		for _, d := range s.CheckWrite(nil, []string{dir}, everybody) {
			denied = append(denied, d.Path)
		}
		eq(t, "below "+dir, denied, want)
	}
	eq(t, "nobody alive", s.CheckWrite([]string{"lib/two.go"}, []string{"lib"}, nobody), []Denial(nil))
	same(t, s, before)
	eq(t, "events", said(s), []string{})
}

// CF-57: who is replaced is told so, and changes nothing. Every rule that a worker calls is fenced.
func TestFence(t *testing.T) {
	calls := map[string]func(*State, int) error{
		"Fence":           func(s *State, e int) error { return s.Fence("WS01", e) },
		"SessionUp":       func(s *State, e int) error { return s.SessionUp("WS01", e, "id", "startup") },
		"PromptSubmitted": func(s *State, e int) error { return s.PromptSubmitted("WS01", e, "go") },
		"Activity":        func(s *State, e int) error { return s.Activity("WS01", e) },
		"NeedsPerson":     func(s *State, e int) error { return s.NeedsPerson("WS01", e, "permission_prompt", "may I?") },
		"Notified":        func(s *State, e int) error { return s.Notified("WS01", e, "x", "y") },
		"TurnEnded":       func(s *State, e int) error { return s.TurnEnded("WS01", e, "finished") },
		"TurnFailed":      func(s *State, e int) error { return s.TurnFailed("WS01", e, "limit") },
		"FileWritten":     func(s *State, e int) error { return s.FileWritten("WS01", e, "lib/one.go", "Edit", "1:1") },
		"WorkerExited":    func(s *State, e int) error { return s.WorkerExited("WS01", e, Exit{}) },
		"MarkDead":        func(s *State, e int) error { return s.MarkDead("WS01", e, "gone") },
		"Audit": func(s *State, e int) error {
			_, err := s.Audit("WS01", e, Shell{Stamp: noFile})
			return err
		},
		"ShellRan": func(s *State, e int) error {
			_, err := s.ShellRan("WS01", e, Shell{Stamp: noFile})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for _, epoch := range []int{-1, 0, 2} {
				s := race()
				var stale *StaleEpochError
				if err := call(s, epoch); !errors.As(err, &stale) || *stale != (StaleEpochError{WS: "WS01", Epoch: epoch, Now: 1}) {
					t.Errorf("epoch %d: %v", epoch, err)
				}
				same(t, s, race())
				eq(t, "events", said(s), []string{})
			}
			must(t, call(race(), 1))
		})
	}
}

func noFile(string) (string, int64) { return "gone", 0 }

// An isolated lane competes for the same files as others, in a tree of its own: it takes no leases and heeds none, but
// what is protected, or elsewhere, is so for it, too.
func TestIsolatedLane(t *testing.T) {
	s := running()
	w, err := s.Workstream("WS01")
	must(t, err)
	w.Lane = Isolated
	before := len(s.Held("WS01"))
	eq(t, "held by another", s.AcquireLeases(ask("WS01", 1, everybody, "b.go", "free.go")), []Denial(nil))
	eq(t, "leases", len(s.Held("WS01")), before)
	eq(t, "outside", s.AcquireLeases(ask("WS01", 1, everybody, "/etc/passwd"))[0].Reason, DenyOutside)
	eq(t, "protected", s.AcquireLeases(ask("WS01", 1, everybody, ".git/config"))[0].Reason, DenyProtected)
	eq(t, "of others", len(s.AcquireLeases(ask("WS02", 1, everybody, "free.go"))), 0)
}
