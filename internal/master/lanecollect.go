package master

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/lane"
)

// CollectLane returns the reply of a lane that passes its gate. schema is a file that takes the
// place of the packet's own; empty is that. The error is lane.ErrMissing or a *lane.RejectedError.
func (f *Fleet) CollectLane(ctx context.Context, id, schema string, repair bool) (string, error) {
	m, err := f.Dir.Manifest()
	if err != nil {
		return "", err
	}
	p, ok := m.Packet(id)
	if !ok {
		return "", noLane(id)
	}
	if schema != "" {
		p.Schema = schema
	}
	journal, err := f.Dir.Journal()
	if err != nil {
		return "", err
	}
	last, _ := journal.Last(id)
	text, err := f.gate(p, last.Artifact)
	rejected, invalid := errors.AsType[*lane.RejectedError](err)
	if !repair || !invalid || rejected.Reply == "" {
		return text, err
	}
	again := &fan{Fleet: f, LaneOptions: LaneOptions{PerProvider: 1, Said: func(LaneReport) {}}}
	l := &laneRun{Packet: p, ws: last.WS, record: last, report: &LaneReport{ID: id}}
	r, err := again.askAgain(l)
	if err == nil {
		err = again.run(ctx)
	}
	if err != nil {
		return "", err
	}
	return f.gate(p, lane.Artifact(r.ID))
}

func noLane(id string) error {
	return roster.Usagef("no lane is called %q", id).Hinted("fleet lane status lists them")
}

// gate lets the artifact of a packet pass, or says why not.
func (f *Fleet) gate(p lane.Packet, artifact string) (string, error) {
	s, err := readSchema(p.Schema)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(f.Dir.File(artifact))
	if artifact == "" || errors.Is(err, fs.ErrNotExist) {
		return "", lane.ErrMissing
	}
	if err != nil {
		return "", err
	}
	return lane.Gate(text, s)
}

// askAgain has a lane's agent correct a reply that does not fit its schema. There is one repair,
// in the lane's own tree; any other failure is no matter for it, and returned.
func (f *fan) askAgain(l *laneRun) (r *laneRun, err error) {
	_, err = f.gate(l.Packet, l.record.Artifact)
	rejected, invalid := errors.AsType[*lane.RejectedError](err)
	if !invalid || rejected.Reply == "" {
		return nil, err
	}
	if err := f.Dir.Write(f.Dir.Lane(l.ID, "invalid.txt"), []byte(rejected.Reply)); err != nil {
		return nil, err
	}
	form, err := f.Dir.LanePrompt("REPAIR", map[string]string{"why": rejected.Why, "reply": rejected.Reply})
	if err != nil {
		return nil, err
	}
	schema, err := os.ReadFile(l.Schema)
	if err != nil {
		return nil, err
	}
	r = &laneRun{Packet: l.Repaired(), of: l, ws: l.ws, packet: []byte(form), prompt: lane.Sent(nil, []byte(form), schema)}
	if r.brain, err = agent.Find(r.Brain); err != nil {
		return nil, err
	}
	r.Key = r.KeyOf(r.prompt, schema)
	f.waits = append(f.waits, r)
	return r, f.Dir.Write(f.Dir.Lane(r.ID, "prompt.txt"), r.prompt)
}

// repaired credits a lane with the result of its repair, if that is good.
func (f *fan) repaired(ctx context.Context, l *laneRun, repair lane.Record) error {
	if !repair.Good() {
		f.report(l, Failed, &lane.RejectedError{Why: l.record.Reason + "; asked again: " + repair.Reason})
		return nil
	}
	good := l.record.End("", now())
	good.Artifact = repair.Artifact
	l.record = good
	f.report(l, Ran, nil)
	return f.Dir.WriteJournal(ctx, good)
}
