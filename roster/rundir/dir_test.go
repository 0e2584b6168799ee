package rundir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fleet/roster"
)

// CFN-28, CFN-29, CFN-19: what a new run dir holds.
func TestCreate(t *testing.T) {
	root := t.TempDir()
	d, err := Create(root, "shop", templates, ConfigText(map[string]string{"FLEET_STRICT": "on"}))
	must(t, err)
	eq(t, "path", d.Path, filepath.Join(real(t, root), "planning", "fleet-shop"))
	eq(t, "root", d.Root, real(t, root))
	eq(t, "slug", d.Slug(), "shop")
	eq(t, "strict", d.Config.Strict, true)
	var got []string
	must(t, fs.WalkDir(os.DirFS(d.Path), ".", func(path string, e fs.DirEntry, err error) error {
		if e.IsDir() {
			path += "/"
		}
		got = append(got, path)
		return err
	}))
	eq(t, "files", got, []string{
		"./", ".gitignore", ".roster.lock", "COORDINATION.md", "briefs/", "briefs/BRIEF_TASK.md", "briefs/BRIEF_WS.md", "events.jsonl", "fleet.env",
		"handoffs/", "handoffs/HANDOFF_WS.md", "hooks/", "lanes/", "leases.tsv", "live/", "logs/", "results/", "roster.tsv", "tasks.tsv",
	})
	eq(t, "roster", read(t, d.file(rosterFile)), headerLine(rosterColumns(), nil))
	eq(t, "lock", read(t, d.file(lockFile)), "")
	eq(t, "snapshot", look(t, d), snapshot{})
	update(t, d, func(s *roster.State) error { return s.Add(roster.NewWorkstream{ID: "WS01", Text: "x"}) })

	// An existing one is refused, and stays as it is.
	before := files(t, d)
	_, err = Create(root, "shop", templates, ConfigText(nil))
	fails(t, err, roster.Data, "exists already")
	eq(t, "files of the first", files(t, d), before)
	eq(t, "planning", names(t, filepath.Join(root, "planning")), []string{"fleet-shop"})
}

// CFN-28, CFN-30: whole or not at all.
func TestCreateRefuses(t *testing.T) {
	root := t.TempDir()
	for slug, ok := range map[string]bool{
		"a": true, "shop": true, "0day": true, "a-b_c": true, strings.Repeat("x", 40): true,
		"": false, "-a": false, "_a": false, "A": false, "a b": false, "a.b": false, "a/b": false, "..": false, "é": false, "a\n": false,
		strings.Repeat("x", 41): false, strings.Repeat("x", 1000): false,
	} {
		d, err := Create(root, slug, templates, ConfigText(nil))
		if ok {
			must(t, err)
			must(t, os.RemoveAll(d.Path))
			continue
		}
		fails(t, err, roster.Usage, "slug")
	}
	_, err := Create(root, "x", templates, "FLEET_NO=1\n")
	fails(t, err, roster.Data, "fleet.env:1: unknown setting")
	_, err = Create(root, "x", fstest.MapFS{"nowhere/X.md": {}}, "")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a template without a place: %v", err)
	}
	_, err = Create(root, "x", failingFS{}, "")
	if !errors.Is(err, errBroken) {
		t.Errorf("templates that can't be read: %v", err)
	}
	eq(t, "planning", names(t, filepath.Join(root, "planning")), []string{})

	write(t, filepath.Join(root, "file", "planning"), "in the way")
	if _, err := Create(filepath.Join(root, "file"), "x", templates, ""); err == nil {
		t.Error("a run dir was made below a file")
	}
}

var errBroken = errors.New("broken")

type failingFS struct{}

func (failingFS) Open(string) (fs.File, error) { return nil, errBroken }

// Of two who create one run at once, one succeeds, and the other is told that it exists.
func TestCreateAtOnce(t *testing.T) {
	root := t.TempDir()
	var first *Dir
	quicker := rivalFS{templates, func() {
		if first == nil {
			var err error
			first, err = Create(root, "x", templates, "")
			must(t, err)
			update(t, first, func(s *roster.State) error { return s.Add(roster.NewWorkstream{ID: "WS01", Text: "x"}) })
		}
	}}
	_, err := Create(root, "x", quicker, "")
	fails(t, err, roster.Data, "exists already")
	eq(t, "planning", names(t, filepath.Join(root, "planning")), []string{"fleet-x"})
	eq(t, "the first", len(look(t, first).Rows), 1)
}

// rivalFS does something whenever it is read.
type rivalFS struct {
	fs.FS
	meanwhile func()
}

func (r rivalFS) Open(name string) (fs.File, error) {
	r.meanwhile()
	return r.FS.Open(name)
}

// CFN-6.
func TestOpen(t *testing.T) {
	d := newRun(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(d.Path, link))
	byLink, err := Open(link)
	must(t, err)
	eq(t, "by a link", byLink, d)
	t.Chdir(filepath.Dir(d.Path))
	relative, err := Open("fleet-test/")
	must(t, err)
	eq(t, "relative", relative, d)

	_, err = Open("fleet-other")
	fails(t, err, roster.Usage, "run dir fleet-other: no such directory")
	_, err = Open("..")
	fails(t, err, roster.Usage, ".. is no run dir: it has no roster.tsv")
	_, err = Open(d.file(rosterFile))
	fails(t, err, roster.Usage, "is no run dir")
	write(t, d.file(envFile), "FLEET_X=1\n")
	_, err = Open(d.Path)
	fails(t, err, roster.Data, "fleet.env:1: unknown setting FLEET_X")

	// A run dir of another name, which somebody has copied to look at it.
	copied := filepath.Join(t.TempDir(), "x")
	write(t, filepath.Join(copied, rosterFile), headerLine(rosterColumns(), nil))
	odd, err := Open(copied)
	must(t, err)
	eq(t, "slug", odd.Slug(), "x")
}

// CFN-4, CFN-5, CFN-7: the nearest level that has a run; of several, the one whose roster changed last comes first.
func TestFind(t *testing.T) {
	root := filepath.Join(real(t, t.TempDir()), "a [odd] *name*")
	deep := filepath.Join(root, "src", "deep")
	must(t, os.MkdirAll(deep, 0o755))
	_, err := Find(deep)
	fails(t, err, roster.Usage, "no run dir")

	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	place := func(dir string, age time.Duration) string {
		roster := filepath.Join(dir, rosterFile)
		write(t, roster, "")
		must(t, os.Chtimes(roster, at, at.Add(-age)))
		return dir
	}
	older := place(filepath.Join(root, "planning", "fleet-a"), time.Hour)
	newer := place(filepath.Join(root, "planning", "fleet-b"), time.Minute)
	alike := place(filepath.Join(root, "planning", "fleet-c"), time.Minute)
	must(t, os.MkdirAll(filepath.Join(root, "planning", "fleet-empty"), 0o755))
	write(t, filepath.Join(root, "planning", "fleet-file"), "")
	place(filepath.Join(root, "planning", ".fleet-tmp"), 0)
	place(filepath.Join(root, "planning", "other"), 0)
	for _, from := range []string{deep, root, filepath.Join(root, "planning")} {
		found, err := Find(from)
		must(t, err)
		eq(t, from, found, []string{newer, alike, older})
	}

	near := place(filepath.Join(root, "src", "planning", "fleet-z"), 24*time.Hour)
	found, err := Find(deep)
	must(t, err)
	eq(t, "the nearest level", found, []string{near})
}

func TestPaths(t *testing.T) {
	d := &Dir{Path: "/r/planning/fleet-x", Root: "/r"}
	for got, want := range map[string]string{
		d.Slug():                                 "x",
		d.Brief("T1"):                            "/r/planning/fleet-x/briefs/T1.md",
		d.HookSettings("WS01"):                   "/r/planning/fleet-x/hooks/WS01.json",
		d.Log("WS01"):                            "/r/planning/fleet-x/logs/WS01.log",
		d.Handoff("WS01"):                        "/r/planning/fleet-x/handoffs/HANDOFF_WS01.md",
		d.Rel(d.Brief("T1")):                     "planning/fleet-x/briefs/T1.md",
		d.Rel("not absolute"):                    "not absolute",
		d.Tree(&roster.Workstream{}):             "/r",
		d.Tree(&roster.Workstream{Tree: "main"}): "/r",
		d.Tree(&roster.Workstream{Tree: ".claude/worktrees/a"}): "/r/.claude/worktrees/a",
	} {
		eq(t, "path", got, want)
	}
}

// CFN-15: the brief is made from the run's own template, once.
func TestAddWorkstream(t *testing.T) {
	d := newRun(t)
	add := func(n roster.NewWorkstream) error { return d.AddWorkstream(t.Context(), n) }
	must(t, add(roster.NewWorkstream{ID: "WS01", Text: "\nadd it\n\nand more\n", Claims: []string{"api", "docs/*.md"}}))
	eq(t, "brief", read(t, d.Brief("WS01")), "# WS01: add it\n\nadd it\n\nand more\n\n"+
		"Yours alone: `api`, `docs/*.md`\n\nAsk for more with `fleet claim WS01 <path>` before you write elsewhere.\n\nplanning/fleet-test\n")
	write(t, d.Brief("WS02"), "mine")
	must(t, add(roster.NewWorkstream{ID: "WS02", Text: "x"}))
	eq(t, "somebody's work", read(t, d.Brief("WS02")), "mine")
	must(t, add(roster.NewWorkstream{ID: "WS03", Text: "{{ws}} {{title}}"}))
	eq(t, "words in the words", strings.HasPrefix(read(t, d.Brief("WS03")), "# WS03: {{ws}} {{title}}\n\n{{ws}} {{title}}\n\nNo claims"), true)

	before := look(t, d)
	fails(t, add(roster.NewWorkstream{ID: "WS03", Text: "again"}), roster.Data, "WS03 is in the roster already")
	must(t, os.Remove(d.file("briefs/BRIEF_WS.md")))
	fails(t, add(roster.NewWorkstream{ID: "WS04", Text: "x"}), roster.Data, "template briefs/BRIEF_WS.md is missing")
	eq(t, "after two that failed", look(t, d), before)
	eq(t, "a brief of nobody", exists(d.Brief("WS04")), false)
}

// CF-16, CF-104: a batch lands whole or not at all, its briefs included.
func TestAddTasks(t *testing.T) {
	d := newRun(t)
	ids, err := d.AddTasks(t.Context(), []roster.NewTask{{ID: "T1", Title: "one", Description: "do one"}, {Title: "two", DependsOn: []string{"T1"}, Scope: []string{"api"}}})
	must(t, err)
	eq(t, "ids", len(ids) == 2 && ids[0] == "T1" && regexp.MustCompile(`^t_[0-9a-f]{12}$`).MatchString(ids[1]), true)
	eq(t, "brief", strings.Contains(read(t, d.Brief("T1")), "do one"), true)
	eq(t, "brief without a description", strings.Contains(read(t, d.Brief(ids[1])), "two"), true)
	before := look(t, d)
	_, err = d.AddTasks(t.Context(), []roster.NewTask{{ID: "T2", Title: "x"}, {ID: "T3", Title: "x", DependsOn: []string{"T9"}}})
	fails(t, err, roster.Data, "T3 depends on T9, which is not in the graph")
	eq(t, "after a batch that failed", look(t, d), before)
	eq(t, "a brief of nobody", exists(d.Brief("T2")), false)
}

// CFN-94.
func TestSeen(t *testing.T) {
	d := newRun(t)
	seen, err := d.Seen(WatchSeen)
	must(t, err)
	eq(t, "before the first scan", seen == nil, true)
	want := roster.Seen{"WS02|name": "b", "WS01|status": "working", "WS01|name": "a b", "WS01|notes": ""}
	must(t, d.SetSeen(WatchSeen, want))
	eq(t, "text", read(t, d.file(WatchSeen)), "WS01|name\ta b\nWS01|notes\t\nWS01|status\tworking\nWS02|name\tb\n")
	seen, err = d.Seen(WatchSeen)
	must(t, err)
	eq(t, "seen", seen, want)
	must(t, d.SetSeen(WatchSeen, roster.Seen{}))
	seen, err = d.Seen(WatchSeen)
	must(t, err)
	eq(t, "an empty roster was seen", seen != nil, true)
	write(t, d.file(WatchSeen), "no tab\n")
	_, err = d.Seen(WatchSeen)
	fails(t, err, roster.Data, ".watch.state: malformed")
}

// PAINS 100, CFN-22: who only looks writes nothing: no file of the run is made, changed or replaced.
func TestReadersWriteNothing(t *testing.T) {
	d := atWork(t)
	before := inodes(t, d)
	look(t, d)
	_, err := d.Workstream(t.Context(), "WS01")
	must(t, err)
	_, err = d.Workstream(t.Context(), "WS09")
	fails(t, err, roster.Data, "not in the roster")
	_, err = d.LastEvent()
	must(t, err)
	_, err = d.Seen(WatchSeen)
	must(t, err)
	d.Alive("WS01")
	d.Died("WS01")
	d.LivePID("WS01")
	update(t, d, func(*roster.State) error { return nil }) // nor does who changes nothing
	eq(t, "files", inodes(t, d), before)
}

// inodes tells every file of a run dir apart from one that was put in its place, or written to.
func inodes(t *testing.T, d *Dir) map[string]string {
	t.Helper()
	got := make(map[string]string)
	must(t, filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			got[path] = info.ModTime().String() + " " + inode(info)
		}
		return err
	}))
	return got
}

func TestUpdateThatFails(t *testing.T) {
	d := atWork(t)
	before := inodes(t, d)
	broken := func(s *roster.State) error {
		must(t, acquire(s, "WS01", 1, "c.go"))
		return errBroken
	}
	for _, call := range []func(context.Context, func(*roster.State) error) error{d.Update, d.UpdateLeases, d.View} {
		if err := call(t.Context(), broken); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	}
	update(t, d, func(s *roster.State) error { return nil })
	if err := d.Update(t.Context(), func(s *roster.State) error { s.Note("nonsense", "WS01", "", nil); return nil }); err == nil {
		t.Error("an unknown type of event was written") // CF-24
	}
	func() {
		defer func() { eq(t, "panic", recover(), "oops") }()
		_ = d.Update(t.Context(), func(s *roster.State) error { panic("oops") })
	}()
	eq(t, "files", inodes(t, d), before)
	noRemains(t, d)
	update(t, d, func(s *roster.State) error { return acquire(s, "WS01", 1, "c.go") }) // the lock is free
}

// The quick path of the write check has no tasks until it asks for them, and then starts afresh.
func TestUpdateLeases(t *testing.T) {
	d := atWork(t)
	rounds := 0
	must(t, d.UpdateLeases(t.Context(), func(s *roster.State) error {
		rounds++
		eq(t, "tasks", len(s.Tasks), []int{0, 2}[rounds-1])
		must(t, acquire(s, "WS01", 1, "c.go"))
		if rounds == 1 {
			return ErrWantTasks
		}
		return nil
	}))
	eq(t, "rounds", rounds, 2)
	eq(t, "leases", look(t, d).Leases, []string{"a.go WS01", "b.go WS02", "c.go WS01"})

	// It leaves the tables of who and what alone, and adds lines to the others.
	before := inodes(t, d)
	log, table := read(t, d.file(eventsFile)), read(t, d.file(leasesFile))
	must(t, d.UpdateLeases(t.Context(), func(s *roster.State) error { return acquire(s, "WS01", 1, "d.go") }))
	after := inodes(t, d)
	eq(t, "roster", after[d.file(rosterFile)], before[d.file(rosterFile)])
	eq(t, "tasks", after[d.file(tasksFile)], before[d.file(tasksFile)])
	eq(t, "the log goes on", strings.HasPrefix(read(t, d.file(eventsFile)), log), true)
	eq(t, "the leases go on", strings.HasPrefix(read(t, d.file(leasesFile)), table), true)
}

// CF-45: what the scheduler makes of a change is part of it, in the same transaction; and what it goes by is the settings and who died.
func TestUpdateTicks(t *testing.T) {
	d, err := Create(t.TempDir(), "test", templates, ConfigText(map[string]string{"FLEET_MAX_ATTEMPTS": "1", "FLEET_TASK_TIMEOUT": "90"}))
	must(t, err)
	for _, ws := range []string{"WS01", "WS02"} {
		release, err := d.HoldLife(ws)
		must(t, err)
		defer release()
		if ws == "WS01" {
			release() // it has died
		}
	}
	up := func(s *roster.State, ws string) error {
		if err := s.AddSlot(roster.NewWorkstream{ID: ws, Text: "lane"}); err != nil {
			return err
		}
		epoch, err := s.Launch(ws, roster.Launch{Mode: roster.Headless})
		return errors.Join(err, s.SessionUp(ws, epoch, "", "startup"))
	}
	update(t, d, func(s *roster.State) error { return errors.Join(up(s, "WS01"), up(s, "WS02")) })
	update(t, d, func(s *roster.State) error {
		_, err := s.AddTasks([]roster.NewTask{{ID: "T1", Title: "x"}, {ID: "T2", Title: "y", DependsOn: []string{"T1"}}})
		return err
	})
	must(t, d.View(t.Context(), func(s *roster.State) error {
		task := s.Task("T1")
		eq(t, "statuses", []roster.Status{s.Workstreams[0].Status, s.Workstreams[1].Status}, []roster.Status{roster.Dead, roster.Working})
		eq(t, "task", []any{task.Status, task.Workstream, task.MaxAttempts}, []any{roster.TaskAssigned, "WS02", 1})
		eq(t, "deadline", task.Deadline.Sub(task.AssignedAt.Time), 150*time.Second) // CF-85: with the minute of grace
		return nil
	}))
	update(t, d, func(s *roster.State) error {
		_, err := s.Complete("WS02", 1, "T1", 1, roster.Outcome{Kind: roster.ErrAgent, Reason: "no"})
		return err
	})
	eq(t, "tasks", look(t, d).Tasks, []string{"T1 failed 1", "T2 blocked_upstream 0"})
	events := look(t, d).Events
	eq(t, "the last event", strings.Contains(events[len(events)-1], string(roster.FleetIdle)), true)
	update(t, d, func(s *roster.State) error { return s.Heartbeat("WS02", "still here") })
	eq(t, "events of what wakes nobody", look(t, d).Events, events)
}

// Columns that we don't know survive whatever is done (CFN-14).
func TestUpdateKeepsForeignColumns(t *testing.T) {
	d := atWork(t)
	for _, name := range []string{rosterFile, tasksFile, leasesFile} {
		var b strings.Builder
		for i, line := range slices.Collect(strings.Lines(read(t, d.file(name)))) {
			b.WriteString(strings.TrimSuffix(line, "\n") + []string{"\tengine\n", "\tx y\n", "\t\n"}[i])
		}
		write(t, d.file(name), b.String())
	}
	update(t, d, func(s *roster.State) error { return acquire(s, "WS02", 1, "c.go") })
	update(t, d, func(s *roster.State) error { return s.TurnEnded("WS02", 1, "there") })
	for _, name := range []string{rosterFile, tasksFile, leasesFile} {
		text := read(t, d.file(name))
		if !strings.Contains(text, "\tengine\n") || !strings.Contains(text, "\tx y\n") {
			t.Errorf("%s has lost a column:\n%s", name, text)
		}
	}
	eq(t, "leases", look(t, d).Leases, []string{"a.go WS01"})
}

func TestRunDirThatIsGone(t *testing.T) {
	d := atWork(t)
	must(t, os.Remove(d.file(rosterFile)))
	fails(t, d.View(t.Context(), func(*roster.State) error { return nil }), roster.Data, "planning/fleet-test/roster.tsv is gone")
	must(t, os.RemoveAll(d.Path))
	err := d.Update(t.Context(), func(*roster.State) error { return nil })
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(d.Path); err == nil {
		t.Error("it was made again")
	}
}

// A run that lacks its tables of tasks, leases and events gets them with the first change.
func TestRunOfAnEarlierVersion(t *testing.T) {
	d := newRun(t)
	for _, name := range []string{tasksFile, leasesFile, eventsFile} {
		must(t, os.Remove(d.file(name)))
	}
	write(t, d.file(rosterFile), lines("ws_id|name|task|status|claims|landed_sha|migration_num|scratch_db|heartbeat|notes", "WS01|api|add it|pending|api||||0|"))
	update(t, d, func(s *roster.State) error { return nil })
	update(t, d, func(s *roster.State) error {
		if err := start(s, "WS01"); err != nil {
			return err
		}
		return acquire(s, "WS01", 1, "api/x.go")
	})
	got := look(t, d)
	eq(t, "rows", got.Rows, []string{"WS01 working 1  [api] "})
	eq(t, "leases", got.Leases, []string{"api/x.go WS01"})
	must(t, legible(d))
}

// real is a path without symbolic links.
func real(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	must(t, err)
	return path
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	return got
}
