package runner

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"fleet/internal/agent"
	"fleet/roster"
)

// counter is a Desk that hands out some shell lines and takes what is reported of them.
type counter struct {
	lines   []string
	timeout time.Duration
	taken   bool // each task is taken away as soon as it has begun
	reports []Report
}

func (c *counter) Next(context.Context) (Task, error) {
	if len(c.lines) == 0 {
		return Task{}, io.EOF
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	return Task{ID: "T1", Attempt: 1, Brain: claude(), Args: []string{"/bin/sh", "-c", line}, Dir: "/", Timeout: c.timeout}, nil
}

func (c *counter) Hold(ctx context.Context, _ Task) (context.Context, context.CancelFunc) {
	held, cancel := context.WithCancel(ctx)
	if c.taken {
		cancel()
	}
	return held, cancel
}

func (c *counter) Complete(_ context.Context, _ Task, r Report) (string, error) {
	c.reports = append(c.reports, r)
	return "noted", nil
}

func claude() agent.Brain {
	for _, b := range agent.Brains() {
		if b.Name == "claude" {
			return b
		}
	}
	return agent.Brain{}
}

func run(t *testing.T, c *counter, timeout time.Duration) (out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.timeout = timeout
	r := Runner{Desk: c, Out: &stdout, Err: &stderr}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String()
}

const (
	begins = `echo '{"type":"system","subtype":"init","session_id":"s","cwd":"/tmp"}'; `
	ends   = `echo '{"type":"result","subtype":"success","result":"done"}'`
)

// One session a task, judged by what it says; CF-122: its errors go to a stream of their own; CF-123: one that works elsewhere is told.
func TestRun(t *testing.T) {
	c := &counter{lines: []string{begins + ends, "echo broken >&2; exit 3"}}
	out, errOut := run(t, c, time.Hour)
	if len(c.reports) != 2 || !c.reports[0].OK || c.reports[0].SessionID != "s" || c.reports[1].Kind != roster.ErrInfra || c.reports[1].Exit != 3 {
		t.Errorf("reports %+v", c.reports)
	}
	if !strings.Contains(errOut, "warning: the session of T1 works in /tmp, not in /") || !strings.Contains(errOut, "broken") {
		t.Errorf("stderr %q", errOut)
	}
	if strings.Count(out, "[fleet] T1 noted") != 2 {
		t.Errorf("stdout %q", out)
	}
}

// CF-85: a session whose time is over is killed with all that it started, the pipe's other holders too.
func TestTimeout(t *testing.T) {
	c := &counter{lines: []string{begins + "sleep 1000 & sleep 1000"}}
	run(t, c, 2*time.Second) // enough to start in, on a busy machine
	if len(c.reports) != 1 || c.reports[0].Kind != roster.ErrTimeout || c.reports[0].Exit != 137 {
		t.Errorf("reports %+v", c.reports)
	}
}

// CF-57: what a session did whose task was taken away is reported to nobody.
func TestTakenAway(t *testing.T) {
	c := &counter{lines: []string{begins + ends}, taken: true}
	if out, _ := run(t, c, time.Hour); len(c.reports) != 0 || !strings.Contains(out, "T1 was taken away") {
		t.Errorf("reports %+v, stdout %q", c.reports, out)
	}
}

// A program that is not there is no fault of the task's.
func TestMissingProgram(t *testing.T) {
	c := &counter{}
	r := Runner{Desk: c, Out: io.Discard, Err: io.Discard}
	report, mine := r.session(t.Context(), Task{ID: "T1", Args: []string{"/no/such/program"}, Dir: "/", Timeout: time.Hour})
	if !mine || report.Kind != roster.ErrInfra || report.Exit != -1 {
		t.Errorf("report %+v, mine %v", report, mine)
	}
}
