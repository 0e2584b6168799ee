package hooks

import (
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"fleet/hooks/effect"
	"fleet/roster"
)

// maxMatches bounds how many files of one glob are checked one by one.
const maxMatches = 1000

// expand gives the paths that a target of a shell command stands for in this tree,
// and whether everything below them changes, too.
func expand(t tree, target effect.Target) (paths []string, wholeTree bool) {
	path := target.Path
	if target.Into != "" && t.isDir(path) {
		path = target.Into
	}
	if !target.Pattern {
		return []string{path}, target.Tree
	}
	matches, err := doublestar.FilepathGlob(path, doublestar.WithNoFollow())
	if len(matches) == 0 && err == nil { // a new file, in a directory to which a cd went by a pattern
		matches, err = doublestar.FilepathGlob(filepath.Dir(path), doublestar.WithNoFollow())
		for i, dir := range matches {
			matches[i] = filepath.Join(dir, filepath.Base(path))
		}
	}
	for i, match := range matches {
		if target.Into != "" && t.isDir(match) {
			matches[i] = filepath.Join(match, filepath.Base(target.Into))
		}
	}
	switch {
	case err != nil || len(matches) == 0:
		return []string{path}, target.Tree // as it stands it may be the very name of a file
	case len(matches) > maxMatches:
		dir, _ := doublestar.SplitPattern(path)
		return []string{dir}, true
	}
	return matches, target.Tree
}

// add puts a path of a shell command among the writes. What lies outside the tree
// is none of the fleet's business here: shells write temporary files.
func (w *writes) add(t tree, path string, wholeTree bool) error {
	key, err := t.key(path)
	if err != nil {
		return err
	}
	switch {
	case key == ".":
		if wholeTree {
			w.trees = append(w.trees, key)
		}
	case !roster.IsLocal(key):
	case t.isDir(key):
		if wholeTree {
			w.trees = append(w.trees, key)
		}
	case !slices.Contains(w.paths, key):
		w.paths = append(w.paths, key)
	}
	return nil
}
