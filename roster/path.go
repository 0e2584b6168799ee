package roster

import (
	"path"
	"strings"
)

// IsLocal reports whether p is a clean path below the root of the tree.
func IsLocal(p string) bool {
	return path.Clean(p) == p && p != "." && p != ".." && !path.IsAbs(p) && !strings.HasPrefix(p, "../")
}

// isKey reports whether p can be leased: a path of the tree that a cell of a table holds unchanged.
func isKey(p string) bool { return IsLocal(p) && Flat(p) == p }

// protected reports whether p is one of the files that decide over the rules
// themselves: run files, git's own files, the settings that carry agents' hooks.
func protected(w *Workstream, p string) bool {
	if p == "planning" || strings.HasPrefix(p, "planning/fleet-") {
		return !ownNotes(w, p)
	}
	if p == ".git" || strings.HasPrefix(p, ".git/") {
		return true
	}
	dir, file := path.Split(p)
	switch path.Base(dir) {
	case ".claude":
		return file == "settings.json" || file == "settings.local.json"
	case ".codex":
		return file == "config.toml" || file == "hooks.json"
	case ".gemini":
		return file == "settings.json"
	}
	return false
}

// protectedBelow reports whether dir is, or lies in, something protected, or is a
// directory of settings. The whole tree isn't: who formats all of it means the sources.
func protectedBelow(w *Workstream, dir string) bool {
	switch path.Base(dir) {
	case ".claude", ".codex", ".gemini":
		return true
	}
	return protected(w, dir)
}

// ownNotes reports whether p is a run file that its workstream may edit: its brief and its handoff.
func ownNotes(w *Workstream, p string) bool {
	rest, ok := strings.CutPrefix(p, "planning/fleet-")
	if !ok {
		return false
	}
	_, rest, _ = strings.Cut(rest, "/")
	return rest == "handoffs/HANDOFF_"+w.ID+".md" || rest == "briefs/"+w.ID+".md" ||
		w.TaskID != "" && rest == "briefs/"+w.TaskID+".md"
}
