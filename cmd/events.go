package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fleet/roster"
	"fleet/roster/rundir"
)

type eventsOptions struct {
	follow bool
	since  int64
	limit  int
	types  []string
	asJSON bool
}

func newEvents(a *app) *cobra.Command {
	var o eventsOptions
	c := &cobra.Command{
		Use: "events", GroupID: "look",
		Short: "Show what has happened, and what happens",
		Long: `Prints the events of the run, oldest first. Each has an id that rises by one:
--since N prints those after it, which is how a program goes on where it stopped.`,
		Example: "  fleet events --follow\n  fleet events --type lease_denied --json",
		RunE:    a.onRun(func(ctx context.Context, d *rundir.Dir, _ []string) error { return a.runEvents(ctx, d, o) }),
	}
	c.Flags().BoolVar(&o.follow, "follow", false, "go on printing as events come")
	c.Flags().Int64Var(&o.since, "since", 0, "only events after this id")
	c.Flags().IntVar(&o.limit, "limit", 0, "at most so many; 0 is all")
	c.Flags().StringSliceVar(&o.types, "type", nil, "only these types")
	c.Flags().BoolVar(&o.asJSON, "json", false, "one JSON object a line, as in events.jsonl")
	return c
}

func (a *app) runEvents(ctx context.Context, d *rundir.Dir, o eventsOptions) (err error) {
	for _, t := range o.types {
		if err := oneOf("--type", "type of event", t, roster.EventTypes); err != nil {
			return err
		}
	}
	if o.limit < 0 {
		return roster.Usagef("--limit %d: want 0 or more", o.limit)
	}
	shown := 0
	show := func(e roster.Event) error {
		if len(o.types) > 0 && !slices.Contains(o.types, string(e.Type)) {
			return nil
		}
		if err := a.printEvent(e, o.asJSON); err != nil {
			return err
		}
		if shown++; shown == o.limit {
			return errEnough
		}
		return nil
	}
	if o.follow {
		err = d.Follow(ctx, o.since, show)
	} else {
		err = each(d.Events(o.since), show)
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

var errEnough = errors.New("enough events")

func each(events iter.Seq2[roster.Event, error], fn func(roster.Event) error) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printEvent(e roster.Event, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(a.out, "%s\n", line)
		}
		return err
	}
	_, err := fmt.Fprintf(a.out, "%5d  %s  %-5s %-19s %s\n", e.ID, e.At.Local().Format("15:04:05"), e.WS, e.Type, eventText(e))
	return err
}

// eventText is the payload of an event on one line, keys in order.
func eventText(e roster.Event) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(e.Data)) {
		if v := fmt.Sprint(e.Data[k]); v != "" && v != "false" {
			parts = append(parts, k+"="+short(v, 100))
		}
	}
	return strings.Join(parts, " ")
}
