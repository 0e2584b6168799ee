package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fleet/roster"
)

// envChild names the part that a process plays which a test has started from its own binary.
const envChild = "RUNDIR_TEST_CHILD"

// children are those parts. What they return goes to stderr and ends them with 1.
var children = map[string]func(args []string) error{
	"assign": assignChild,
	"crash":  crashChild,
	"full":   fullChild,
	"hammer": hammerChild,
	"live":   liveChild,
	"race":   raceChild,
	"torn":   tornChild,
}

func TestMain(m *testing.M) {
	pollEvery = time.Hour // what is to be seen at once must not be seen by the clock
	part := os.Getenv(envChild)
	if part == "" {
		os.Exit(m.Run())
	}
	if err := children[part](os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", part, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child prepares a process that plays a part. It is killed when the test ends.
func child(t *testing.T, part string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), envChild+"="+part)
	cmd.Stderr = t.Output()
	return cmd
}

// kill ends this process as an out-of-memory killer or a power button would.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// wasKilled fails the test unless a process has died of SIGKILL.
func wasKilled(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was to die at its failpoint, and ended with %v", err)
	}
}

var templates = fstest.MapFS{
	"briefs/BRIEF_TASK.md":   {Data: []byte("# {{task}}: {{title}}\n\n{{text}}\n\n{{scope}}\n")},
	"briefs/BRIEF_WS.md":     {Data: []byte("# {{ws}}: {{title}}\n\n{{task}}\n\n{{claims}}\n\n{{run_dir}}\n")},
	"handoffs/HANDOFF_WS.md": {Data: []byte("{{ws}} {{title}} {{task}} {{status}} {{claims}} {{leases}} {{note}} {{at}}\n{{dirty}}\n")},
	"COORDINATION.md":        {Data: []byte("rules\n")},
	"template.go":            {Data: []byte("package x\n")},
}

// newRun makes a run dir.
func newRun(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(t.TempDir(), "test", templates, ConfigText(nil))
	must(t, err)
	return d
}

// begun is how many events a run has that atWork has made.
const begun = 21

// atWork makes a run in which two workers are at work: WS01 holds a.go and claims api, WS02 holds b.go.
func atWork(t *testing.T) *Dir {
	t.Helper()
	d := newRun(t)
	update(t, d, func(s *roster.State) error {
		for _, id := range []string{"WS01", "WS02"} {
			if err := s.Add(roster.NewWorkstream{ID: id, Text: "the task of " + id}); err != nil {
				return err
			}
			if err := start(s, id); err != nil {
				return err
			}
		}
		if err := s.Claim("WS01", []string{"api"}); err != nil {
			return err
		}
		return errors.Join(acquire(s, "WS01", 1, "a.go"), acquire(s, "WS02", 1, "b.go"))
	})
	return d
}

// start brings up a worker and gives it its first prompt.
func start(s *roster.State, ws string) error {
	epoch, err := s.Launch(ws, roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: "main"})
	if err == nil {
		err = s.SessionUp(ws, epoch, "session", "startup")
	}
	if err == nil {
		err = s.PromptSubmitted(ws, epoch, "read "+roster.BriefName(ws)+" and start")
	}
	return err
}

func acquire(s *roster.State, ws string, epoch int, paths ...string) error {
	r := roster.WriteRequest{WS: ws, Epoch: epoch, Paths: paths, Tool: "Write", Alive: func(string) bool { return true }}
	if denials := s.AcquireLeases(r); len(denials) > 0 {
		return fmt.Errorf("denied: %v", denials)
	}
	return nil
}

func update(t *testing.T, d *Dir, fn func(*roster.State) error) {
	t.Helper()
	must(t, d.Update(patient(t.Context()), fn))
}

// texts are those of the run's files by name, hidden ones as well.
func texts(d *Dir) (map[string]string, error) {
	entries, err := os.ReadDir(d.Path)
	got := make(map[string]string)
	for _, e := range entries {
		if e.Type().IsRegular() {
			text, readErr := os.ReadFile(d.file(e.Name()))
			got[e.Name()], err = string(text), errors.Join(err, readErr)
		}
	}
	return got, err
}

func files(t *testing.T, d *Dir) map[string]string {
	t.Helper()
	got, err := texts(d)
	must(t, err)
	return got
}

// noRemains fails the test if a commit has left something behind.
func noRemains(t *testing.T, d *Dir) {
	t.Helper()
	entries, err := os.ReadDir(d.Path)
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") || e.Name() == txFile {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// snapshot is what a run says, without its times, so that two of them can be compared.
type snapshot struct {
	Rows, Tasks, Leases, Events []string
}

// look reads a run whole, and checks what must hold of any: see sound.
func look(t *testing.T, d *Dir) snapshot {
	t.Helper()
	var sn snapshot
	must(t, d.View(patient(t.Context()), func(s *roster.State) error {
		for _, w := range s.Workstreams {
			sn.Rows = append(sn.Rows, fmt.Sprint(w.ID, " ", w.Status, " ", w.Epoch, " ", w.TaskID, " ", w.Claims, " ", w.Notes))
		}
		for _, task := range s.Tasks {
			sn.Tasks = append(sn.Tasks, fmt.Sprint(task.ID, " ", task.Status, " ", task.Attempts))
		}
		for l := range s.Leases.All() {
			sn.Leases = append(sn.Leases, l.Path+" "+l.WS)
		}
		return sound(s)
	}))
	for _, e := range logged(t, d) {
		path, _ := e.Data["path"].(string)
		sn.Events = append(sn.Events, strings.TrimSpace(fmt.Sprint(e.ID, " ", e.Type, " ", e.WS, " ", path)))
	}
	return sn
}

// logged are all events. Their ids are 1 to N without a gap, and the leases that they give and take are those of the table.
func logged(t *testing.T, d *Dir) []roster.Event {
	t.Helper()
	var events []roster.Event
	held := make(map[string]string)
	for e, err := range d.Events(0) {
		must(t, err)
		events = append(events, e)
		if e.ID != int64(len(events)) {
			t.Fatalf("event %d has the id %d", len(events), e.ID)
		}
		path, _ := e.Data["path"].(string)
		switch e.Type {
		case roster.LeaseAcquired:
			if by, taken := held[path]; taken {
				t.Fatalf("event %d gives %s to %s, and %s holds it", e.ID, path, e.WS, by)
			}
			held[path] = e.WS
		case roster.LeaseReleased:
			if held[path] != e.WS {
				t.Fatalf("event %d takes %s from %s, and %q holds it", e.ID, path, e.WS, held[path])
			}
			delete(held, path)
		}
	}
	table := make(map[string]string)
	must(t, d.View(patient(t.Context()), func(s *roster.State) error {
		for l := range s.Leases.All() {
			table[l.Path] = l.WS
		}
		return nil
	}))
	eq(t, "leases by the events", held, table)
	return events
}

// sound says what is wrong with a state: a lease without a live holder of that epoch, two live claims that overlap,
// a task in hand that is nobody's, or another's. (That a path has one row is checked when the table is parsed.)
func sound(s *roster.State) error {
	for l := range s.Leases.All() {
		w, err := s.Workstream(l.WS)
		if err != nil || !w.Live() || w.Epoch != l.Epoch {
			return fmt.Errorf("lease %+v of %+v: %w", l, w, err)
		}
	}
	for i := range s.Workstreams {
		w := &s.Workstreams[i]
		if task := s.Task(w.TaskID); w.TaskID != "" && (task == nil || !task.InHand() || task.Workstream != w.ID) {
			return fmt.Errorf("%s has %q in hand: %+v", w.ID, w.TaskID, task)
		}
		for j := range s.Workstreams[:i] {
			for _, mine := range w.Claims {
				for _, theirs := range s.Workstreams[j].Claims {
					if w.Live() && s.Workstreams[j].Live() && roster.Overlap(mine, theirs) {
						return fmt.Errorf("%s claims %s, and %s %s", w.ID, mine, s.Workstreams[j].ID, theirs)
					}
				}
			}
		}
	}
	return nil
}

// legible says what is wrong with the files as somebody sees them who takes no lock.
func legible(d *Dir) error {
	var errs []error
	check := func(file string, parse func(text string) error, growing bool) {
		text, err := os.ReadFile(d.file(file))
		if err == nil {
			whole := string(text)
			if growing { // the last line may be on its way
				whole = whole[:strings.LastIndexByte(whole, '\n')+1]
			}
			err = parse(whole)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
		}
	}
	check(rosterFile, func(text string) error { _, err := parse(rosterFile, text, rosterColumns()); return err }, false)
	check(tasksFile, func(text string) error { _, err := parse(tasksFile, text, taskColumns()); return err }, false)
	check(leasesFile, func(text string) error { _, err := parse(leasesFile, text, leaseColumns()); return err }, true)
	check(eventsFile, func(text string) error {
		id, last := int64(0), max(0, len(text)-4096)
		for line := range strings.Lines(text) {
			if id++; eventID([]byte(line)) != id {
				return fmt.Errorf("line %d: %q", id, line)
			}
		}
		for line := range strings.Lines(text[last+strings.IndexByte(text[last:], '\n')+1:]) {
			var e roster.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil || !slices.Contains(roster.EventTypes, e.Type) {
				return fmt.Errorf("%q: %w", line, err)
			}
		}
		return nil
	}, true)
	return errors.Join(errs...)
}

// inode is the number of a file on its disk.
func inode(info os.FileInfo) string { return fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino) }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eq fails the test unless two values are equal.
func eq(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// fails fails the test unless an error is a rule's, of a kind, and says something.
func fails(t *testing.T, err error, kind roster.Kind, says string) {
	t.Helper()
	var rule *roster.Error
	if !errors.As(err, &rule) || rule.Kind != kind || !strings.Contains(rule.Msg, says) {
		t.Errorf("got error %#v, want one of kind %d that says %q", err, kind, says)
	}
}

// opened is for children: the run dir of their first argument.
func opened(args []string) (*Dir, context.Context, error) {
	d, err := Open(args[0])
	return d, patient(context.Background()), err
}

// patient waits long for the lock: a busy machine is no failure.
func patient(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	_ = cancel // the process ends before
	return ctx
}

var _ io.ReaderAt = (*meter)(nil)

// meter counts what is read from a file.
type meter struct {
	file io.ReaderAt
	read int
}

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.file.ReadAt(p, off)
	m.read += n
	return n, err
}
