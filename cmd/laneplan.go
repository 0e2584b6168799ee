package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"fleet/roster"
	"fleet/roster/lane"
)

// plannedLane is a packet as people write it. What it leaves out is as on the command line.
type plannedLane struct {
	lane.Packet
	Prompt string `json:"prompt"` // in place of a file
}

// readPlan reads the packets of a plan. Paths in it are relative to its folder.
func (a *app) readPlan(path string, defaults lane.Packet) ([]lane.Packet, error) {
	text, err := a.readFile(path)
	if err != nil {
		return nil, err
	}
	var doc struct{ Packets []map[string]any }
	if err := yaml.Unmarshal(text, &doc.Packets); err != nil {
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, roster.Dataf("%s: %s", path, roster.Flat(err.Error()))
		}
	}
	if len(doc.Packets) == 0 {
		return nil, roster.Dataf("%s has no packets", path)
	}
	seen := make(map[string]bool)
	packets := make([]lane.Packet, len(doc.Packets))
	for i, fields := range doc.Packets {
		n := plannedLane{Packet: defaults}
		err := n.read(fields)
		if err == nil && seen[n.ID] {
			err = roster.Dataf("%s stands twice", n.ID)
		}
		if err == nil {
			seen[n.ID] = true
			packets[i] = n.resolve(filepath.Dir(path))
		}
		if err != nil {
			return nil, roster.Dataf("%s: packet %d: %v", path, i+1, err)
		}
	}
	return packets, nil
}

func (n *plannedLane) read(fields map[string]any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(n); err != nil {
		return err
	}
	if (n.Prompt == "") == (n.PromptFile == "") {
		return errors.New("want prompt or prompt_file")
	}
	n.Imported = ""
	return n.Check()
}

// resolve makes paths absolute.
func (n *plannedLane) resolve(folder string) lane.Packet {
	p := n.Packet
	for _, path := range []*string{&p.PromptFile, &p.Schema} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(folder, *path)
		}
	}
	if n.Prompt != "" {
		p.Text = []byte(n.Prompt)
	}
	return p
}
