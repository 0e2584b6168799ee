package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"fleet/internal/agent"
	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// CFN-10, DESIGN 11: one table from errors to exit codes.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{&codedError{code: 12}, 12},
		{roster.Usagef("x"), exitUsage},
		{roster.Dataf("x"), exitData},
		{roster.Refusef("x").Hinted("y"), exitRefused},
		{&roster.StaleEpochError{WS: "WS01"}, exitRefused},
		{rundir.ErrAlive, exitRefused},
		{&tmux.ForeignSessionError{Session: "s"}, exitRefused},
		{tmux.ErrDead, exitRefused},
		{tmux.ErrNoPane, exitRefused},
		{rundir.ErrBusy, exitBusy},
		{&agent.MissingError{Program: "x"}, exitMissing},
		{git.ErrNoRepo, exitUsage},
		{tmux.ErrNoAnswer, exitNoAnswer},
		{context.Canceled, exitFailed},
		{errors.New("x"), exitInternal},
	} {
		if got, _ := classify(c.err); c.err != nil && got != c.want {
			t.Errorf("%T %v: %d, not %d", c.err, c.err, got, c.want)
		}
		a := &app{errOut: &bytes.Buffer{}}
		if c.err != nil {
			c.err = fmt.Errorf("doing something: %w", c.err)
		}
		if got := a.report(c.err); got != c.want {
			t.Errorf("wrapped %v: %d, not %d", c.err, got, c.want)
		}
	}
}

// The help names every code, and no other.
func TestExitCodesAreDocumented(t *testing.T) {
	var got []int
	for _, m := range regexp.MustCompile(`(?m)^ {1,3}(\d+)  \S`).FindAllStringSubmatch(newExitCodes().Long, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	want := []int{exitOK, exitFailed, exitCached, exitMissing, exitNoAnswer, exitGate, exitEscape, exitUsage, exitData, exitRefused, exitInternal, exitBusy}
	if !slices.Equal(got, want) {
		t.Errorf("documented: %v, used: %v", got, want)
	}
}

// CFN-9: an error is one line that starts with "fleet: ", and perhaps a hint below it.
func TestErrorsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{roster.Dataf("two\nlines").Hinted("do %s", "this"), "fleet: two; lines\n  do this\n"},
		{errors.Join(errors.New("one"), errors.New("two")), "fleet: one; two\n"},
		{&codedError{code: exitFailed}, ""},
		{nil, ""},
	} {
		var out bytes.Buffer
		a := &app{errOut: &out}
		a.report(c.err)
		if out.String() != c.want {
			t.Errorf("%v: %q, not %q", c.err, out.String(), c.want)
		}
	}
}
