package rundir

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fleet/roster"
)

// Dir is an opened run dir.
type Dir struct {
	Path   string // absolute
	Root   string // the main checkout that it belongs to, absolute
	Config Config
}

// Names of the files in a run dir.
const (
	rosterFile = "roster.tsv"
	tasksFile  = "tasks.tsv"
	leasesFile = "leases.tsv"
	eventsFile = "events.jsonl"
	lockFile   = ".roster.lock"
	txFile     = ".tx.json"
	envFile    = "fleet.env"
)

const dirPattern = "planning/fleet-*"

// Open opens the run dir at path.
func Open(path string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, roster.Usagef("run dir %s: no such directory", path).Hinted("fleet init <slug> makes one")
	}
	if _, err := os.Stat(filepath.Join(abs, rosterFile)); err != nil {
		return nil, roster.Usagef("%s is no run dir: it has no %s", path, rosterFile).Hinted("fleet init <slug> makes one")
	}
	config, err := readConfig(filepath.Join(abs, envFile))
	if err != nil {
		return nil, err
	}
	return &Dir{Path: abs, Root: filepath.Dir(filepath.Dir(abs)), Config: config}, nil
}

// Slug is the name of the run.
func (d *Dir) Slug() string { return strings.TrimPrefix(filepath.Base(d.Path), "fleet-") }

// Brief is the file with the prompt of a task.
func (d *Dir) Brief(task string) string {
	return filepath.Join(d.Path, filepath.FromSlash(roster.BriefName(task)))
}

// Script is the file with what the scripted agent does for a workstream, or for a task.
func (d *Dir) Script(id string) string { return filepath.Join(d.Path, "briefs", id+".script.json") }

// Result is the file with what a worker reported of one attempt at a task.
func (d *Dir) Result(task string, attempt int) string {
	return filepath.Join(d.Path, "results", fmt.Sprintf("%s.%d.json", task, attempt))
}

// Results are the files with what workers reported of a task in so many attempts.
func (d *Dir) Results(task string, attempts int) []string {
	var paths []string
	for n := 1; n <= attempts; n++ {
		if path := d.Result(task, n); exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// HookSettings is the file with the agent settings that are made for a workstream's worker.
func (d *Dir) HookSettings(ws string) string { return filepath.Join(d.Path, "hooks", ws+".json") }

// Log is the file that takes what a workstream's worker writes to stderr.
func (d *Dir) Log(ws string) string { return filepath.Join(d.Path, "logs", ws+".log") }

// Handoff is the file in which a workstream tells its successor where it stands.
func (d *Dir) Handoff(ws string) string {
	return filepath.Join(d.Path, "handoffs", "HANDOFF_"+ws+".md")
}

// Tree is the checkout in which a workstream's worker runs, absolute.
func (d *Dir) Tree(w *roster.Workstream) string {
	if w.Tree == "" || w.Tree == roster.MainTree {
		return d.Root
	}
	return filepath.Join(d.Root, w.Tree)
}

// Rel is a path inside the run dir as seen from the main checkout, for people and prompts.
func (d *Dir) Rel(path string) string {
	if rel, err := filepath.Rel(d.Root, path); err == nil {
		return rel
	}
	return path
}

// Find looks for run dirs at the nearest level at or above a directory that has one, and returns them with the one whose roster changed last first.
// The error when there is none is a usage error.
func Find(from string) ([]string, error) {
	for dir := from; ; dir = filepath.Dir(dir) {
		if found := runDirsIn(dir); len(found) > 0 {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil, roster.Usagef("no run dir (planning/fleet-*) here or above").Hinted("fleet init <slug> first, or name one with --run-dir or FLEET_RUN_DIR")
}

func runDirsIn(dir string) []string {
	found, err := filepath.Glob(filepath.Join(escapeGlob(dir), dirPattern, rosterFile))
	if err != nil || len(found) == 0 {
		return nil
	}
	changed := make(map[string]int64, len(found))
	for i, f := range found {
		found[i] = filepath.Dir(f)
		if info, err := os.Stat(f); err == nil {
			changed[found[i]] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(changed[b], changed[a]) })
	return found
}

func escapeGlob(dir string) string {
	var out []rune
	for _, r := range dir {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// fileErr names the run file that an error is about.
func fileErr(file string, line int, format string, args ...any) *roster.Error {
	where := file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", file, line)
	}
	return roster.Dataf("%s: %s", where, fmt.Sprintf(format, args...))
}
