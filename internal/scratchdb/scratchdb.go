// Package scratchdb makes PostgreSQL databases for workstreams to break, each
// workstream its own: a container each (Docker), or a database each in a server of
// the run's own (Local). Both outlive the command that made them, are found again
// by the next one, and are removed only where they bear fleet's mark.
package scratchdb

import (
	"context"
	"time"
)

// Engine makes and removes databases.
type Engine interface {
	// Database returns the URL of a workstream's database, which answers. What of it is missing is made or started.
	Database(ctx context.Context, ws string) (url string, err error)
	// Remove stops and removes all that was made for this run, or for every run, and names it.
	Remove(ctx context.Context, every bool) (removed []string, err error)
}

var (
	_ Engine = Docker{}
	_ Engine = Local{}
)

// await asks until the answer is yes, or the context is over.
func await(ctx context.Context, pause time.Duration, yes func() bool) error {
	for !yes() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}
