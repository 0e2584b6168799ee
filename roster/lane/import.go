package lane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"fleet/roster"
)

// Imported is an agent of another program's workflow, as its folder tells of it.
type Imported struct {
	ID     string
	Key    string
	Prompt string          // the first thing it was told; empty if its transcript is missing
	Result json.RawMessage // nil for one that has not ended
}

// ReadNative reads a folder of a native workflow: its journal, and a transcript for each agent. The
// agents are in the order in which they were started.
func ReadNative(dir fs.FS) ([]Imported, error) {
	journal, err := fs.ReadFile(dir, "journal.jsonl")
	if err != nil {
		return nil, roster.Usagef("no workflow: %v", err).Hinted("name a folder wf_… that has a journal.jsonl")
	}
	var all []Imported
	at := make(map[string]int)
	for line := range bytes.Lines(journal) {
		var r struct {
			Type   string          `json:"type"`
			Key    string          `json:"key"`
			Agent  string          `json:"agentId"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &r) != nil || !idPattern().MatchString(r.Agent) {
			continue
		}
		i, known := at[r.Agent]
		if !known {
			i = len(all)
			at[r.Agent] = i
			all = append(all, Imported{ID: r.Agent, Key: r.Key})
		}
		if r.Type == Result && len(r.Result) > 0 {
			all[i].Result = r.Result
		}
	}
	for i := range all {
		if all[i].Prompt, err = firstPrompt(dir, "agent-"+all[i].ID+".jsonl"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// firstPrompt is the first text of the user's role in a transcript.
func firstPrompt(dir fs.FS, name string) (string, error) {
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if text := userText(line); text != "" {
			return text, nil
		}
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}

// userText is what the user says in a line of a transcript: a string, or blocks of which some are text.
func userText(line []byte) string {
	var m struct {
		Message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &m) != nil || m.Message.Role != "user" {
		return ""
	}
	var text string
	if json.Unmarshal(m.Message.Content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Message.Content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		if b.Type == "text" && b.Text != "" {
			return b.Text
		}
	}
	return ""
}

// Start is its record in the journal, of the only asking that there will be.
func (i *Imported) Start(p Packet, now roster.Time) Record {
	return Record{Type: Started, Key: p.Key, ID: p.ID, Ask: 1, Brain: Native, Phase: p.Phase, Version: version, At: now}
}

// Envelope is the artifact of an imported result: the result itself, as text.
func (i *Imported) Envelope() Envelope {
	failed := false
	return Envelope{IsError: &failed, Result: string(i.Result), Brain: Native}
}

// Packet is its entry in the manifest.
func (i *Imported) Packet(promptFile, from string) Packet {
	return Packet{ID: i.ID, Brain: Native, Phase: "imported", PromptFile: promptFile, Key: i.Key, Imported: from}
}
