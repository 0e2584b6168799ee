package master

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"fleet/internal/agent"
	"fleet/internal/runner"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/lane/schema"
)

// errand is the packet that a lane's worker has in hand.
type errand struct {
	lane.Record
	env   []string // of its session
	files []io.Closer
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
	r, ok := journal.Asked(task)
	if !ok || r.Packet == nil {
		return nil, nil
	}
	return &errand{Record: r}, nil
}

// limits are those of the packet.
func (e *errand) limits() agent.Limits {
	p := e.Packet
	return agent.Limits{Model: p.Model, Effort: p.Effort, MaxTurns: p.MaxTurns, BudgetUSD: p.BudgetUSD, Timeout: p.Timeout.Duration}
}

// job lets the agent take the packet for its prompt.
func (e *errand) job(d *desk, j *agent.Job) {
	j.Prompt, j.Packet, j.Attempt = "", d.f.Dir.File(e.File("prompt.txt")), e.Ask
	j.Script = d.f.Dir.File("lanes/" + e.ID + ".script.json")
	if d.brain.Schemas && e.Packet.Schema != "" {
		j.Schema = d.f.Dir.File(e.File("schema.json"))
	}
}

// keep has the session's own words written to the lane's files.
func (e *errand) keep(d *desk, t *runner.Task) {
	e.env = t.Env
	open := func(what string) io.Writer {
		f, err := os.Create(d.f.Dir.File(e.File(what)))
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
func (e *errand) judge(ctx context.Context, d *desk, o roster.Outcome) (roster.Outcome, error) {
	for _, f := range e.files {
		_ = f.Close()
	}
	if from := d.brain.Transcript(o.SessionID, e.env); from != "" {
		text, err := os.ReadFile(from)
		if err == nil {
			err = d.f.Dir.Write(d.f.Dir.File(e.File("transcript.jsonl")), text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "[fleet] the transcript of %s is not kept: %v\n", e.ID, err)
		}
	}
	artifact, err := json.MarshalIndent(lane.NewEnvelope(d.w.Brain, o), "", "  ")
	if err != nil {
		return o, err
	}
	err = d.patiently(ctx, func() error { return d.f.Dir.Write(d.f.Dir.File(e.File(artifactFile)), append(artifact, '\n')) })
	if err != nil || !o.OK {
		return o, err
	}
	wanted, err := d.f.schemaOf(e.Record)
	if err != nil {
		return o, err
	}
	if _, rejected := lane.Gate(artifact, wanted); rejected != nil {
		o.OK, o.Kind, o.Reason = false, roster.ErrAgent, rejected.Error()
	}
	return o, nil
}

const (
	artifactFile = "result.json"
	schemaFile   = "schema.json"
)

// settle writes into the journal what has come of a packet whose task is over. One that met
// a limit, or a file that is held, is asked again.
func (e *errand) settle(ctx context.Context, d *desk, tools int, o roster.Outcome) error {
	over := false
	err := d.f.Dir.View(ctx, func(s *roster.State) error {
		t := s.Task(e.Task)
		over = t == nil || t.Terminal()
		return nil
	})
	if err != nil || !over {
		return err
	}
	end := e.End(e.File(artifactFile), why(o), now())
	end.Tools = tools
	return d.patiently(ctx, func() error { return d.f.Dir.WriteJournal(ctx, end) })
}

func why(o roster.Outcome) string {
	if o.OK {
		return ""
	}
	if o.Reason == "" {
		return string(o.Kind)
	}
	return o.Reason
}

// schemaOf is the schema of a packet as it was when that was asked; nil if it has none.
func (f *Fleet) schemaOf(r lane.Record) (lane.Schema, error) {
	if r.Packet == nil || r.Packet.Schema == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.Dir.File(r.File(schemaFile)))
	if err != nil {
		return nil, err
	}
	return schema.Parse(text)
}
