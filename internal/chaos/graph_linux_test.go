package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fleet/internal/scripted"
	"fleet/roster"
)

const (
	taskCount = 60
	turns     = 12 // a task that is tried more often plays the last one again
	fileLines = 110
)

// job is a task of the graph and what it writes.
type job struct {
	roster.NewTask
	files []string // written whole: its own, and one that others write, too
	edits bool     // the one of others, in a second call
	trail string   // gets lines at its end; empty is none
}

// makeGraph draws a graph in which tasks wait for others, share files that they
// declare, and share some that they don't, so that writes are denied.
func makeGraph(random *rand.Rand) []job {
	jobs := make([]job, taskCount)
	for i := range jobs {
		id := fmt.Sprintf("T%02d", i+1)
		own, hot := "out/"+id+".txt", fmt.Sprintf("src/m%d.txt", random.IntN(8))
		j := job{files: []string{own, hot}, edits: random.IntN(2) == 0}
		if random.IntN(3) > 0 {
			j.trail = fmt.Sprintf("log/l%d.txt", random.IntN(4))
		}
		j.NewTask = roster.NewTask{
			ID: id, Title: "write as " + id, Priority: 1 + random.IntN(5), MaxAttempts: 60, Scope: []string{own}, Verify: verify(id, j),
		}
		for _, shared := range []string{hot, j.trail} {
			if shared != "" && random.IntN(3) > 0 {
				j.Scope = append(j.Scope, shared)
			}
		}
		for range random.IntN(3) {
			if back := 1 + random.IntN(14); i >= back {
				j.DependsOn = append(j.DependsOn, jobs[i-back].ID)
			}
		}
		jobs[i] = j
	}
	return jobs
}

// paths are all files that a job writes.
func (j *job) paths() []string {
	if j.trail == "" {
		return j.files
	}
	return append(slices.Clone(j.files), j.trail)
}

// verify is the check of a task: that it succeeded means that its content stood in each of its files.
func verify(id string, j job) string {
	line := fmt.Sprintf(`test $(tail -qn 1 %s | grep -c '^end %s .* done$') = %d`, strings.Join(j.files, " "), id, len(j.files))
	if j.trail != "" {
		line += fmt.Sprintf(` && grep -q '^%s ' %s`, id, j.trail)
	}
	return line
}

// content is a file as one turn writes it: long enough to be torn, and every line says whose it is.
func content(id string, turn int, mark string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "begin %s turn %d\n", id, turn)
	for n := range fileLines {
		fmt.Fprintf(&b, "%s turn %d line %03d %s\n", id, turn, n, strings.Repeat("=", 60))
	}
	fmt.Fprintf(&b, "end %s turn %d %s\n", id, turn, mark)
	return b.String()
}

// script is what the agent of a task does: turn n in attempt n, or when a check has sent it back.
func (j *job) script() scripted.Script {
	var s scripted.Script
	for turn := 1; turn <= turns; turn++ {
		s.Turns = append(s.Turns, scripted.Turn{Steps: j.steps(turn), Message: j.ID + " is done"})
	}
	return s
}

func (j *job) steps(turn int) []scripted.Step {
	step := func(tool string, input map[string]any) scripted.Step {
		return scripted.Step{Tool: tool, Input: input, StopIfDenied: true}
	}
	own, hot, last, mark := j.files[0], j.files[1], fmt.Sprintf("end %s turn %d ", j.ID, turn), "done"
	if j.edits {
		mark = "open"
	}
	steps := []scripted.Step{
		step("Write", map[string]any{"file_path": own, "content": content(j.ID, turn, "done")}),
		step("Write", map[string]any{"file_path": hot, "content": content(j.ID, turn, mark)}),
	}
	if j.edits {
		steps = append(steps, step("Edit", map[string]any{"file_path": hot, "old_string": last + mark, "new_string": last + "done"}))
	}
	if j.trail != "" {
		// The lines come slowly, so that what outlives its worker is seen.
		line := fmt.Sprintf(`for i in 1 2 3; do echo "%s %d $FLEET_WS $FLEET_EPOCH $$ $i end" >> %s; sleep 0.02; done`, j.ID, turn, j.trail)
		at := turn % 2 * len(steps) // first of all, or last
		steps = slices.Insert(steps, at, step("Bash", map[string]any{"command": line}))
	}
	return steps
}

// load puts the graph into the run.
func (w *world) load(jobs []job) {
	w.t.Helper()
	tasks, scripts := make([]roster.NewTask, len(jobs)), make([]scripted.Script, len(jobs))
	for i, j := range jobs {
		tasks[i], scripts[i] = j.NewTask, j.script()
		for _, f := range j.paths() {
			check(w.t, os.MkdirAll(filepath.Join(w.repo, path.Dir(f)), 0o755))
		}
	}
	w.loadTasks(tasks, scripts)
}

// loadTasks puts tasks into the run, with what their agents do.
func (w *world) loadTasks(tasks []roster.NewTask, scripts []scripted.Script) {
	w.t.Helper()
	list := make([]map[string]any, len(tasks))
	for i, t := range tasks {
		list[i] = map[string]any{
			"id": t.ID, "title": t.Title, "priority": cmp.Or(t.Priority, roster.DefaultPriority), "max_attempts": t.MaxAttempts,
			"scope": append([]string{}, t.Scope...), "verify": t.Verify, "depends_on": append([]string{}, t.DependsOn...),
		}
		script, err := json.Marshal(scripts[i])
		check(w.t, err)
		check(w.t, os.WriteFile(w.dir.Script(t.ID), script, 0o644))
	}
	graph, err := json.Marshal(list)
	check(w.t, err)
	w.write("graph.json", string(graph))
	w.must(w.exe, "load", "graph.json")
}
