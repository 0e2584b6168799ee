package rundir

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"fleet/roster"
)

// Follow gives what was there, then what comes, once each and in order; its caller or its context ends it.
func TestFollow(t *testing.T) {
	d := atWork(t)
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan roster.Event), make(chan error, 1)
	go func() {
		ended <- d.Follow(ctx, begun-2, func(e roster.Event) error { events <- e; return nil })
	}()
	eq(t, "first", (<-events).ID, int64(begun-1))
	eq(t, "second", (<-events).ID, int64(begun))
	for i, path := range []string{"c.go", "d.go", "e.go"} {
		update(t, d, func(s *roster.State) error { return acquire(s, "WS01", 1, path) })
		e := <-events
		eq(t, "id", e.ID, int64(begun+1+i))
		eq(t, "path", e.Data["path"], any(path))
	}
	cancel()
	must(t, <-ended)

	enough := errors.New("enough")
	err := d.Follow(t.Context(), 0, func(e roster.Event) error {
		if e.ID == 3 {
			return enough
		}
		return nil
	})
	eq(t, "error of the caller", err, enough)
}

// Many may follow while others write, and each gets every event.
func TestFollowTogether(t *testing.T) {
	d := atWork(t)
	const followers, last = 4, begun + 30
	ended := make(chan error, followers)
	for range followers {
		go func() {
			next := int64(1)
			ended <- d.Follow(t.Context(), 0, func(e roster.Event) error {
				if e.ID != next {
					return errors.New("an event is missing")
				}
				if next++; next > last {
					return errReached
				}
				return nil
			})
		}()
	}
	for range last - 19 {
		update(t, d, func(s *roster.State) error { s.Note(roster.Notification, "WS01", "", nil); return nil })
	}
	for range followers {
		eq(t, "end", <-ended, errReached)
	}
}

var errReached = errors.New("reached")

// A follower of a run that is removed is told so, and does not wait for ever.
func TestFollowARunThatIsRemoved(t *testing.T) {
	d := atWork(t)
	there, ended := make(chan int64, 100), make(chan error, 1)
	go func() {
		ended <- d.Follow(t.Context(), begun-1, func(e roster.Event) error { there <- e.ID; return nil })
	}()
	eq(t, "event", <-there, int64(begun))
	must(t, os.RemoveAll(d.Path))
	fails(t, <-ended, roster.Data, "planning/fleet-test is gone: the run dir was removed")
}

// A reset begins the events anew, and a follower begins with them, however many come before it looks again.
func TestFollowAResetRun(t *testing.T) {
	d := atWork(t)
	d.Config.AllowReset = true
	events, resume := make(chan roster.Event), make(chan struct{})
	go func() {
		_ = d.FollowBatches(t.Context(), begun-1, func(e roster.Event) error { events <- e; return nil }, func() { <-resume })
	}()
	eq(t, "before", (<-events).ID, int64(begun))
	must(t, d.Reset(t.Context()))
	for range begun + 5 {
		update(t, d, func(s *roster.State) error { s.Note(roster.Notification, "WS01", "", nil); return nil })
	}
	close(resume)
	for id := range begun + 5 {
		eq(t, "after", (<-events).ID, int64(id+1))
	}
}

func TestFollowADamagedLog(t *testing.T) {
	d := atWork(t)
	write(t, d.file(eventsFile), "nonsense\n")
	fails(t, d.Follow(t.Context(), 0, func(roster.Event) error { return nil }), roster.Data, "events.jsonl")
}

// Changes wakes for the run dir and for the subdirectories that are named.
func TestChanges(t *testing.T) {
	d := atWork(t)
	wake, stop := d.Changes("live")
	defer stop()
	update(t, d, func(s *roster.State) error { return s.Heartbeat("WS01", "x") })
	<-wake
	write(t, d.liveFile("WS01"), "x")
	<-wake
}

// Where the system tells of nothing, there is the clock, and it is said why (MW-47, CF-135).
func TestWatchByTheClock(t *testing.T) {
	defer func(was time.Duration) { pollEvery = was }(pollEvery)
	pollEvery = time.Millisecond
	d := newRun(t)
	for name, watch := range map[string]func() (<-chan struct{}, func(), error){
		"no such file": func() (<-chan struct{}, func(), error) { return d.Watch("no such directory") },
		"too many open files": func() (wake <-chan struct{}, stop func(), degraded error) {
			noMoreFiles(t, func() { wake, stop, degraded = d.Watch() })
			return wake, stop, degraded
		},
	} {
		wake, stop, degraded := watch()
		if degraded == nil || !strings.Contains(degraded.Error(), "degraded") || !strings.Contains(degraded.Error(), name) {
			t.Errorf("%s: %v", name, degraded)
		}
		<-wake
		<-wake
		stop()
	}
	_, stop, degraded := d.Watch()
	stop()
	must(t, degraded)
}

// noMoreFiles calls fn while this process may open none.
func noMoreFiles(t *testing.T, fn func()) {
	t.Helper()
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: was.Max}))
	fn()
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
}
