package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fleet/roster"
)

// watch looks at the run at each change until the context ends, as one who takes the lock
// and as one who doesn't, and returns the first thing that must not be.
func (w *world) watch(ctx, until context.Context, f *fold) (looks int, err error) {
	wake, stop := w.dir.Changes()
	defer stop()
	for {
		looks++
		if err := errors.Join(w.look(ctx, f), w.legible()); err != nil {
			return looks, err
		}
		select {
		case <-until.Done():
			return looks, nil
		case <-wake:
		}
	}
}

// look compares the tables with what the events up to now make of them.
func (w *world) look(ctx context.Context, f *fold) error {
	return w.dir.View(ctx, func(s *roster.State) error {
		for e, err := range w.dir.Events(f.last) {
			if err != nil {
				return err
			}
			if err := f.take(e); err != nil {
				return err
			}
		}
		return f.differs(s)
	})
}

// legible says what is wrong with the tables as cat shows them at any moment.
func (w *world) legible() error {
	for _, name := range []string{"roster.tsv", "tasks.tsv", "leases.tsv"} {
		raw, err := os.ReadFile(filepath.Join(w.dir.Path, name))
		if name == "leases.tsv" && errors.Is(err, os.ErrNotExist) {
			continue // nobody has written yet
		}
		if err != nil {
			return err
		}
		table := string(raw)
		if name == "leases.tsv" { // it grows, and its last line may be on its way
			table = table[:strings.LastIndexByte(table, '\n')+1]
		}
		if err := whole(table); err != nil {
			return fmt.Errorf("%s: %w:\n%s", name, err, raw)
		}
	}
	return nil
}

// whole says what is torn in a table: a line, or a row that lacks cells or comes twice.
func whole(table string) error {
	if !strings.HasSuffix(table, "\n") {
		return errors.New("it is torn")
	}
	header, rows, _ := strings.Cut(table, "\n")
	seen := make(map[string]bool)
	for row := range strings.Lines(rows) {
		key, _, _ := strings.Cut(row, "\t")
		if strings.Count(row, "\t") != strings.Count(header, "\t") || seen[key] {
			return fmt.Errorf("the row %q is torn, or comes twice", row)
		}
		seen[key] = true
	}
	return nil
}
