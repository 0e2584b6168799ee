package roster

import (
	"maps"
	"path"
	"slices"
)

// Contents are the paths that differ from the last commit in a checkout, each with
// a word that stands for what is there now.
type Contents map[string]string

// Escape is something in the main checkout that was not there when its baseline
// was taken, although workers have trees of their own.
type Escape struct {
	Path string
	What string // new or changed
	Near string // the workstream that last wrote this path, or else in its directory; "-" if none did
}

// Escapes compares the main checkout with its baseline. A path that was dirty and
// isn't any more was committed or put back, by whoever may.
func Escapes(baseline, now Contents) []Escape {
	var found []Escape
	for _, p := range slices.Sorted(maps.Keys(now)) {
		switch before, known := baseline[p]; {
		case !known:
			found = append(found, Escape{p, "new", "-"})
		case before != now[p]:
			found = append(found, Escape{p, "changed", "-"})
		}
	}
	return found
}

// Writers are those who last wrote to paths and, by their names with a slash behind, to directories.
type Writers map[string]string

// Saw takes in an event; later ones count.
func (w Writers) Saw(e Event) {
	if p, ok := e.Data["path"].(string); ok && e.Type == FileChanged {
		w[p], w[path.Dir(p)+"/"] = e.WS, e.WS
	}
}

// Near is who last wrote a path, or else in its directory, "-" if nobody did.
func (w Writers) Near(p string) string {
	for _, at := range []string{p, path.Dir(p) + "/"} {
		if ws := w[at]; ws != "" {
			return ws
		}
	}
	return "-"
}

// NoteEscapes writes down what was found.
func (s *State) NoteEscapes(found []Escape) {
	for _, e := range found {
		s.Note(EscapeDetected, "", "", map[string]any{"path": e.Path, "what": e.What, "near": e.Near})
	}
}
