// Package bench measures what fleet's hooks, commits, screen and server cost, as ratios within one run, since
// machines differ: each variant is started in turn, over and over, and the medians
// of whole processes, start to exit, are compared.
//
// It is a program in a test binary, which "make bench" builds as bin/bench.test and
// runs with -fleet; -rounds sets how often. Without -fleet, as in "go test ./...",
// it measures nothing.
package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

// TestMain is the program.
func TestMain(m *testing.M) {
	fleet := flag.String("fleet", "", "the fleet program to measure, as bin/fleet")
	rounds := flag.Int("rounds", 300, "how often each variant is started")
	flag.Parse()
	if *fleet == "" {
		os.Exit(m.Run())
	}
	if err := run(*fleet, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(fleet string, rounds int) error {
	dir, err := os.MkdirTemp("", "fleet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	installed := filepath.Join(dir, "fleet")
	if err := install(fleet, installed); err != nil {
		return err
	}
	fleet = installed
	tools, err := buildTools(dir)
	if err != nil {
		return err
	}
	variants, err := singles(dir, fleet, tools)
	if err != nil {
		return err
	}
	if err := compare(variants, rounds); err != nil {
		return err
	}
	if variants, err = commits(dir, fleet); err != nil {
		return err
	}
	if err := compare(variants, min(rounds, 100)); err != nil {
		return err
	}
	if err := race(dir, fleet, tools); err != nil {
		return err
	}
	if err := lanes(dir, fleet); err != nil {
		return err
	}
	if err := served(dir, fleet); err != nil {
		return err
	}
	return screen(dir, fleet)
}

// variant is one thing to start and wait for.
type variant struct {
	name string
	goal float64 // at most this many times the empty program; 0 is no goal
	once func(round int) error
	took []time.Duration
}

// compare starts every variant in turn and prints the medians.
func compare(variants []*variant, rounds int) error {
	for round := range rounds {
		for _, v := range variants {
			began := time.Now()
			if err := v.once(round); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			v.took = append(v.took, time.Since(began))
		}
	}
	measure := median(variants[0].took)
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "start to exit (%d rounds)\tp50\tp90\tratio\tgoal\n", rounds)
	for _, v := range variants {
		p50 := median(v.took)
		ratio := float64(p50) / float64(measure)
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%s\n", v.name, ms(p50), ms(quantile(v.took, 0.9)), ratio, goal(ratio, v.goal))
	}
	return w.Flush()
}

func goal(ratio, most float64) string {
	switch {
	case most == 0:
		return ""
	case ratio <= most:
		return fmt.Sprintf("≤ %.1f: met", most)
	}
	return fmt.Sprintf("≤ %.1f: missed", most)
}

func median(d []time.Duration) time.Duration { return quantile(d, 0.5) }

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
