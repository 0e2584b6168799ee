package rundir

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"fleet/roster"
)

// The columns of each table, in the order of the file. The first ten of
// roster.tsv never change; new ones are added at the end.

func rosterColumns() []column[roster.Workstream] {
	type ws = roster.Workstream
	return []column[ws]{
		checkedIDColumn(),
		textColumn("name", func(w *ws) *string { return &w.Name }),
		textColumn("task", func(w *ws) *string { return &w.Task }),
		oneOfColumn("status", func(w *ws) *roster.Status { return &w.Status }, roster.Statuses...),
		listColumn("claims", func(w *ws) *[]string { return &w.Claims }),
		textColumn("landed_sha", func(w *ws) *string { return &w.LandedSHA }),
		textColumn("migration_num", func(w *ws) *string { return &w.MigrationNum }),
		textColumn("scratch_db", func(w *ws) *string { return &w.ScratchDB }),
		numberColumn("heartbeat", func(w *ws) *int64 { return &w.Heartbeat }),
		textColumn("notes", func(w *ws) *string { return &w.Notes }),
		textColumn("brain", func(w *ws) *string { return &w.Brain }),
		textColumn("mode", func(w *ws) *string { return &w.Mode }),
		textColumn("tree", func(w *ws) *string { return &w.Tree }),
		numberColumn("epoch", func(w *ws) *int { return &w.Epoch }),
		textColumn("task_id", func(w *ws) *string { return &w.TaskID }),
		textColumn("session_id", func(w *ws) *string { return &w.SessionID }),
		timeColumn("updated_at", func(w *ws) *roster.Time { return &w.UpdatedAt }),
	}
}

func checkedIDColumn() column[roster.Workstream] {
	c := textColumn("ws_id", func(w *roster.Workstream) *string { return &w.ID })
	c.set = func(w *roster.Workstream, cell string) error {
		w.ID = cell
		if roster.CheckID(cell) != nil {
			return fmt.Errorf("want WS and at least two digits")
		}
		return nil
	}
	return c
}

func taskColumns() []column[roster.Task] {
	type task = roster.Task
	return []column[task]{
		textColumn("task_id", func(t *task) *string { return &t.ID }),
		textColumn("title", func(t *task) *string { return &t.Title }),
		oneOfColumn("status", func(t *task) *roster.TaskStatus { return &t.Status }, roster.TaskStatuses...),
		numberColumn("priority", func(t *task) *int { return &t.Priority }),
		listColumn("depends_on", func(t *task) *[]string { return &t.DependsOn }),
		listColumn("scope", func(t *task) *[]string { return &t.Scope }),
		textColumn("workstream", func(t *task) *string { return &t.Workstream }),
		{
			"pinned", func(t *task) string { return strconv.FormatBool(t.Pinned) },
			func(t *task, cell string) error {
				t.Pinned = cell == "true"
				if cell != "" && cell != strconv.FormatBool(t.Pinned) {
					return errors.New("want true or false")
				}
				return nil
			},
		},
		textColumn("brain", func(t *task) *string { return &t.Brain }),
		numberColumn("attempts", func(t *task) *int { return &t.Attempts }),
		numberColumn("max_attempts", func(t *task) *int { return &t.MaxAttempts }),
		timeColumn("backoff_until", func(t *task) *roster.Time { return &t.BackoffUntil }),
		textColumn("verify", func(t *task) *string { return &t.Verify }),
		oneOfColumn("error_kind", func(t *task) *roster.ErrorKind { return &t.ErrorKind }, roster.ErrorKinds...),
		textColumn("blocked_on", func(t *task) *string { return &t.BlockedOn }),
		timeColumn("assigned_at", func(t *task) *roster.Time { return &t.AssignedAt }),
		timeColumn("started_at", func(t *task) *roster.Time { return &t.StartedAt }),
		timeColumn("completed_at", func(t *task) *roster.Time { return &t.CompletedAt }),
		numberColumn("input_tokens", func(t *task) *int64 { return &t.InputTokens }),
		numberColumn("output_tokens", func(t *task) *int64 { return &t.OutputTokens }),
		{
			"cost_usd", func(t *task) string { return strconv.FormatFloat(t.CostUSD, 'f', -1, 64) },
			func(t *task, cell string) (err error) {
				if cell != "" {
					t.CostUSD, err = strconv.ParseFloat(cell, 64)
				}
				if err != nil || math.IsNaN(t.CostUSD) || math.IsInf(t.CostUSD, 0) {
					return errors.New("want a number")
				}
				return nil
			},
		},
		numberColumn("duration_ms", func(t *task) *int64 { return &t.DurationMS }),
		textColumn("session_id", func(t *task) *string { return &t.SessionID }),
		timeColumn("created_at", func(t *task) *roster.Time { return &t.CreatedAt }),
		timeColumn("updated_at", func(t *task) *roster.Time { return &t.UpdatedAt }),
		timeColumn("deadline", func(t *task) *roster.Time { return &t.Deadline }),
		numberColumn("checks", func(t *task) *int { return &t.Checks }),
	}
}

func leaseColumns() []column[roster.Lease] {
	type lease = roster.Lease
	return []column[lease]{
		textColumn("path", func(l *lease) *string { return &l.Path }),
		textColumn("ws_id", func(l *lease) *string { return &l.WS }),
		textColumn("task_id", func(l *lease) *string { return &l.Task }),
		numberColumn("epoch", func(l *lease) *int { return &l.Epoch }),
		textColumn("tool", func(l *lease) *string { return &l.Tool }),
		timeColumn("acquired_at", func(l *lease) *roster.Time { return &l.AcquiredAt }),
		textColumn("stamp", func(l *lease) *string { return &l.Stamp }),
	}
}
