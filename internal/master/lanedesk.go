package master

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"fleet/internal/agent"
	"fleet/internal/runner"
	"fleet/roster"
	"fleet/roster/lane"
)

// errand is the packet that a lane's worker has in hand.
type errand struct {
	lane.Record
	packet lane.Packet
	schema *lane.Schema
	env    []string // of its session
	files  []io.Closer
}

// errand finds the packet that a task stands for, or nil.
func (d *desk) errand(task string) (*errand, error) {
	if d.w.Lane == "" {
		return nil, nil
	}
	journal, err := d.f.Dir.Journal()
	if err != nil {
		return nil, err
	}
	r, ok := journal.Task(task)
	if !ok {
		return nil, nil
	}
	m, err := d.f.Dir.Manifest()
	if err != nil {
		return nil, err
	}
	e := &errand{Record: r}
	e.packet, _ = m.Packet(lane.Owner(r.ID))
	e.schema, err = readSchema(e.packet.Schema)
	return e, err
}

// readSchema reads the schema in a file; no file is no schema.
func readSchema(path string) (*lane.Schema, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, roster.Dataf("the schema: %v", err)
	}
	return lane.ParseSchema(text)
}

// job lets the agent take the packet for its prompt.
func (e *errand) job(d *desk, j *agent.Job) {
	j.Prompt, j.Packet, j.Script = "", d.f.Dir.Lane(e.ID, "prompt.txt"), d.f.Dir.Lane(e.ID, "script.json")
	if d.brain.Schemas {
		j.Schema = e.packet.Schema
	}
}

// keep has the session's own words written to the lane's files.
func (e *errand) keep(d *desk, t *runner.Task) {
	e.env = t.Env
	open := func(what string) io.Writer {
		f, err := os.Create(d.f.Dir.Lane(e.ID, what))
		if err != nil {
			fmt.Fprintf(os.Stderr, "[fleet] %s of %s is not kept: %v\n", what, e.ID, err)
			return io.Discard
		}
		e.files = append(e.files, f)
		return lossy{f}
	}
	t.Out, t.Err = open("events.jsonl"), open("err")
}

// lossy takes everything, also what a full disk doesn't: a session must not end of it.
type lossy struct{ w io.Writer }

func (l lossy) Write(p []byte) (int, error) {
	_, _ = l.w.Write(p)
	return len(p), nil
}

// judge keeps what the session replied, and lets it pass the gate.
func (e *errand) judge(d *desk, o roster.Outcome) (roster.Outcome, error) {
	for _, f := range e.files {
		_ = f.Close()
	}
	e.archive(d, o.SessionID)
	artifact, err := json.MarshalIndent(lane.NewEnvelope(d.w.Brain, o), "", "  ")
	if err != nil {
		return o, err
	}
	if err := d.f.Dir.Write(d.f.Dir.File(lane.Artifact(e.ID)), append(artifact, '\n')); err != nil {
		return o, err
	}
	if err := d.f.Dir.Write(d.f.Dir.Lane(e.ID, "last.txt"), []byte(o.Summary)); err != nil {
		return o, err
	}
	if _, err := lane.Gate(artifact, e.schema); o.OK && err != nil {
		o.OK, o.Kind, o.Reason = false, roster.ErrAgent, err.Error()
	}
	return o, nil
}

// archive keeps the agent's own transcript, where it writes one.
func (e *errand) archive(d *desk, session string) {
	from := d.brain.Transcript(session, e.env)
	if from == "" {
		return
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = d.f.Dir.Write(d.f.Dir.Lane(e.ID, "transcript.jsonl"), text)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "[fleet] the transcript of %s is not kept: %v\n", e.ID, err)
	}
}

// settle writes into the journal what has come of a packet whose task is over.
func (e *errand) settle(ctx context.Context, d *desk, o roster.Outcome) error {
	over := false
	err := d.f.Dir.View(ctx, func(s *roster.State) error {
		t := s.Task(e.Task)
		over = t == nil || t.Terminal()
		return nil
	})
	if err != nil || !over { // a limit of the service: it is asked again
		return err
	}
	reason := ""
	if !o.OK {
		reason = cmp.Or(o.Reason, string(o.Kind))
	}
	return d.f.Dir.WriteJournal(ctx, e.End(reason, now()))
}
