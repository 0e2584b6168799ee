package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fleet/roster"
	"fleet/roster/rundir"
)

const (
	racers = 64
	heats  = 10
)

// race lets many processes at once ask for few files, and compares their rate with
// that of as many processes that only take the lock and append a line.
func race(dir, fleet string, t tools) error {
	d, err := busyRun(filepath.Join(dir, "race"), 1000)
	if err != nil {
		return err
	}
	for i := 1; i <= workstreams; i++ { // a holder that isn't alive would lose its files
		release, err := d.HoldLife(wsID(i))
		if err != nil {
			return err
		}
		defer release()
	}
	log := filepath.Join(dir, "append.log")
	var granted atomic.Int64
	var fleetTook, appendTook []time.Duration
	for heat := range heats {
		took, err := together(func(int) error {
			_, err := start(nil, dir, "", t.append, filepath.Join(d.Path, ".roster.lock"), log)
			return err
		})
		if err != nil {
			return err
		}
		appendTook = append(appendTook, took)
		// Each file is wanted by four workstreams at once.
		took, err = together(func(i int) error {
			path := fmt.Sprintf("race/%d-%d.go", heat, i/4)
			out, err := start(workerEnv(d, 1+i%workstreams), d.Root, toolCall(d.Root, path), fleet, "hook", "pre-tool-use", wsID(1+i%workstreams))
			if strings.Contains(out, `"permissionDecision":"allow"`) {
				granted.Add(1)
			}
			return err
		})
		if err != nil {
			return err
		}
		fleetTook = append(fleetTook, took)
	}
	rows, err := raced(d)
	if err != nil {
		return err
	}
	want := heats * racers / 4
	fmt.Printf("\n%d processes at once, %d heats: %d files, %d leases, %d grants\n", racers, heats, want, rows, granted.Load())
	if rows != want || granted.Load() != int64(want) {
		return fmt.Errorf("a file was granted twice, or not at all")
	}
	rate := float64(median(appendTook)) / float64(median(fleetTook))
	fmt.Printf("rate against flock + one append: %.2f (goal ≥ 0.5: %s); a heat takes %s against %s\n",
		rate, map[bool]string{true: "met", false: "missed"}[rate >= 0.5], ms(median(fleetTook)), ms(median(appendTook)))
	return nil
}

func together(one func(i int) error) (time.Duration, error) {
	var all sync.WaitGroup
	errs := make(chan error, racers)
	began := time.Now()
	for i := range racers {
		all.Go(func() {
			if err := one(i); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	select {
	case err := <-errs:
		return took, err
	default:
		return took, nil
	}
}

func raced(d *rundir.Dir) (n int, err error) {
	err = d.View(context.Background(), func(s *roster.State) error {
		for l := range s.Leases.All() {
			if strings.HasPrefix(l.Path, "race/") {
				n++
			}
		}
		return nil
	})
	return n, err
}
