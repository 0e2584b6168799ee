package rundir

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fleet/roster"
)

// Brief is what the prompt of a task is made from.
type Brief struct {
	Task   string
	Title  string
	Text   string   // whole
	WS     string   // of a workstream's first task, the workstream; its claims are named then
	Claims []string // of that
	Scope  []string // paths that the task is expected to touch
}

// Prompt is the one thin line with which an agent begins a task.
func (d *Dir) Prompt(task string) string {
	return "read " + d.Brief(task) + " and start; coordinate only through fleet"
}

// AddWorkstream registers a workstream with its first task, and writes the brief of that.
func (d *Dir) AddWorkstream(ctx context.Context, n roster.NewWorkstream) error {
	return d.add(ctx, func(s *roster.State) ([]Brief, error) {
		if err := s.Add(n); err != nil {
			return nil, err
		}
		w, err := s.Workstream(n.ID)
		if err != nil {
			return nil, err
		}
		return []Brief{{Task: n.ID, Title: w.Task, Text: n.Text, WS: n.ID, Claims: w.Claims}}, nil
	})
}

// AddTasks puts tasks into the graph, all of them or none, writes their briefs,
// and returns their ids. One without an id that isn't pinned gets a random one.
func (d *Dir) AddTasks(ctx context.Context, batch []roster.NewTask) (ids []string, err error) {
	batch = slices.Clone(batch)
	for i := range batch {
		if batch[i].ID == "" && batch[i].Workstream == "" {
			batch[i].ID = newTaskID()
		}
	}
	err = d.add(ctx, func(s *roster.State) (briefs []Brief, err error) {
		briefs, err = addTasks(s, batch)
		ids = ids[:0]
		for _, b := range briefs {
			ids = append(ids, b.Task)
		}
		return briefs, err
	})
	return ids, err
}

// AddQueues registers workstreams with the tasks that are pinned to them, all of them or none.
func (d *Dir) AddQueues(ctx context.Context, streams []roster.NewWorkstream, queue []roster.NewTask) error {
	return d.add(ctx, func(s *roster.State) ([]Brief, error) {
		for _, n := range streams {
			if err := s.AddSlot(n); err != nil {
				return nil, err
			}
		}
		return addTasks(s, queue)
	})
}

func addTasks(s *roster.State, batch []roster.NewTask) ([]Brief, error) {
	ids, err := s.AddTasks(batch)
	if err != nil {
		return nil, err
	}
	briefs := make([]Brief, len(batch))
	for i, n := range batch {
		briefs[i] = Brief{Task: ids[i], Title: roster.Title(cmp.Or(n.Title, n.Description)), Text: n.Description, Scope: n.Scope}
	}
	return briefs, nil
}

func newTaskID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "t_" + hex.EncodeToString(b[:])
}

// add applies a transition that adds tasks, and writes the briefs that it returns
// first: whoever sees a task finds its brief. fn is called twice.
func (d *Dir) add(ctx context.Context, fn func(*roster.State) ([]Brief, error)) error {
	unlock, err := d.Exclusive(ctx, "briefs")
	if err != nil {
		return err
	}
	defer unlock()
	var briefs []Brief
	err = d.View(ctx, func(s *roster.State) (err error) {
		briefs, err = fn(s)
		return err
	})
	if err != nil {
		return err
	}
	made, err := d.writeBriefs(briefs)
	if err == nil {
		err = d.Update(ctx, func(s *roster.State) error { _, err := fn(s); return err })
	}
	if err != nil {
		for _, path := range made {
			_ = os.Remove(path) // no task needs it
		}
	}
	return err
}

// writeBriefs returns the files that it made. A brief that is there already is somebody's work and stays.
func (d *Dir) writeBriefs(briefs []Brief) (made []string, err error) {
	for _, b := range briefs {
		path := d.Brief(b.Task)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		body, err := d.briefText(b)
		if err != nil {
			return made, err
		}
		made = append(made, path)
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			return made, err
		}
	}
	return made, nil
}

// briefText makes a brief from the run's own template.
func (d *Dir) briefText(b Brief) (string, error) {
	text := strings.TrimSpace(cmp.Or(b.Text, b.Title))
	if b.WS != "" {
		return d.render("briefs/BRIEF_WS.md", map[string]string{
			"ws": b.WS, "title": b.Title, "task": text, "claims": claimsText(b), "run_dir": d.Rel(d.Path),
		})
	}
	return d.render("briefs/BRIEF_TASK.md", map[string]string{
		"task": b.Task, "title": b.Title, "text": text, "scope": scopeText(b.Scope),
	})
}

func claimsText(b Brief) string {
	if len(b.Claims) == 0 {
		return "No claims: write what the task needs. Files that another workstream holds or claims are denied."
	}
	return "Yours alone: " + codeList(b.Claims) + "\n\nAsk for more with `fleet claim " + b.WS + " <path>` before you write elsewhere."
}

func scopeText(scope []string) string {
	if len(scope) == 0 {
		return "Whatever the task needs."
	}
	return "Expected: " + codeList(scope) + ". That is a hint, not a limit."
}

// WriteHandoff writes down where a workstream stands, for the worker that goes on.
func (d *Dir) WriteHandoff(ctx context.Context, ws string, epoch int) error {
	var values map[string]string
	err := d.View(ctx, func(s *roster.State) error {
		if err := s.Fence(ws, epoch); err != nil {
			return err
		}
		w, err := s.Workstream(ws)
		if err != nil {
			return err
		}
		var held []string
		for l := range s.Leases.All() {
			if l.WS == ws {
				held = append(held, l.Path)
			}
		}
		values = map[string]string{
			"ws": ws, "title": w.Task, "task": orDash(w.TaskID), "status": string(w.Status), "note": orDash(w.Notes),
			"claims": orDash(codeList(w.Claims)), "leases": orDash(codeList(held)), "at": roster.Time{Time: s.Now}.String(),
		}
		return nil
	})
	if err != nil {
		return err
	}
	body, err := d.render("handoffs/HANDOFF_WS.md", values)
	if err != nil {
		return err
	}
	if err := d.Write(d.Handoff(ws), []byte(body)); err != nil {
		return err
	}
	return d.Update(ctx, func(s *roster.State) error {
		w, err := s.Workstream(ws)
		if err == nil {
			s.Note(roster.HandoffWritten, ws, w.TaskID, map[string]any{"path": d.Rel(d.Handoff(ws))})
		}
		return err
	})
}

// render fills the {{words}} of one of the run's templates. People may have rewritten it; words that it lacks are no fault.
func (d *Dir) render(template string, values map[string]string) (string, error) {
	text, err := os.ReadFile(filepath.Join(d.Path, template))
	if errors.Is(err, fs.ErrNotExist) {
		return "", roster.Dataf("template %s is missing from the run dir", template)
	}
	if err != nil {
		return "", err
	}
	pairs := make([]string, 0, 2*len(values))
	for k, v := range values {
		pairs = append(pairs, "{{"+k+"}}", v)
	}
	return strings.NewReplacer(pairs...).Replace(string(text)), nil
}

func codeList(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return "`" + strings.Join(values, "`, `") + "`"
}

func orDash(s string) string { return cmp.Or(s, "-") }
