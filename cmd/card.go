package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/master"
	"fleet/roster"
)

// cardRows is how many workers a card has room for.
const cardRows = 12

func newCard(a *app) *cobra.Command {
	markdown := false
	c := &cobra.Command{
		Use: "card", GroupID: "look",
		Short: "Sum the run up in a few lines, for a chat",
		Long: `Prints where the run stands in a few lines: totals, what needs a person, and the
workers, those who are at work or in trouble first. For a chat, when something has
begun or ended: fleet serve has the live page.`,
		Example: "  fleet card --markdown",
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			snap, err := f.Snapshot(ctx)
			if err == nil {
				_, err = fmt.Fprint(a.out, card(snap, markdown))
			}
			return err
		}),
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "as Markdown")
	return c
}

// onCard is the order of a card.
var onCard = []master.LaneState{
	master.LaneBlocked, master.LaneFailed, master.LaneRunning, master.LanePending, master.LaneDone, master.LaneLanded,
}

func card(snap master.Snapshot, markdown bool) string {
	title, needs, row, rest := "fleet %s: %s\n", "  needs a person: %s\n", "  %-6s %-8s %-8s %s\n", "  and %d more\n"
	text := func(s string) string { return s }
	if markdown {
		title, needs, row, rest = "**fleet %s**: %s\n\n", "- **needs a person: %s**\n", "- **%s** %s %s %s\n", "- and %d more\n"
		text = inMarkdown
	}
	var b strings.Builder
	fmt.Fprintf(&b, title, snap.Run, strings.Join(totals(snap), " · "))
	for _, a := range snap.Alerts[:min(len(snap.Alerts), cardRows)] {
		why := a.Why
		if !strings.HasPrefix(why, a.Kind) {
			why = a.Kind + " " + why
		}
		fmt.Fprintf(&b, needs, text(short(strings.Join(strings.Fields(a.WS+" "+a.Task+" "+why), " "), 80)))
	}
	does := make(map[string]string)
	for _, w := range snap.Workstreams {
		does[w.ID] = w.Task
	}
	lanes := slices.Clone(snap.Lanes)
	slices.SortStableFunc(lanes, func(a, b master.Lane) int { return slices.Index(onCard, a.State) - slices.Index(onCard, b.State) })
	for _, l := range lanes[:min(len(lanes), cardRows)] {
		elapsed := (time.Duration(l.Elapsed) * time.Second).String()
		if l.Started.IsZero() {
			elapsed = "-"
		}
		fmt.Fprintf(&b, row, l.ID, l.State, elapsed, text(short(cmp.Or(does[l.ID], l.Activity, l.Name), 60)))
	}
	if more := len(lanes) - cardRows; more > 0 {
		fmt.Fprintf(&b, rest, more)
	}
	return b.String()
}

func totals(snap master.Snapshot) (parts []string) {
	for _, state := range onCard {
		n := 0
		for _, l := range snap.Lanes {
			if l.State == state {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	over, tokens, cost := 0, int64(0), 0.0
	for _, t := range snap.Tasks {
		if t.Terminal() {
			over++
		}
		tokens, cost = tokens+t.InputTokens+t.OutputTokens, cost+t.CostUSD
	}
	parts = append(parts, fmt.Sprintf("%d of %d tasks over", over, len(snap.Tasks)))
	if len(snap.Leases) > 0 {
		parts = append(parts, roster.Several(len(snap.Leases), "file")+" held")
	}
	return append(parts, fmt.Sprintf("%d tokens, %.2f USD", tokens, cost))
}

// inMarkdown makes each sign that Markdown would take for its own stand for itself.
func inMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>|#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
