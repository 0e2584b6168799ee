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

// WriteBrief makes the brief of a workstream's first task from the run's own
// template. A brief that is there already is somebody's work and stays.
func (d *Dir) WriteBrief(w *roster.Workstream, text string) (path string, err error) {
	path = d.Brief(w.ID)
	if _, err := os.Lstat(path); err == nil {
		return path, nil
	}
	claims := "No claims: write what the task needs. Files that another workstream holds or claims are denied."
	if len(w.Claims) > 0 {
		claims = "Yours alone: " + codeList(w.Claims) + "\n\nAsk for more with `fleet claim " + w.ID + " <path>` before you write elsewhere."
	}
	body, err := d.render("briefs/BRIEF_WS.md", map[string]string{
		"ws": w.ID, "title": w.Task, "task": strings.TrimSpace(text), "claims": claims, "run_dir": d.Rel(d.Path),
	})
	if err != nil {
		return path, err
	}
	return path, d.Write(path, []byte(body))
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
