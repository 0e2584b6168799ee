// Package bench measures what fleet's hooks, commits, screen and server cost, as ratios within one run, since
// machines differ: each variant is started in turn, over and over, and the medians
// of whole processes, start to exit, are compared.
//
// It is a program in a test binary, which "make bench" builds as bin/bench.test and
// runs with -fleet; -rounds sets how often, -only measures a part. Without -fleet, as in "go test ./...",
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
	only := flag.String("only", "", "the part to measure alone: hooks, commits, race, lanes, serve or screen")
	flag.Parse()
	if *fleet == "" {
		os.Exit(m.Run())
	}
	if err := run(*fleet, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(fleet string, rounds int, only string) error {
	dir, err := os.MkdirTemp("", "fleet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	installed := filepath.Join(dir, "fleet")
	if err := install(fleet, installed); err != nil {
		return err
	}
	tools, err := buildTools(dir)
	if err != nil {
		return err
	}
	parts := []struct {
		name    string
		measure func() error
	}{
		{"hooks", func() error { return compared(rounds)(singles(dir, installed, tools)) }},
		{"commits", func() error { return compared(min(rounds, 100))(commits(dir, installed)) }},
		{"race", func() error { return race(dir, installed, tools) }},
		{"lanes", func() error { return lanes(dir, installed) }},
		{"serve", func() error { return served(dir, installed) }},
		{"screen", func() error { return screen(dir, installed) }},
	}
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		if err := p.measure(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// compared compares variants that could be made.
func compared(rounds int) func([]*variant, error) error {
	return func(variants []*variant, err error) error {
		if err != nil {
			return err
		}
		return compare(variants, rounds)
	}
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
