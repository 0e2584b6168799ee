package master

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"fleet/internal/agent"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/lane/schema"
)

// CollectLane returns the last reply of a lane if it passes its gate. other is the file of a schema in place of its own;
// empty is that. With repair a reply that doesn't fit is asked for once more. The error is
// lane.ErrMissing or a *lane.RejectedError.
func (f *Fleet) CollectLane(ctx context.Context, id, other string, repair bool) (string, error) {
	journal, err := f.Dir.Journal()
	if err != nil {
		return "", err
	}
	last, ok := journal.Last(id)
	if !ok {
		return "", roster.Usagef("no lane is called %q", id).Hinted("fleet lane status lists them")
	}
	asked, _ := journal.Asked(last.Task)
	var gate lane.Schema
	if other == "" {
		gate, err = f.schemaOf(asked)
	} else {
		gate, err = readSchema(other)
	}
	if err != nil {
		return "", err
	}
	text, err := f.gate(last, gate)
	if !repair || !isInvalid(err) {
		return text, err
	}
	if other != "" || asked.Packet == nil {
		return "", roster.Usagef("%s can be repaired for the schema that it was asked with alone", id)
	}
	again := &fan{Fleet: f, LaneOptions: LaneOptions{PerProvider: 1, Said: func(LaneReport) {}}}
	l := &laneRun{Packet: *asked.Packet, ws: last.WS, record: last, report: &LaneReport{ID: id}}
	if l.brain, err = agent.Find(l.Brain); err != nil {
		return "", err
	}
	if err := again.askAgain(l, asked); err != nil {
		return "", err
	}
	if err := again.run(ctx); err != nil {
		return "", err
	}
	return f.gate(l.record, gate)
}

// readSchema reads the schema in a file.
func readSchema(path string) (lane.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, roster.Dataf("the schema: %v", err)
	}
	return schema.Parse(text)
}

// gate lets the artifact of a result pass, or says why not.
func (f *Fleet) gate(r lane.Record, wanted lane.Schema) (string, error) {
	if r.Artifact == "" {
		if r.Type == lane.Result {
			return "", &lane.RejectedError{Why: r.Reason}
		}
		return "", lane.ErrMissing
	}
	text, err := os.ReadFile(f.Dir.File(r.Artifact))
	if errors.Is(err, fs.ErrNotExist) {
		return "", lane.ErrMissing
	}
	if err != nil {
		return "", err
	}
	return lane.Gate(text, wanted)
}

// isInvalid reports whether a gate's no is about the schema alone.
func isInvalid(err error) bool {
	rejected, ok := errors.AsType[*lane.RejectedError](err)
	return ok && rejected.Reply != ""
}

// askAgain has the agent of a lane correct a reply that does not fit its schema, in the same tree: one more asking of
// the lane, whose result is that of the packet.
func (f *fan) askAgain(l *laneRun, asked lane.Record) error {
	wanted, err := f.schemaOf(asked)
	if err != nil {
		return err
	}
	_, err = f.gate(l.record, wanted)
	rejected, invalid := errors.AsType[*lane.RejectedError](err)
	if !invalid || rejected.Reply == "" {
		return err
	}
	form, err := f.Dir.LaneForm("REPAIR", map[string]string{"why": rejected.Why, "reply": rejected.Reply})
	if err != nil {
		return err
	}
	if l.schema, err = os.ReadFile(f.Dir.File(asked.File(schemaFile))); err != nil {
		return err
	}
	key := l.Key
	l.Packet = l.Repaired([]byte(form))
	l.Key, l.repairs = key, true
	l.prompt = lane.Sent(nil, l.Text, l.schema)
	f.waits = append(f.waits, l)
	return nil
}
