package rundir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	planningtemplate "fleet/planning-template"
	"fleet/roster"
)

// The lines between which a handoff is fleet's. What people and agents write
// outside of them stays when the handoff is written anew.
const (
	handoffBegins = "<!-- fleet: from here on, this is written anew at every handoff -->"
	handoffEnds   = "<!-- fleet: down to here; what you write below stays -->"
)

// HandoffPrompt is the one thin line with which an agent goes on where another one stopped.
func (d *Dir) HandoffPrompt(ws, task string) string {
	return "read " + d.Handoff(ws) + " and " + d.Brief(task) + ", go on; coordinate only through fleet"
}

// WriteHandoff writes down where a workstream stands, for the worker that goes
// on: its row, what it holds, and the lines that say what isn't committed in its tree.
func (d *Dir) WriteHandoff(ctx context.Context, ws string, dirty []string) error {
	values, err := d.standing(ctx, ws)
	if err != nil {
		return err
	}
	values["dirty"] = "    " + strings.Join(dirty, "\n    ")
	form, err := d.handoffForm()
	if err != nil {
		return err
	}
	written, err := os.ReadFile(d.Handoff(ws))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.Write(d.Handoff(ws), []byte(mergeHandoff(string(written), filled(form, values)))); err != nil {
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

// standing is where a workstream stands, in the words of the template.
func (d *Dir) standing(ctx context.Context, ws string) (values map[string]string, err error) {
	err = d.View(ctx, func(s *roster.State) error {
		w, err := s.Workstream(ws)
		if err != nil {
			return err
		}
		var held []string
		for _, l := range s.Held(ws) {
			held = append(held, l.Path)
		}
		values = map[string]string{
			"ws": ws, "title": w.Task, "task": orDash(w.TaskID), "status": string(w.Status), "note": orDash(w.Notes),
			"claims": orDash(codeList(w.Claims)), "leases": orDash(codeList(held)), "at": roster.Time{Time: s.Now}.String(),
			"landed_sha": orDash(w.LandedSHA), "migration_num": orDash(w.MigrationNum), "scratch_db": orDash(w.ScratchDB),
			"tree": d.Tree(w),
		}
		return nil
	})
	return values, err
}

// handoffForm is the run's own template, or the one that every run starts with.
func (d *Dir) handoffForm() (string, error) {
	const name = "handoffs/HANDOFF_WS.md"
	text, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = planningtemplate.Files.ReadFile(name)
	}
	return string(text), err
}

// mergeHandoff puts fleet's part into a handoff in the place of the one that
// stands there. One that has none, or not both of its marks, is all somebody's own.
func mergeHandoff(written, part string) string {
	part = handoffBegins + "\n" + strings.TrimSpace(part) + "\n" + handoffEnds + "\n"
	above, rest, begins := cutLine(written, handoffBegins)
	_, below, ends := cutLine(rest, handoffEnds)
	switch {
	case begins && ends:
		return above + part + below
	case begins:
		written = above + rest
	}
	if written != "" {
		part += "\n"
	}
	return part + written
}

// cutLine is strings.Cut around the first line of a text that says just this.
func cutLine(text, line string) (before, after string, found bool) {
	at := 0
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == line {
			return text[:at], text[at+len(l):], true
		}
		at += len(l)
	}
	return text, "", false
}
