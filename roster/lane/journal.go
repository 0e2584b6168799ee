package lane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"fleet/roster"
)

// Record is a line of the journal: a packet was given to an agent, or has its result. What belongs to one
// asking bears its number, and is never written again.
type Record struct {
	Type     string      `json:"type"` // Started or Result
	Key      string      `json:"key"`
	ID       string      `json:"id"`
	Ask      int         `json:"ask,omitempty"` // which asking of the lane it is, from 1
	Brain    string      `json:"brain"`
	Phase    string      `json:"phase,omitempty"`
	WS       string      `json:"ws_id,omitempty"`
	Task     string      `json:"task_id,omitempty"`  // that carries it out
	Packet   *Packet     `json:"packet,omitempty"`   // of a start: what was asked, as it was then
	RC       *int        `json:"rc,omitempty"`       // of a result: 0, or 10 if it does not count
	Artifact string      `json:"artifact,omitempty"` // of a result: its file, relative to the run dir; empty if the agent left none
	Tools    int         `json:"tools,omitempty"`    // of a result: how often the agent used one
	Reason   string      `json:"reason,omitempty"`   // why it does not count
	Version  int         `json:"v"`
	At       roster.Time `json:"at"`
}

// The types of records.
const (
	Started = "started"
	Result  = "result"
)

// The codes of results.
const (
	RCGood   = 0
	RCFailed = 10
)

// version is that of the records and of the manifest.
const version = 1

// Start is the record that a packet is given to an agent: the next asking of its lane.
func (j *Journal) Start(p Packet, ws, task string, now roster.Time) Record {
	return Record{
		Type: Started, Key: p.Key, ID: p.ID, Ask: j.asks[p.ID] + 1, Brain: p.Brain, Phase: p.Phase, WS: ws, Task: task, Packet: &p, Version: version, At: now,
	}
}

// File is one of the files of an asking, relative to the run dir: "prompt.txt", "schema.json", "result.json",
// "events.jsonl", "err", "transcript.jsonl".
func (r *Record) File(what string) string { return fmt.Sprintf("lanes/%s.%d.%s", r.ID, r.Ask, what) }

// End is the record of what a started packet has brought: an artifact, or none, and, if that doesn't count, why.
func (r Record) End(artifact, reason string, now roster.Time) Record {
	rc := RCGood
	if reason != "" {
		rc = RCFailed
	}
	r.Type, r.Packet, r.RC, r.Artifact, r.Reason, r.At = Result, nil, &rc, artifact, reason, now
	return r
}

// Good reports whether a record is that of a result which counts.
func (r *Record) Good() bool { return r.Type == Result && r.RC != nil && *r.RC == RCGood }

// Journal is what a run's lanes have been asked, and what has come of it.
type Journal struct {
	last map[string]Record // by lane
	good map[string]Record // by key
	ask  map[string]Record // starts, by the task that carries them out
	end  map[string]Record // results, by the same
	asks map[string]int    // how many there were, by lane
}

// ReadJournal reads the lines of a journal. One that is torn, by a full disk or a kill, says nothing.
func ReadJournal(text []byte) Journal {
	j := Journal{make(map[string]Record), make(map[string]Record), make(map[string]Record), make(map[string]Record), make(map[string]int)}
	for line := range bytes.Lines(text) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			j.add(r)
		}
	}
	return j
}

func (j *Journal) add(r Record) {
	j.last[r.ID] = r
	j.asks[r.ID] = max(j.asks[r.ID], r.Ask)
	switch {
	case r.Type == Started:
		j.ask[r.Task] = r
	case r.Good():
		j.good[r.Key] = r
		fallthrough
	default:
		j.end[r.Task] = r
	}
}

// Last is the last record of a lane. What it says is how the lane stands.
func (j *Journal) Last(id string) (Record, bool) { r, ok := j.last[id]; return r, ok }

// Asked is the packet that a task carries out, as it was given.
func (j *Journal) Asked(task string) (Record, bool) { r, ok := j.ask[task]; return r, ok }

// Ended is the result of the packet that a task carried out.
func (j *Journal) Ended(task string) (Record, bool) { r, ok := j.end[task]; return r, ok }

// Hit is the newest good result of a key.
func (j *Journal) Hit(key string) (Record, bool) { r, ok := j.good[key]; return r, ok }

// Manifest is the packets of a run, in the order in which they were last asked for.
type Manifest struct {
	Version   int      `json:"version"`
	Run       string   `json:"run"`
	Base      string   `json:"base"`
	CreatedBy string   `json:"created_by"`
	Phases    []string `json:"phases"`
	Packets   []Packet `json:"packets"`
}

// NewManifest is that of a run without lanes.
func NewManifest(run, base string) Manifest {
	return Manifest{Version: version, Run: run, Base: base, CreatedBy: "fleet", Phases: []string{}, Packets: []Packet{}}
}

// ReadManifest reads a manifest. One of another version is not guessed at.
func ReadManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, roster.Dataf("the manifest is not readable: %v", err).Hinted("move it away: lanes that are asked for again make a new one, and the journal keeps their results")
	}
	if m.Version != version {
		return m, roster.Dataf("the manifest is of version %d, and this fleet writes %d", m.Version, version).Hinted("move it away, or use the fleet that made it")
	}
	return m, nil
}

// Put enters packets. One with the id of an earlier one takes its place, at the end.
func (m *Manifest) Put(packets ...Packet) {
	at := make(map[string]bool, len(packets))
	for _, p := range packets {
		at[p.ID] = true
		if !slices.Contains(m.Phases, p.Phase) {
			m.Phases = append(m.Phases, p.Phase)
		}
	}
	m.Packets = append(slices.DeleteFunc(m.Packets, func(p Packet) bool { return at[p.ID] }), packets...)
}

// Packet is the one of an id.
func (m *Manifest) Packet(id string) (Packet, bool) {
	i := slices.IndexFunc(m.Packets, func(p Packet) bool { return p.ID == id })
	if i < 0 {
		return Packet{}, false
	}
	return m.Packets[i], true
}
