package rundir

import (
	"time"

	"fleet/roster"
)

// started is when the program was, but for what Go and the system need before.
var started = time.Now()

// timeChecks notes with each write check how long it waited for the lock, and how
// long its program has run until its answer stands: an agent waits for both, and no one else could tell.
func timeChecks(events []roster.Event, waited time.Duration) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, e := range events {
		if e.Type == roster.LeaseAcquired || e.Type == roster.LeaseDenied {
			e.Data["wait_ms"], e.Data["took_ms"] = ms(waited), ms(time.Since(started))
		}
	}
}
