package web

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"fleet/internal/master"
	"fleet/internal/progress"
	"fleet/roster"
)

// Export writes the page into a directory, where any static server can serve it, or a browser open it.
func Export(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range pageFiles() {
		text, err := fs.ReadFile(page, "page/"+name)
		if err == nil {
			err = renameio.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// document is a snapshot for a page that hears of no events: the last ones are in it.
type document struct {
	master.Snapshot
	Events []line `json:"events"`
}

// line is an event with what it says in words.
type line struct {
	roster.Event
	Said string `json:"said"`
	Tone string `json:"tone"`
}

const lastEvents = 500

func newDocument(ctx context.Context, f *master.Fleet) (doc document, err error) {
	if doc.Snapshot, err = f.Snapshot(ctx); err != nil {
		return doc, err
	}
	doc.Events = []line{}
	for e, err := range f.Dir.Events(max(0, doc.LastEvent-lastEvents)) {
		if err != nil {
			return doc, err
		}
		said, tone := progress.Say(e)
		doc.Events = append(doc.Events, line{e, said, tone.String()})
	}
	return doc, nil
}

// WriteState writes the snapshot of a run into files, each whole or not at all. One whose name
// ends in .js gets it as a script: a page from the disk may read no file, but run it.
func WriteState(ctx context.Context, f *master.Fleet, paths ...string) error {
	state, err := newDocument(ctx, f)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(state)
	if err != nil {
		return err
	}
	for _, path := range paths {
		text := string(doc) + "\n"
		if filepath.Ext(path) == ".js" {
			text = "window.fleetStatus = " + string(doc) + ";\n"
		}
		if err := renameio.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
