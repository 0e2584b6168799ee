package roster

import "path"

// scopes answers whether a path, directory or glob meets one of many others,
// without looking at each of them.
type scopes struct {
	owners map[string]string // who works on exactly this; "" is several
	above  map[string]string // who works on something below this directory
}

func newScopes() scopes { return scopes{map[string]string{}, map[string]string{}} }

func (b scopes) add(ws string, list ...string) {
	for _, p := range list {
		p = scope(p)
		own(b.owners, p, ws)
		for p != "." {
			p = path.Dir(p)
			own(b.above, p, ws)
		}
	}
}

func own(m map[string]string, key, ws string) {
	if owner, known := m[key]; known && owner != ws {
		ws = ""
	}
	m[key] = ws
}

// clashes reports whether a task would meet the work of another. A pinned task doesn't clash with
// what its own workstream holds, and one without a scope never clashes.
func (b scopes) clashes(t *Task) bool {
	mine := "-"
	if t.Pinned {
		mine = t.Workstream
	}
	foreign := func(m map[string]string, key string) bool {
		owner, known := m[key]
		return known && owner != mine
	}
	for _, p := range t.Scope {
		p = scope(p)
		if foreign(b.above, p) {
			return true
		}
		for ; ; p = path.Dir(p) {
			if foreign(b.owners, p) {
				return true
			}
			if p == "." {
				break
			}
		}
	}
	return false
}
