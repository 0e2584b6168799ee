package rundir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fleet/roster"
	"fleet/roster/lane"
)

const (
	manifestFile = "lanes/manifest.json"
	journalFile  = "lanes/journal.jsonl"
)

// Packet is the file for the prompt of a lane that was given without one.
func (d *Dir) Packet(id string) string { return d.file("lanes/" + id + ".packet.txt") }

// LaneTree is the worktree of a lane that has one, absolute.
func (d *Dir) LaneTree(id string) string { return filepath.Join(d.Root, roster.LaneTree(d.Slug(), id)) }

// File is a file of the run by its path in the run dir.
func (d *Dir) File(name string) string { return d.file(filepath.FromSlash(name)) }

// LaneForm fills one of the run's forms for the prompts of lanes, which people may rewrite: "GUARD", "GUARD_NO_COMMIT",
// "REPAIR", "JUDGE", "REFUTE", "ROUND".
func (d *Dir) LaneForm(form string, values map[string]string) (string, error) {
	return d.render("lanes/"+form+".md", values)
}

// Manifest reads the run's packets. A run without lanes has an empty one.
func (d *Dir) Manifest() (lane.Manifest, error) {
	text, err := os.ReadFile(d.file(manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return lane.NewManifest(d.Slug(), d.Config.Base), nil
	}
	if err != nil {
		return lane.Manifest{}, err
	}
	return lane.ReadManifest(text)
}

// PutPackets enters packets into the manifest.
func (d *Dir) PutPackets(ctx context.Context, packets ...lane.Packet) error {
	unlock, err := d.Exclusive(ctx, "lanes")
	if err != nil {
		return err
	}
	defer unlock()
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	m.Put(packets...)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return d.Write(d.file(manifestFile), append(text, '\n'))
}

// Journal reads what the run's lanes were asked and what has come of it.
func (d *Dir) Journal() (lane.Journal, error) {
	text, err := os.ReadFile(d.file(journalFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return lane.Journal{}, err
	}
	return lane.ReadJournal(text), nil
}

// WriteJournal appends records. After a line that a kill or a full disk has torn, it begins a new one.
func (d *Dir) WriteJournal(ctx context.Context, records ...lane.Record) error {
	unlock, err := d.Exclusive(ctx, "lanes")
	if err != nil {
		return err
	}
	defer unlock()
	path := d.file(journalFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var lines bytes.Buffer
	if torn(f) {
		lines.WriteByte('\n')
	}
	for _, r := range records {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			return err
		}
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// torn reports whether a file doesn't end with the end of a line.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err != nil || last[0] != '\n'
}
