package master

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// Workbench tells a workbench about a run: it keeps the plan that it draws, and
// calls its emitter for what has happened. Without an emitter, or with one that fails, nothing is lost but the telling.
type Workbench struct {
	Fleet   *Fleet
	Emitter string // program

	lanes []byte // of the plan as it was last written
}

// emitTimeout is for one call of the emitter.
const emitTimeout = 5 * time.Second

type plan struct {
	Slug        string          `json:"slug"`
	GeneratedAt string          `json:"generated_at"`
	Phases      []string        `json:"phases"`
	Lanes       json.RawMessage `json:"lanes"`
}

type planLane struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Phase string `json:"phase"`
}

// benchPhase is the only one that a run has for a workbench.
const benchPhase = "Fleet"

// Scan brings the workbench up to date. What it is told is noted first: twice would be worse than not at all.
func (b *Workbench) Scan(ctx context.Context) error {
	events, err := b.news(ctx)
	for _, e := range events {
		b.emit(ctx, e)
	}
	return err
}

// news writes the plan, and tells what has to be told.
func (b *Workbench) news(ctx context.Context) (events []roster.BenchEvent, err error) {
	d := b.Fleet.Dir
	unlock, err := d.Exclusive(ctx, "workbench") // others may scan, too
	if err != nil {
		return nil, err
	}
	defer unlock()
	told, err := d.Seen(rundir.BenchSeen)
	if err != nil {
		return nil, err
	}
	var now roster.Seen
	lanes := []planLane{}
	err = d.View(ctx, func(s *roster.State) error {
		events, now = s.BenchEvents(told)
		for i := range s.Workstreams {
			w := &s.Workstreams[i]
			lanes = append(lanes, planLane{w.LaneID(), w.Task, benchPhase})
		}
		return nil
	})
	if err == nil {
		err = b.writePlan(lanes)
	}
	if err == nil && !maps.Equal(told, now) {
		err = d.SetSeen(rundir.BenchSeen, now)
	}
	if err != nil {
		events = nil
	}
	return events, err
}

// slug is what a workbench calls the run: the name of its dir.
func (b *Workbench) slug() string { return filepath.Base(b.Fleet.Dir.Path) }

// writePlan writes the plan if it has changed. Whoever waits for changes of the run dir would go on for ever otherwise.
func (b *Workbench) writePlan(lanes []planLane) error {
	text, err := json.Marshal(lanes)
	if err != nil || bytes.Equal(text, b.lanes) {
		return err
	}
	b.lanes = text
	text, err = json.Marshal(plan{b.slug(), time.Now().UTC().Format(time.RFC3339), []string{benchPhase}, text})
	if err != nil {
		return err
	}
	d := b.Fleet.Dir
	return d.Write(filepath.Join(d.Path, "run-plan-"+b.slug()+".json"), append(text, '\n'))
}

func (b *Workbench) emit(ctx context.Context, e roster.BenchEvent) {
	ctx, cancel := context.WithTimeout(ctx, emitTimeout)
	defer cancel()
	args := []string{b.Emitter, "--slug", b.slug(), "--event", e.Type}
	if e.Lane != "" {
		args = append(args, "--lane", e.Lane)
	}
	if e.Detail != "" {
		args = append(args, "--detail", e.Detail)
	}
	_, _ = b.Fleet.Run(ctx, proc.Cmd{Args: args, Dir: b.Fleet.Dir.Root})
}
