package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"fleet/roster"
)

// tally is what one workstream did.
type tally struct {
	wrote, denied []string
}

// summary prints who wrote what and who was denied, and checks that the veto
// happened and that no write was lost.
func (d *demo) summary() (ok bool, err error) {
	tallies, err := d.count()
	if err != nil {
		return false, err
	}
	d.say("")
	w := tabwriter.NewWriter(d.Out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "WORKER\tWROTE\tDENIED")
	for _, p := range parts {
		t := tallies[p.ws]
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", p.ws, p.name, list(t.wrote), list(t.denied))
	}
	if err := w.Flush(); err != nil {
		return false, err
	}
	text, err := os.ReadFile(filepath.Join(d.repo, contested))
	if err != nil {
		return false, err
	}
	d.say("\n%s:\n  %s", contested, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
	vetoed := len(tallies[waiter].denied) > 0
	lost := slices.ContainsFunc(parts, func(p part) bool { return !strings.Contains(string(text), p.entry) })
	switch {
	case !vetoed:
		d.say("\n%s", d.paint(red, "no write was denied: the demo has shown nothing"))
	case lost:
		d.say("\n%s", d.paint(red, "a write was lost"))
	default:
		d.say("\n%s", d.paint(green, "one write was denied while another worker held the file, went through afterwards, and nothing was lost."))
	}
	if d.Keep {
		d.say("kept: %s", d.repo)
	}
	return vetoed && !lost, nil
}

func (d *demo) count() (map[string]*tally, error) {
	tallies := make(map[string]*tally)
	for _, p := range parts {
		tallies[p.ws] = &tally{}
	}
	for e, err := range d.fleet.Dir.Events(0) {
		if err != nil {
			return nil, err
		}
		path, _ := e.Data["path"].(string)
		t := tallies[e.WS]
		switch e.Type {
		case roster.FileChanged:
			if !slices.Contains(t.wrote, path) {
				t.wrote = append(t.wrote, path)
			}
		case roster.LeaseDenied:
			t.denied = append(t.denied, fmt.Sprintf("%s (by %v)", path, e.Data["holder"]))
		}
	}
	return tallies, nil
}

func list(values []string) string {
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, ", ")
}
