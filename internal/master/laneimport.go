package master

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"fleet/roster/lane"
)

// ImportLanes makes lanes of the agents of a native workflow and returns how many of them have results.
// What was imported before is imported anew.
func (f *Fleet) ImportLanes(ctx context.Context, from string, told func(lane.Imported)) (results int, err error) {
	if from, err = filepath.Abs(from); err != nil {
		return 0, err
	}
	all, err := lane.ReadNative(os.DirFS(from))
	if err != nil {
		return 0, err
	}
	journal, err := f.Dir.Journal()
	if err != nil {
		return 0, err
	}
	var packets []lane.Packet
	var records []lane.Record
	for _, i := range all {
		prompt := f.Dir.Packet(i.ID)
		if err := f.Dir.Write(prompt, []byte(i.Prompt)); err != nil {
			return 0, err
		}
		p := i.Packet(prompt, from)
		packets = append(packets, p)
		last, known := journal.Last(i.ID)
		start := i.Start(p, now())
		if !known {
			records = append(records, start)
		}
		if i.Result != nil {
			results++
			artifact, err := json.MarshalIndent(i.Envelope(), "", "  ")
			if err != nil {
				return 0, err
			}
			if err := f.Dir.Write(f.Dir.File(start.File(artifactFile)), append(artifact, '\n')); err != nil {
				return 0, err
			}
			if !last.Good() {
				records = append(records, start.End(start.File(artifactFile), "", now()))
			}
		}
		told(i)
	}
	if len(packets) == 0 {
		return 0, nil
	}
	if err := f.Dir.PutPackets(ctx, packets...); err != nil {
		return 0, err
	}
	return results, f.Dir.WriteJournal(ctx, records...)
}
