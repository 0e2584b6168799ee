package roster

import "testing"

// disk answers Stamp from a list of stamps; what it lacks is gone.
type disk map[string]struct {
	stamp string
	mod   int64
}

func (d disk) stamp(path string) (string, int64) {
	if f, ok := d[path]; ok {
		return f.stamp, f.mod
	}
	return FileStamp(0, 0, false), 0
}

func TestFileStamp(t *testing.T) {
	eq(t, "there", FileStamp(12, 34, true), "12:34")
	eq(t, "gone", FileStamp(12, 34, false), "gone")
}

func stamped(s *State, stamps map[string]string) {
	for path, stamp := range stamps {
		l, _ := s.Leases.Get(path)
		l.Stamp = stamp
		s.Leases.Put(l)
	}
}

// CF-21, CF-99: every write that has happened is in the ledger, whoever holds the file, and nothing is scheduled by it.
func TestFileWritten(t *testing.T) {
	s := working()
	s.Workstreams, s.Tasks = append(s.Workstreams, lane("WS03")), append(s.Tasks, scoped("T3", "c.go"))
	must(t, s.FileWritten("WS01", 1, "a.go", "Edit", "5:6"))
	must(t, s.FileWritten("WS01", 1, "b.go", "Edit", "7:8"))
	must(t, s.FileWritten("WS01", 1, "c.go", "Edit", "9:9"))
	a, _ := s.Leases.Get("a.go")
	b, _ := s.Leases.Get("b.go")
	_, c := s.Leases.Get("c.go")
	eq(t, "own lease", a.Stamp, "5:6")
	eq(t, "another's lease", b.Stamp, "")
	eq(t, "no lease", c, false)
	eq(t, "events", said(s), []string{
		"file_changed WS01 T1 path=a.go tool=Edit", "file_changed WS01 T1 path=b.go tool=Edit", "file_changed WS01 T1 path=c.go tool=Edit",
	})
	eq(t, "wakes", s.Wakes(), false)
	eq(t, "plan", plan(s, everybody), []string{"assign WS03 T3"})
}

// A file of another's that changed after its holder's last write is found, and told once.
func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		known string // the stamp in WS02's lease on b.go
		files disk
		since int64
		want  []ForeignWrite
		stamp string // afterwards
	}{
		"as it was":             {"1:1", disk{"b.go": {"1:1", 1}}, 0, nil, "1:1"},
		"changed":               {"1:1", disk{"b.go": {"9:1", 9}}, 0, []ForeignWrite{{"b.go", "WS02"}}, "9:1"},
		"changed in the time":   {"1:1", disk{"b.go": {"9:1", 9}}, 9, []ForeignWrite{{"b.go", "WS02"}}, "9:1"},
		"changed before":        {"1:1", disk{"b.go": {"9:1", 9}}, 10, nil, "1:1"},
		"deleted":               {"1:1", disk{}, 10, []ForeignWrite{{"b.go", "WS02"}}, "gone"},
		"created":               {"gone", disk{"b.go": {"9:1", 9}}, 0, []ForeignWrite{{"b.go", "WS02"}}, "9:1"},
		"under way":             {"", disk{"b.go": {"9:1", 9}}, 0, nil, ""},
		"one's own has changed": {"1:1", disk{"a.go": {"9:1", 9}, "b.go": {"1:1", 1}}, 0, nil, "1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := working()
			stamped(s, map[string]string{"b.go": c.known})
			sh := Shell{Tool: "Bash", Stamp: c.files.stamp, Since: c.since}
			found, err := s.Audit("WS01", 1, sh)
			must(t, err)
			eq(t, "found", found, c.want)
			l, _ := s.Leases.Get("b.go")
			eq(t, "stamp", l.Stamp, c.stamp)
			if len(c.want) > 0 {
				eq(t, "events", said(s), []string{"foreign_write_found WS01 T1 holder=WS02 path=b.go tool=Bash"})
			}
			found, err = s.Audit("WS01", 1, sh)
			must(t, err)
			eq(t, "found again", found, []ForeignWrite{})
		})
	}
}

// A file of the same name in another checkout is another file.
func TestAuditLeavesOtherTreesAlone(t *testing.T) {
	s := working()
	s.Workstreams[1].Tree = ".claude/worktrees/shop-ws02"
	stamped(s, map[string]string{"b.go": "1:1"})
	found, err := s.Audit("WS01", 1, Shell{Tool: "Bash", Stamp: disk{}.stamp})
	must(t, err)
	eq(t, "found", found, []ForeignWrite{})
}

// What a shell command wrote is told if it is another's, and in the ledger if it is one's own, asked for or not.
func TestShellRan(t *testing.T) {
	s := working()
	stamped(s, map[string]string{"a.go": "1:1", "b.go": "1:1"})
	files := disk{"a.go": {"9:1", 9}, "b.go": {"9:2", 9}}
	sh := Shell{Tool: "Bash", Stamp: files.stamp}
	found, err := s.ShellRan("WS01", 1, sh)
	must(t, err)
	eq(t, "found", found, []ForeignWrite{{"b.go", "WS02"}})
	eq(t, "events", said(s), []string{
		"foreign_write_found WS01 T1 holder=WS02 path=b.go tool=Bash",
		"file_changed WS01 T1 path=a.go tool=Bash",
	})
	again := clone(s)
	found, err = again.ShellRan("WS01", 1, sh)
	must(t, err)
	eq(t, "found again", found, []ForeignWrite{})
	eq(t, "events again", said(again), []string{})
}

// A write that the shell did to a file that was already asked for is settled, though the agent doesn't name it.
func TestShellRanSettlesOpenWrites(t *testing.T) {
	s := working()
	files := disk{"a.go": {"9:1", 9}, "b.go": {"9:2", 9}}
	found, err := s.ShellRan("WS01", 1, Shell{Tool: "Bash", Stamp: files.stamp})
	must(t, err)
	eq(t, "found", found, []ForeignWrite{})
	a, _ := s.Leases.Get("a.go")
	b, _ := s.Leases.Get("b.go")
	eq(t, "own", a.Stamp, "9:1")
	eq(t, "another's, under way", b.Stamp, "")
	eq(t, "events", said(s), []string{"file_changed WS01 T1 path=a.go tool=Bash"})
}
