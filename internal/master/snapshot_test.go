package master

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fleet/internal/proc"
	"fleet/roster"
)

// FF-74: a lane is in the state of its workstream, and between two tasks as the last one ended.
func TestLaneState(t *testing.T) {
	given := func(s roster.TaskStatus) *roster.TaskView { return &roster.TaskView{Task: roster.Task{Status: s}} }
	for _, c := range []struct {
		name   string
		status roster.Status
		work   work
		want   LaneState
	}{
		{"nothing was given", roster.Pending, work{}, LanePending},
		{"a worker is up, and idle", roster.Started, work{}, LanePending},
		{"at work", roster.Working, work{last: given(roster.TaskRunning), open: true}, LaneRunning},
		{"at work again after a failure", roster.Working, work{last: given(roster.TaskGivenUp)}, LaneRunning},
		{"waits", roster.Blocked, work{last: given(roster.TaskPending), open: true}, LaneBlocked},
		{"has succeeded, and there is more to do", roster.Started, work{last: given(roster.TaskDone), open: true}, LanePending},
		{"an idle server of the graph has succeeded", roster.Started, work{last: given(roster.TaskDone)}, LaneDone},
		{"has failed", roster.Started, work{last: given(roster.TaskGivenUp)}, LaneFailed},
		{"was cancelled", roster.Pending, work{last: given(roster.TaskCancelled)}, LaneFailed},
		{"its worker is gone", roster.Dead, work{last: given(roster.TaskDone)}, LaneFailed},
		{"done", roster.Done, work{last: given(roster.TaskDone)}, LaneDone},
		{"landed", roster.Landed, work{last: given(roster.TaskDone)}, LaneLanded},
	} {
		if got := c.work.state(&roster.Workstream{Status: c.status}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FF-73, FF-74: what a lane says of its attempt, its commits, its errors and its result.
func TestSnapshotLanes(t *testing.T) {
	r := newRepository(t, 3, nil)
	r.inTree("WS02", "two", "2")
	r.gitIn(filepath.Join(r.Dir.Root, ".claude/worktrees/shop-ws02"), "commit", "-q", "--allow-empty", "-m", strings.Repeat("ä", 100))
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	r.update(func(s *roster.State) error {
		working, ended := &s.Tasks[0], &s.Tasks[1]
		s.Workstreams[0].Status, s.Workstreams[0].TaskID = roster.Working, working.ID
		working.Status, working.Attempts, working.AssignedAt = roster.TaskRunning, 1, roster.Time{Time: s.Now.Add(-90 * time.Second)}
		s.Workstreams[1].Epoch = 1
		ended.Status, ended.Attempts, ended.OutputTokens, ended.CostUSD = roster.TaskDone, 2, 1234, 0.5
		ended.AssignedAt, ended.CompletedAt = roster.Time{Time: began}, roster.Time{Time: began.Add(75 * time.Second)}
		again := &s.Tasks[2]
		again.Status, again.Attempts, again.DurationMS = roster.TaskPending, 1, 2000
		again.AssignedAt, again.UpdatedAt = roster.Time{Time: began}, roster.Time{Time: began.Add(time.Minute)}
		return nil
	})
	write(t, r.Dir.Log("WS02"), strings.Repeat("x", 5000)+"\nfirst\n"+strings.Repeat("é", 200)+" \n \n\n")
	write(t, r.Dir.Result("WS02", 1), "{}")
	write(t, r.Dir.Result("WS02", 2), "{}")
	gits := 0
	r.Run = func(ctx context.Context, c proc.Cmd) ([]byte, error) {
		gits++
		return proc.Run(ctx, c)
	}
	snap, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Lane{
		{ID: "WS01", Name: "ws01", State: LaneRunning, Activity: "working", Started: snap.Tasks[0].AssignedAt, Elapsed: 90},
		{
			ID: "WS02", Name: "ws02", State: LaneDone, Started: roster.Time{Time: began}, Elapsed: 75, Commits: 2, Tokens: 1234, CostUSD: 0.5,
			Activity: strings.Repeat("ä", 89) + "…", LastCommit: strings.Repeat("ä", 89) + "…",
			Artifact: "planning/fleet-shop/results/WS02.2.json", ErrTail: strings.Repeat("é", 159) + "…",
		},
		{ID: "WS03", Name: "ws03", State: LanePending, Started: roster.Time{Time: began}, Elapsed: 2},
	}
	near := cmpopts.AcyclicTransformer("elapsed", func(l Lane) Lane { // a second may pass meanwhile
		if l.Elapsed == 91 {
			l.Elapsed = 90
		}
		return l
	})
	if diff := cmp.Diff(want, snap.Lanes, near); diff != "" {
		t.Errorf("lanes: -want +got\n%s", diff)
	}
	if gits != 1 {
		t.Errorf("%d git commands for a snapshot, want 1 however many trees there are", gits)
	}
	if filepath.Base(r.Dir.Root) != snap.Repo || snap.GeneratedAt != snap.Now || snap.Manifest != nil {
		t.Errorf("the snapshot is of %q at %s", snap.Repo, snap.GeneratedAt)
	}
}

// A snapshot of a run with nothing in it has empty lists and no null but the manifest (CF-105, CF-107, FF-73).
func TestSnapshotOfAnEmptyRun(t *testing.T) {
	snap, err := newRepository(t, 0, nil).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("null")); n != 1 || !bytes.Contains(text, []byte(`"manifest":null`)) {
		t.Errorf("%d nulls in %s", n, text)
	}
}

// What a worker wrote to stderr may be anything: nothing, no file at all, or bytes that are no text.
func TestLastSaid(t *testing.T) {
	r := newRepository(t, 0, nil)
	for text, want := range map[string]string{
		"": "", "\n \n\t\n": "", "one": "one", "one\n\ttwo \n\n": "two", strings.Repeat("y", 9000): strings.Repeat("y", 4096),
	} {
		write(t, r.Dir.Log("WS01"), text)
		if got := r.Dir.LastSaid("WS01"); got != want {
			t.Errorf("%.20q: said %.20q, want %.20q", text, got, want)
		}
	}
	if err := os.Remove(r.Dir.Log("WS01")); err != nil {
		t.Fatal(err)
	}
	if got := r.Dir.LastSaid("WS01"); got != "" {
		t.Errorf("said %q without a log", got)
	}
}
