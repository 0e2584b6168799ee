package rundir

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
