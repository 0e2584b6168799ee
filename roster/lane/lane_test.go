package lane_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/lane/schema"
)

var packet = lane.Packet{ID: "a", Brain: "codex", Phase: "build", Worktree: true, Effort: "high", MaxTurns: 100}

// FF-15, FF-30, FF-31, FF-32: everything on which a result depends is in its key, the schema by content; the phase and places are not.
func TestKeyChangesWithWhatTheResultDependsOn(t *testing.T) {
	prompt, schema := []byte("do it"), []byte(`{"type":"object"}`)
	key := packet.KeyOf("codex", prompt, schema)
	if !strings.HasPrefix(key, "v2:") || len(key) != len("v2:")+64 {
		t.Errorf("key %q: want v2: and a SHA-256 in hex", key)
	}
	change := map[string]func(*lane.Packet){
		"id":     func(p *lane.Packet) { p.ID = "b" },
		"effort": func(p *lane.Packet) { p.Effort = "low" }, "turns": func(p *lane.Packet) { p.MaxTurns = 3 },
		"worktree": func(p *lane.Packet) { p.Worktree = false }, "model": func(p *lane.Packet) { p.Model = "m" }, "base": func(p *lane.Packet) { p.Base = "next" },
	}
	for what, f := range change {
		p := packet
		if f(&p); p.KeyOf("codex", prompt, schema) == key {
			t.Errorf("another %s has the same key", what)
		}
	}
	if packet.KeyOf("codex", []byte("do it!"), schema) == key || packet.KeyOf("codex", prompt, []byte(`{}`)) == key || packet.KeyOf("codex", prompt, nil) == key || packet.KeyOf("codex {}", prompt, schema) == key {
		t.Error("another prompt, schema or profile has the same key")
	}
	p := packet
	p.Phase, p.PromptFile, p.Schema, p.Timeout, p.Isolated, p.Repair = "x", "/elsewhere", "/there", lane.Duration{Duration: time.Hour}, true, true
	if p.KeyOf("codex", prompt, schema) != key {
		t.Error("the phase, or where a file is, changes the key")
	}
}

// FF-26, FF-29, FF-63: the guard comes first, then the packet, then the schema.
func TestSent(t *testing.T) {
	got := string(lane.Sent([]byte("guard\n"), []byte("\npacket\n\n"), []byte("{}\n")))
	if want := "guard\n\npacket\n\nYour final reply is one JSON value that fits this JSON Schema, and nothing else:\n{}\n"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if got := string(lane.Sent(nil, []byte("packet"), nil)); got != "packet\n" {
		t.Errorf("without guard and schema: %q", got)
	}
}

// FF-3, FF-17: ids are parts of file and branch names, and no names of other workstreams; what can't be meant is refused.
func TestCheck(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "port-2-parser": true, "": false, "A": false, "-a": false, "a/b": false, "..": false, "a b": false, "a_b": false,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false, "ws01": false, "ws-1": true,
	} {
		if got := (&lane.Packet{ID: id}).Check() == nil; got != ok {
			t.Errorf("id %q: ok is %v, want %v", id, got, ok)
		}
	}
	for what, p := range map[string]lane.Packet{
		"native":                        {Brain: lane.Native},
		"isolated in the main checkout": {Isolated: true},
		"turns below 0":                 {MaxTurns: -1},
		"a repair without a schema":     {Repair: true},
		"less than no time":             {Timeout: lane.Duration{Duration: -1}},
	} {
		p.ID = "a"
		if p.Check() == nil {
			t.Errorf("%s: nothing is wrong with it", what)
		}
	}
}

func line(t *testing.T, r lane.Record) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// FF-33, FF-34, FF-74: the last record of a lane says how it stands; the newest good result of a key is the one
// that counts; a torn line says nothing. Each asking has files of its own.
func TestJournal(t *testing.T) {
	a, b := packet, packet
	a.Key, b.ID, b.Key = "v2:1", "b", "v2:2"
	at := roster.Time{Time: time.Unix(1_800_000_000, 0)}
	var none lane.Journal
	startA, startB := none.Start(a, "WS01", "WS01", at), none.Start(b, "WS02", "WS02", at)
	good := startA.End(startA.File("result.json"), "", at)
	text := line(t, startA) + line(t, startB) + line(t, good) + `{"type":"result","id":"b","key":"v2:2","rc":` + "\n" + line(t, startB.End("", "it failed", at))
	j := lane.ReadJournal([]byte(text))
	again := j.Start(a, "WS01", "WS01.2", at)
	j = lane.ReadJournal([]byte(text + line(t, again) + "\x00\x00" + line(t, startB)[:40]))
	if last, _ := j.Last("a"); last.Type != lane.Started || last.Task != "WS01.2" || last.Ask != 2 || last.File("err") != "lanes/a.2.err" {
		t.Errorf("the last of a is %+v: it runs again", last)
	}
	if last, _ := j.Last("b"); last.Good() || last.RC == nil || *last.RC != 10 || last.Reason != "it failed" || last.Artifact != "" {
		t.Errorf("the last of b is %+v, want a failure", last)
	}
	if hit, ok := j.Hit("v2:1"); !ok || hit.Artifact != "lanes/a.1.result.json" {
		t.Errorf("the hit of a is %+v, %v", hit, ok)
	}
	if _, ok := j.Hit("v2:2"); ok {
		t.Error("a failed result is a hit")
	}
	if r, ok := j.Asked("WS01.2"); !ok || r.Packet == nil || r.Packet.Effort != "high" {
		t.Errorf("task WS01.2 is that of %+v, %v", r, ok)
	}
	if r, ok := j.Ended("WS01"); !ok || !r.Good() {
		t.Errorf("task WS01 ended as %+v, %v", r, ok)
	}
	if _, ok := j.Ended("WS01.2"); ok {
		t.Error("task WS01.2 has ended")
	}
}

// FF-35, FF-36: one entry an id, the newest at the end; phases once. A manifest of another version is refused.
func TestManifest(t *testing.T) {
	m := lane.NewManifest("port", "main")
	b := packet
	b.ID, b.Phase = "b", "verify"
	m.Put(packet, b)
	again := packet
	again.Effort = "low"
	m.Put(again)
	if len(m.Packets) != 2 || m.Packets[0].ID != "b" || m.Packets[1].Effort != "low" || !slices.Equal(m.Phases, []string{"build", "verify"}) {
		t.Errorf("manifest %+v", m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := lane.ReadManifest(text); err != nil || len(back.Packets) != 2 {
		t.Errorf("read back: %+v, %v", back, err)
	}
	for _, text := range []string{`{"version":2,"packets":[]}`, `{"packets":[]}`, `{"version":1,`, ``} {
		if _, err := lane.ReadManifest([]byte(text)); roster.KindOf(err) != roster.Data {
			t.Errorf("manifest %q: %v, want a refusal", text, err)
		}
	}
}

const schemaText = `{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}}`

// FF-60 to FF-64: what passes the gate, and what it says of the rest.
func TestGate(t *testing.T) {
	wanted, err := schema.Parse([]byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	result := func(text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return `{"is_error":false,"subtype":"error","result":` + string(quoted) + `}`
	}
	for name, c := range map[string]struct {
		artifact string
		schema   lane.Schema
		want     string
		wrong    string // in the error
	}{
		"a reply":                       {artifact: result("all done"), want: "all done"},
		"a large one":                   {artifact: result(strings.Repeat("x", 8<<20)), want: strings.Repeat("x", 8<<20)},
		"nothing":                       {artifact: " \n", wrong: "no result"},
		"torn":                          {artifact: `{"is_error":false,"result":"al`, wrong: "can't be read"},
		"silent about errors":           {artifact: `{"result":"all done","subtype":"success"}`, wrong: "does not say whether"},
		"an error":                      {artifact: `{"is_error":true,"subtype":"success","result":"","reason":"503"}`, wrong: "ended in an error: 503"},
		"empty":                         {artifact: result(" \n"), wrong: "empty"},
		"fitting":                       {artifact: result(` {"ok":true} `), schema: wanted, want: `{"ok":true}`},
		"fenced":                        {artifact: result("```json\n{\"ok\":true}\n```"), schema: wanted, want: `{"ok":true}`},
		"fenced with prose around":      {artifact: result("Here it is:\n```json\n{\"ok\":true}\n```\nAnything else?"), schema: wanted, want: `{"ok":true}`},
		"two fences":                    {artifact: result("```\n{\"ok\":true}\n```\nor\n```\n{\"ok\":false}\n```"), schema: wanted, wrong: "does not fit its schema"},
		"prose":                         {artifact: result("it is ok"), schema: wanted, wrong: "does not fit its schema: it is no JSON: invalid character"},
		"not what is asked for":         {artifact: result(`{"ok":"yes"}`), schema: wanted, wrong: "at '/ok': got string, want boolean"},
		"without what is required":      {artifact: result(`{}`), schema: wanted, wrong: "missing property 'ok'"},
		"something behind the JSON":     {artifact: result(`{"ok":true} {"ok":true}`), schema: wanted, wrong: "does not fit its schema"},
		"an error, although it fits":    {artifact: `{"is_error":true,"result":"{\"ok\":true}"}`, schema: wanted, wrong: "ended in an error"},
		"an envelope that is no object": {artifact: `[]`, wrong: "can't be read"},
	} {
		got, err := lane.Gate([]byte(c.artifact), c.schema)
		if got != c.want {
			t.Errorf("%s: %.80q, want %.80q", name, got, c.want)
		}
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.wrong)
		}
	}
}

// A schema that is itself wrong, or that would have to be fetched from somewhere, is refused before anybody is asked.
func TestParseSchema(t *testing.T) {
	for _, text := range []string{"", "{", `{"type":"objekt"}`, `{"$ref":"https://example.com/s.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"#/nowhere"}`} {
		if _, err := schema.Parse([]byte(text)); roster.KindOf(err) != roster.Data {
			t.Errorf("schema %q: %v, want a refusal", text, err)
		}
	}
}

// FF-83 to FF-86: the agents of a native workflow, by its journal and their transcripts.
func TestReadNative(t *testing.T) {
	got, err := lane.ReadNative(os.DirFS(filepath.Join("testdata", "wf_0a1b2c3d-4e5")))
	if err != nil {
		t.Fatal(err)
	}
	type agent struct{ id, prompt, result string }
	var all []agent
	for _, i := range got {
		all = append(all, agent{i.ID, i.Prompt, string(i.Result)})
	}
	want := []agent{
		{"a0000000000000001", "List the parsers.", `{"parsers":["json","toml"]}`},
		{"a0000000000000002", "Count the tests.\nOnly those of the parsers.", `"12"`},
		{"a0000000000000003", "", `{"ok":true}`},
		{"a0000000000000004", "Still at it.", ""},
	}
	if !slices.Equal(all, want) {
		t.Errorf("read %q, want %q", all, want)
	}
	if _, err := lane.ReadNative(fstest.MapFS{}); roster.KindOf(err) != roster.Usage {
		t.Errorf("a folder without a journal: %v", err)
	}
	if none, err := lane.ReadNative(fstest.MapFS{"journal.jsonl": {Data: []byte("{}\n\x00{\"type\":\"started\",\"agentId\":\"../../etc\"}\n")}}); err != nil || len(none) != 0 {
		t.Errorf("a journal that names no agent: %v, %v", none, err)
	}
}
