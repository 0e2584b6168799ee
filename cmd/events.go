package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
)

type eventsOptions struct {
	master.EventFilter
	follow, asJSON bool
}

func newEvents(a *app) *cobra.Command {
	var o eventsOptions
	c := &cobra.Command{
		Use: "events", GroupID: "look",
		Short: "Show what has happened, and what happens",
		Long: `Prints the events of the run, oldest first. Each has an id that rises by one:
--since N prints those after it, which is how a program goes on where it stopped.`,
		Example: "  fleet events --follow\n  fleet events --type lease_denied --json",
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			return f.Events(ctx, o.EventFilter, o.follow, func(e roster.Event) error { return a.printEvent(e, o.asJSON) })
		}),
	}
	c.Flags().BoolVar(&o.follow, "follow", false, "go on printing as events come")
	c.Flags().Int64Var(&o.Since, "since", 0, "only events after this id")
	c.Flags().IntVar(&o.Limit, "limit", 0, "at most so many; 0 is all")
	c.Flags().StringSliceVar(&o.Types, "type", nil, "only these types")
	c.Flags().BoolVar(&o.asJSON, "json", false, "one JSON object a line, as in events.jsonl")
	return c
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

// eventText is the payload of an event on one line, keys in order. What is measured in milliseconds is for programs.
func eventText(e roster.Event) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(e.Data)) {
		if v := fmt.Sprint(e.Data[k]); v != "" && v != "false" && v != "<nil>" && v != "[]" && !strings.HasSuffix(k, "_ms") {
			parts = append(parts, k+"="+short(v, 100))
		}
	}
	return strings.Join(parts, " ")
}
