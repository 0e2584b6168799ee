package rundir

import (
	"cmp"
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

// render fills the {{words}} of one of the run's templates. People may have rewritten it; words that it lacks are no fault.
func (d *Dir) render(template string, values map[string]string) (string, error) {
	text, err := os.ReadFile(filepath.Join(d.Path, template))
	if errors.Is(err, fs.ErrNotExist) {
		return "", roster.Dataf("template %s is missing from the run dir", template)
	}
	if err != nil {
		return "", err
	}
	return filled(string(text), values), nil
}

func filled(form string, values map[string]string) string {
	pairs := make([]string, 0, 2*len(values))
	for k, v := range values {
		pairs = append(pairs, "{{"+k+"}}", v)
	}
	return strings.NewReplacer(pairs...).Replace(form)
}

func codeList(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return "`" + strings.Join(values, "`, `") + "`"
}

func orDash(s string) string { return cmp.Or(s, "-") }
