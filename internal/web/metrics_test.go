package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"fleet/roster"
)

// sample is a value of the metrics by name and label, as Prometheus itself reads them. Histograms give their count and sum.
func (f *face) samples() map[string]float64 {
	f.t.Helper()
	resp, text := f.ask(http.MethodGet, "/metrics", "")
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		f.t.Fatalf("/metrics: %s %s", resp.Status, text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		f.t.Errorf("Prometheus' linter says %v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		f.t.Fatalf("Prometheus can't read it: %v\n%s", err, text)
	}
	all := make(map[string]float64)
	for name, family := range families {
		for _, m := range family.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			all[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if h := m.GetHistogram(); h != nil {
				all[name+" count"], all[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
				for _, b := range h.Bucket {
					all[fmt.Sprintf("%s <%g", name, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return all
}

// Prometheus reads workstreams and tasks by status, leases, denials, and how long write checks waited and took: from
// the log, also from its beginning when a reset has begun it anew.
func TestMetrics(t *testing.T) {
	f := serve(t, map[string]string{"FLEET_ALLOW_RESET": "on"})
	if got := f.samples(); got["fleet_workstreams pending"] != 0 || got["fleet_write_check_seconds count"] != 0 {
		t.Errorf("of an empty run: %v", got)
	}
	check := func(ws string, paths ...string) {
		t.Helper()
		if err := f.fleet.Dir.UpdateLeases(t.Context(), func(s *roster.State) error {
			s.AcquireLeases(roster.WriteRequest{WS: ws, Epoch: 1, Paths: paths, Tool: "Write", Alive: func(string) bool { return true }})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() {
		for _, ws := range []string{"WS01", "WS02"} {
			f.update(func(s *roster.State) error {
				_, err := s.Launch(ws, roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: roster.MainTree})
				return err
			})
		}
	}
	f.add("WS01")
	f.add("WS02")
	begin()
	check("WS01", "a.go", "b.go")
	check("WS02", "a.go")
	got := f.samples()
	for key, want := range map[string]float64{
		"fleet_workstreams pending": 1, "fleet_workstreams working": 1, "fleet_workstreams landed": 0, "fleet_tasks pending": 2, "fleet_tasks failed": 0, "fleet_leases": 2,
		"fleet_denials_total held":      1,
		"fleet_lock_wait_seconds count": 3, "fleet_write_check_seconds count": 3, "fleet_lock_wait_seconds <10": 3,
	} {
		if value, there := got[key]; value != want || !there {
			t.Errorf("%s is %v, want %v", key, value, want)
		}
	}
	if took, waited := got["fleet_write_check_seconds sum"], got["fleet_lock_wait_seconds sum"]; took <= waited {
		t.Errorf("the checks took %v s in all and waited %v s of it", took, waited)
	}
	if resp, text := f.post("/reset", ""); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("reset: %s %s", resp.Status, text)
	}
	for range 10 { // more than there were before
		f.happen(1)
	}
	if got := f.samples(); got["fleet_denials_total held"] != 0 || got["fleet_leases"] != 0 || got["fleet_write_check_seconds count"] != 0 {
		t.Errorf("after a reset: %v", got)
	}
}
