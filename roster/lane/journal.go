package lane

import (
	"bytes"
	"encoding/json"
	"slices"

	"fleet/roster"
)

// Record is a line of the journal: a packet was given to an agent, or has its result.
type Record struct {
	Type     string      `json:"type"` // Started or Result
	Key      string      `json:"key"`
	ID       string      `json:"id"`
	Brain    string      `json:"brain"`
	Phase    string      `json:"phase,omitempty"`
	WS       string      `json:"ws_id,omitempty"`
	Task     string      `json:"task_id,omitempty"`
	RC       *int        `json:"rc,omitempty"`       // of a result: 0, or 10 if it does not count
	Artifact string      `json:"artifact,omitempty"` // of a result: its file, relative to the run dir
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

// Start is the record that a packet was given to an agent.
func (p *Packet) Start(ws, task string, now roster.Time) Record {
	return Record{Type: Started, Key: p.Key, ID: p.ID, Brain: p.Brain, Phase: p.Phase, WS: ws, Task: task, Version: version, At: now}
}

// Artifact is the file of a lane's result, relative to the run dir.
func Artifact(id string) string { return "lanes/" + id + ".result.json" }

// End is the record of what a started packet has brought; reason is empty for a result that counts.
func (r Record) End(reason string, now roster.Time) Record {
	rc := RCGood
	if reason != "" {
		rc = RCFailed
	}
	r.Type, r.RC, r.Artifact, r.Reason, r.At = Result, &rc, Artifact(r.ID), reason, now
	return r
}

// Good reports whether a record is that of a result which counts.
func (r *Record) Good() bool { return r.Type == Result && r.RC != nil && *r.RC == RCGood }

// Journal is what a run's lanes have been asked, and what has come of it.
type Journal struct {
	IDs  []string // in the order in which they were first started
	last map[string]Record
	good map[string]Record // by key
	task map[string]Record // by the task that carried it out
}

// ReadJournal reads the lines of a journal. One that is torn, by a full disk or a kill, says nothing.
func ReadJournal(text []byte) Journal {
	j := Journal{last: make(map[string]Record), good: make(map[string]Record), task: make(map[string]Record)}
	for line := range bytes.Lines(text) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			j.add(r)
		}
	}
	return j
}

func (j *Journal) add(r Record) {
	if _, known := j.last[r.ID]; !known {
		j.IDs = append(j.IDs, r.ID)
	}
	j.last[r.ID] = r
	if r.Type == Started && r.Task != "" {
		j.task[r.Task] = r
	}
	if r.Good() {
		j.good[r.Key] = r
	}
}

// Last is the last record of a lane. What it says is how the lane stands.
func (j *Journal) Last(id string) (Record, bool) { r, ok := j.last[id]; return r, ok }

// Task is the start of the packet that a task carries out.
func (j *Journal) Task(id string) (Record, bool) { r, ok := j.task[id]; return r, ok }

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
		return m, roster.Dataf("the manifest is of version %d, and this fleet writes %d", m.Version, version)
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
