package rundir

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fleet/roster"
)

// The columns of each table. The first ten of roster.tsv never change; new ones are added at the end.
var (
	rosterColumns = sync.OnceValue(func() []column[roster.Workstream] {
		columns := columnsOf[roster.Workstream]()
		set := columns[0].set
		columns[0].set = func(w *roster.Workstream, cell string) error {
			if roster.CheckID(cell) != nil {
				return errors.New("want WS and at least two digits")
			}
			return set(w, cell)
		}
		return columns
	})
	taskColumns  = sync.OnceValue(columnsOf[roster.Task])
	leaseColumns = sync.OnceValue(columnsOf[roster.Lease])
)

// columnsOf makes a column of each field of a row, in their order. It bears the field's name in JSON.
func columnsOf[T any]() []column[T] {
	row := reflect.TypeFor[T]()
	columns := make([]column[T], row.NumField())
	for i := range columns {
		field := func(r *T) any { return reflect.ValueOf(r).Elem().Field(i).Addr().Interface() }
		columns[i] = column[T]{
			row.Field(i).Tag.Get("json"),
			func(r *T) string { return writeCell(field(r)) },
			func(r *T, cell string) error { return readCell(field(r), cell) },
		}
	}
	return columns
}

// writeCell is a field as text, given the pointer to it.
func writeCell(field any) string {
	switch f := field.(type) {
	case *string:
		return *f
	case *roster.Status:
		return string(*f)
	case *roster.TaskStatus:
		return string(*f)
	case *roster.ErrorKind:
		return string(*f)
	case *int:
		return strconv.Itoa(*f)
	case *int64:
		return strconv.FormatInt(*f, 10)
	case *float64:
		return strconv.FormatFloat(*f, 'f', -1, 64)
	case *bool:
		return strconv.FormatBool(*f)
	case *roster.Time:
		return f.String()
	case *[]string:
		return joinList(*f)
	}
	panic(fmt.Sprintf("no cell is made of a %T", field))
}

// readCell reads back what writeCell wrote. The fields are new: an empty cell is 0, or false.
func readCell(field any, cell string) (err error) {
	switch f := field.(type) {
	case *string:
		*f = cell
	case *roster.Status:
		return oneOf(f, cell, roster.Statuses)
	case *roster.TaskStatus:
		return oneOf(f, cell, roster.TaskStatuses)
	case *roster.ErrorKind:
		return oneOf(f, cell, roster.ErrorKinds)
	case *int:
		return number(f, cell, strconv.Atoi)
	case *int64:
		return number(f, cell, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case *float64:
		err = number(f, cell, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
		if err == nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			err = errNumber
		}
	case *bool:
		*f = cell == "true"
		if cell != "" && cell != strconv.FormatBool(*f) {
			err = errors.New("want true or false")
		}
	case *roster.Time:
		if *f, err = roster.ParseTime(cell); err != nil {
			err = errors.New("want a time such as 2006-01-02T15:04:05.000Z")
		}
	case *[]string:
		*f = splitList(cell)
	}
	return err
}

func oneOf[S ~string](field *S, cell string, allowed []S) error {
	if !slices.Contains(allowed, S(cell)) {
		return fmt.Errorf("want one of %v", allowed)
	}
	*field = S(cell)
	return nil
}

var errNumber = errors.New("want a number")

func number[N any](field *N, cell string, parse func(string) (N, error)) error {
	n, err := parse(cell)
	if cell != "" && err != nil {
		return errNumber
	}
	*field = n
	return nil
}

// joinList joins values with commas; a comma or backslash inside one is escaped.
func joinList(values []string) string {
	escaped := make([]string, len(values))
	for i, v := range values {
		escaped[i] = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(v)
	}
	return strings.Join(escaped, ",")
}

func splitList(cell string) []string {
	if cell == "" {
		return nil
	}
	var values []string
	var b strings.Builder
	for i := 0; i < len(cell); i++ {
		switch {
		case cell[i] == '\\' && i+1 < len(cell):
			i++
			b.WriteByte(cell[i])
		case cell[i] == ',':
			values = append(values, b.String())
			b.Reset()
		default:
			b.WriteByte(cell[i])
		}
	}
	return append(values, b.String())
}
