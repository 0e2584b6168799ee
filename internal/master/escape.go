package master

import (
	"context"
	"maps"
	"strings"

	"fleet/internal/git"
	"fleet/roster"
)

// Rebaseline writes down how the main checkout stands, and returns how many paths are dirty in it.
func (f *Fleet) Rebaseline(ctx context.Context) (paths int, err error) {
	now, err := f.mainContents(ctx)
	if err != nil {
		return 0, err
	}
	return len(now), f.Dir.SetBaseline(now)
}

// firstBaseline writes the baseline of a run whose workers have trees of their
// own, unless there is one.
func (f *Fleet) firstBaseline(ctx context.Context) error {
	unlock, err := f.Dir.Exclusive(ctx, "baseline") // or one would take in what the worker of another does
	if err != nil {
		return err
	}
	defer unlock()
	baseline, err := f.Dir.Baseline()
	if err != nil || baseline != nil {
		return err
	}
	_, err = f.Rebaseline(ctx)
	return err
}

// Escapes compares the main checkout with its baseline, and notes what it finds.
func (f *Fleet) Escapes(ctx context.Context) ([]roster.Escape, error) {
	baseline, err := f.Dir.Baseline()
	if err != nil {
		return nil, err
	}
	if baseline == nil {
		return nil, roster.Usagef("the main checkout has no baseline").Hinted("fleet check-main --rebaseline")
	}
	now, err := f.mainContents(ctx)
	if err != nil {
		return nil, err
	}
	found := roster.Escapes(baseline, now)
	if len(found) == 0 {
		return nil, nil
	}
	writers := make(roster.Writers)
	for e, err := range f.Dir.Events(0) {
		if err != nil {
			return nil, err
		}
		writers.Saw(e)
	}
	for i := range found {
		found[i].Near = writers.Near(found[i].Path)
	}
	return found, f.Dir.Update(ctx, func(s *roster.State) error {
		s.NoteEscapes(found)
		return nil
	})
}

// mainContents is what differs from the last commit in the main checkout, without the runs' own files.
func (f *Fleet) mainContents(ctx context.Context) (roster.Contents, error) {
	now, err := git.In(f.Run, f.Dir.Root).Contents(ctx)
	maps.DeleteFunc(now, func(path, _ string) bool {
		rest, ok := strings.CutPrefix(path, "planning/fleet-")
		return ok && strings.Contains(rest, "/")
	})
	return now, err
}
