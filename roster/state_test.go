package roster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// now is the time of every literal state, ago a moment before it.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func ago(d time.Duration) Time { return Time{now.Add(-d)} }

// held makes the leases of a literal state: "a.go:WS01/T1" is held by WS01, in its first incarnation, for T1.
func held(rows ...string) LeaseMap {
	m := make(LeaseMap)
	for _, row := range rows {
		path, by, _ := strings.Cut(row, ":")
		ws, task, _ := strings.Cut(by, "/")
		m.Put(Lease{Path: path, WS: ws, Task: task, Epoch: 1, Tool: "Write", AcquiredAt: ago(time.Minute)})
	}
	return m
}

// holders is the inverse of held.
func holders(s *State) []string {
	rows := []string{}
	for l := range s.Leases.All() {
		rows = append(rows, strings.TrimSuffix(l.Path+":"+l.WS+"/"+l.Task, "/"))
	}
	return rows
}

// said are the events that a state has noted, one a line: type, workstream, task, then the payload by key.
func said(s *State) []string {
	lines := []string{}
	for _, e := range s.Events() {
		words := []string{string(e.Type), e.WS}
		if e.Task != "" {
			words = append(words, e.Task)
		}
		for _, k := range slices.Sorted(maps.Keys(e.Data)) {
			if v := fmt.Sprint(e.Data[k]); v != "" {
				words = append(words, k+"="+v)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

func clone(s *State) *State {
	c := &State{
		Now: s.Now, Strict: s.Strict, MaxAttempts: s.MaxAttempts, TaskTimeout: s.TaskTimeout,
		Workstreams: slices.Clone(s.Workstreams), Tasks: slices.Clone(s.Tasks), Leases: LeaseMap{}, closed: s.closed,
	}
	for i := range c.Tasks {
		c.Tasks[i].DependsOn, c.Tasks[i].Scope = slices.Clone(c.Tasks[i].DependsOn), slices.Clone(c.Tasks[i].Scope)
	}
	for i := range c.Workstreams {
		c.Workstreams[i].Claims = slices.Clone(c.Workstreams[i].Claims)
	}
	for l := range s.Leases.All() {
		c.Leases.Put(l)
	}
	return c
}

// same fails the test unless a state has the rows of another one.
func same(t *testing.T, got, want *State) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(State{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the state has changed (-want +got):\n%s", diff)
	}
}

// eq fails the test unless two values are equal.
func eq(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// refused fails the test unless an error is a rule's, of a kind, and says something.
func refused(t *testing.T, err error, kind Kind, says string) {
	t.Helper()
	var rule *Error
	if !errors.As(err, &rule) || rule.Kind != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("got error %#v, want one of kind %d that says %q", err, kind, says)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, s *State, id string) *Workstream {
	t.Helper()
	w, err := s.Workstream(id)
	must(t, err)
	return w
}

func everybody(string) bool { return true }

func nobody(string) bool { return false }
