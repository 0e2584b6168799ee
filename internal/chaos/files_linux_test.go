package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// damage is what is wrong with the files that a drained graph has written.
func (w *world) damage(f *fold, jobs []job) (found []error) {
	looked := make(map[string]bool)
	for _, j := range jobs {
		for _, path := range j.paths() {
			how := w.wholeFile
			if path == j.trail {
				how = w.trail
			}
			if looked[path] {
				continue
			}
			looked[path] = true
			if err := how(f, path); err != nil {
				found = append(found, err)
			}
		}
	}
	return found
}

// wholeFile says what is wrong with a file that tasks write whole. The last one that held it has
// succeeded, since what failed was done again, and the file is as that one wrote it, whole.
func (w *world) wholeFile(f *fold, path string) error {
	raw, err := os.ReadFile(filepath.Join(w.repo, path))
	if err != nil {
		return err
	}
	var id string
	var turn int
	if _, err := fmt.Sscanf(string(raw), "begin %s turn %d\n", &id, &turn); err != nil || string(raw) != content(id, turn, "done") {
		return fmt.Errorf("%s is torn, or of several writers:\n%s", path, raw)
	}
	spans := f.spans[path]
	if last := spans[len(spans)-1]; last.Task != id || last.why != "task ended" {
		return fmt.Errorf("%s is as %s wrote it in turn %d, and the last to hold it was %+v", path, id, turn, last)
	}
	return nil
}

// line is one line of a trail: who wrote it, as which incarnation, in which call.
type line struct {
	task     string
	turn     int
	ws       string
	epoch    int
	pid, seq int
}

// trail says what is wrong with a file to which tasks add lines, so that all of their writes are
// seen: each is whole and falls into a lease of its writer, in the order in which the leases were held.
func (w *world) trail(f *fold, path string) error {
	raw, err := os.ReadFile(filepath.Join(w.repo, path))
	if err != nil {
		return err
	}
	if len(f.spans[path]) == 0 {
		return fmt.Errorf("%s was written, and nobody ever held it", path)
	}
	var errs []error
	at := 0
	for text := range strings.Lines(string(raw)) {
		var l line
		if _, err := fmt.Sscanf(text, "%s %d %s %d %d %d end\n", &l.task, &l.turn, &l.ws, &l.epoch, &l.pid, &l.seq); err != nil {
			errs = append(errs, fmt.Errorf("%s: the line %q is torn: %w", path, text, err))
			continue
		}
		next := slices.IndexFunc(f.spans[path][at:], func(s *span) bool { return s.Task == l.task && s.WS == l.ws && s.Epoch == l.epoch })
		if next < 0 {
			errs = append(errs, fmt.Errorf("%s: the line %q was written by none of those that held the file since %+v did", path, text, f.spans[path][at]))
			continue
		}
		at += next
	}
	return errors.Join(errs...)
}
