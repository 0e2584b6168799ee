package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"fleet/roster"
	"fleet/roster/rundir"
)

// What is measured is written in Prometheus' text format by hand: the packages of its
// client, and of protocol buffers below it, would be initialised before a hook is
// answered, and agents wait for hooks. Its parser and its linter check the result in the tests.

// metrics is a page of the text format.
type metrics struct{ strings.Builder }

func (m *metrics) family(name, kind, help string) {
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// by writes a family with one sample a value of a label.
func (m *metrics) by(name, kind, help, label string, samples map[string]float64) {
	m.family(name, kind, help)
	for _, value := range slices.Sorted(maps.Keys(samples)) {
		fmt.Fprintf(m, "%s{%s=%q} %g\n", name, label, value, samples[value])
	}
}

// bounds are those of the histograms, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// histogram counts what took how long.
type histogram struct {
	within [len(bounds)]uint64
	all    uint64
	sum    float64
}

func (h *histogram) take(seconds float64) {
	for i, b := range bounds {
		if seconds <= b {
			h.within[i]++
		}
	}
	h.all++
	h.sum += seconds
}

func (m *metrics) histogram(name, help string, h histogram) {
	m.family(name, "histogram", help)
	for i, n := range h.within {
		fmt.Fprintf(m, "%s_bucket{le=\"%g\"} %d\n", name, bounds[i], n)
	}
	fmt.Fprintf(m, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, h.all, name, h.sum, name, h.all)
}

// counts are what the log of a run comes to, as far as it has been read.
type counts struct {
	mu      sync.Mutex
	last    int64
	first   roster.Time // of the log's first event, by which a log that has begun anew is known
	denials map[string]float64
	waits   histogram
	checks  histogram
}

// read counts what has come since.
func (c *counts) read(d *rundir.Dir) error {
	for e, err := range d.Events(0) {
		if err != nil {
			return err
		}
		if e.At != c.first {
			c.last, c.first, c.waits, c.checks, c.denials = 0, e.At, histogram{}, histogram{}, make(map[string]float64)
		}
		break
	}
	for e, err := range d.Events(c.last) {
		if err != nil {
			return err
		}
		c.last = e.ID
		if e.Type == roster.LeaseDenied {
			reason, _ := e.Data["reason"].(string)
			c.denials[reason]++
		}
		if took, ok := e.Data["took_ms"].(float64); ok {
			wait, _ := e.Data["wait_ms"].(float64)
			c.waits.take(wait / 1000)
			c.checks.take(took / 1000)
		}
	}
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	var m metrics
	err := s.fleet.Dir.View(r.Context(), func(st *roster.State) error {
		m.ofState(st)
		return nil
	})
	if err != nil {
		return err
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	if err := s.counts.read(s.fleet.Dir); err != nil {
		return err
	}
	m.ofLog(&s.counts)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(m.String()))
	return nil
}

func (m *metrics) ofState(st *roster.State) {
	workstreams, tasks := zeros(roster.Statuses), zeros(roster.TaskStatuses)
	leases := 0
	for _, w := range st.Workstreams {
		workstreams[string(w.Status)]++
	}
	for _, t := range st.Tasks {
		tasks[string(t.Status)]++
	}
	for range st.Leases.All() {
		leases++
	}
	m.by("fleet_workstreams", "gauge", "Workstreams of the run.", "status", workstreams)
	m.by("fleet_tasks", "gauge", "Tasks of the graph.", "status", tasks)
	m.family("fleet_leases", "gauge", "Files that are held.")
	fmt.Fprintf(m, "fleet_leases %d\n", leases)
}

func (m *metrics) ofLog(c *counts) {
	m.by("fleet_denials_total", "counter", "Writes that were denied.", "reason", c.denials)
	m.histogram("fleet_lock_wait_seconds", "How long write checks that took or were denied a lease waited for the lock.", c.waits)
	m.histogram("fleet_write_check_seconds", "How long the hooks of those ran until their answer stood.", c.checks)
}

// zeros has every value of a closed list, so that none that is missing now is missing from a chart.
func zeros[S ~string](all []S) map[string]float64 {
	samples := make(map[string]float64)
	for _, v := range all {
		samples[string(v)] = 0
	}
	return samples
}
