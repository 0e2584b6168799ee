package roster

import (
	"errors"
	"fmt"
)

// Kind says what sort of no an Error is. The command line maps it to an exit code.
type Kind int

// The kinds of errors that a rule can return.
const (
	Usage   Kind = iota + 1 // the words of the call are off
	Data                    // the call names something that isn't there, or isn't valid
	Refused                 // a guard says no
)

// Error is a rule's answer to a request that it doesn't carry out. Nothing has changed.
type Error struct {
	Kind Kind
	Msg  string // one line, lower case
	Hint string // what to do about it; may be empty
}

func (e *Error) Error() string { return e.Msg }

// Hinted returns the error with a line that says what to do about it.
func (e *Error) Hinted(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Usagef makes an error about how a call was worded.
func Usagef(format string, args ...any) *Error {
	return &Error{Kind: Usage, Msg: fmt.Sprintf(format, args...)}
}

// Dataf makes an error about what a call names.
func Dataf(format string, args ...any) *Error {
	return &Error{Kind: Data, Msg: fmt.Sprintf(format, args...)}
}

// Refusef makes the error of a guard.
func Refusef(format string, args ...any) *Error {
	return &Error{Kind: Refused, Msg: fmt.Sprintf(format, args...)}
}

// KindOf returns what sort of no a rule said, 0 for an error that is no rule's.
func KindOf(err error) Kind {
	if no, ok := errors.AsType[*Error](err); ok {
		return no.Kind
	}
	return 0
}
