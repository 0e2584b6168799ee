package roster

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// big makes a run of n tasks that depend on three earlier ones each, and 50 workers that wait.
// One in five tasks has succeeded already, so that there is always something to give out.
func big(n int) *State {
	s := &State{Now: now, Leases: LeaseMap{}}
	for i := range 50 {
		id := fmt.Sprintf("WS%02d", i)
		s.Workstreams = append(s.Workstreams, Workstream{ID: id, Name: id, Status: Started, Epoch: 1, Mode: Headless})
	}
	for i := range n {
		t := Task{ID: fmt.Sprintf("T%d", i), Status: TaskPending, Priority: 1 + i%5, MaxAttempts: 3, CreatedAt: ago(time.Hour)}
		for _, d := range []int{i - 1, i / 2, i / 3} {
			if id := fmt.Sprintf("T%d", d); d >= 0 && d < i && !slices.Contains(t.DependsOn, id) {
				t.DependsOn = append(t.DependsOn, id)
			}
		}
		if i < n/5 {
			t.Status, t.Workstream, t.AssignedAt = TaskDone, s.Workstreams[i%50].ID, ago(time.Minute)
		}
		s.Tasks = append(s.Tasks, t)
	}
	return s
}

// contended makes of it a run in which every task may be given out, and all but those at the end of the order meet busy files.
func contended(n int) *State {
	s := big(n)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.Status, t.DependsOn, t.AssignedAt, t.Workstream = TaskPending, nil, Time{}, ""
		t.Scope = []string{fmt.Sprintf("src/busy/deep/d%d/*.go", i%100), fmt.Sprintf("doc/%d.md", i), "src/busy/deep/all/x.go"}
	}
	s.Leases.Put(Lease{Path: "src/busy/deep/all/x.go", WS: "WS99"})
	for i := range 1000 {
		s.Leases.Put(Lease{Path: fmt.Sprintf("src/held/%d.go", i), WS: "WS98"})
	}
	return s
}

// CF-46: what a decision costs, in CPU time since the machine may be busy with other things.
func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for name, state := range map[string]func(int) *State{"graph": big, "contended": contended} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := state(n)
				measure(b, func() { s.Schedule(everybody) })
			})
		}
	}
}

// A tick schedules and assigns, until nothing is left.
func BenchmarkTick(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := big(n)
			for i := range s.Tasks {
				s.Tasks[i].DependsOn = slices.DeleteFunc(s.Tasks[i].DependsOn, func(id string) bool { return s.Task(id).Status != TaskDone })
			}
			measure(b, func() {
				if err := clone(s).Tick(everybody); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func measure(b *testing.B, fn func()) {
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		fn()
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpu is what this process has used so far.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
