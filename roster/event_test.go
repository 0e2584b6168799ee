package roster

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
	"time"
)

// CF-23, CF-24, CF-30: the closed list has every type that the source declares, once, and no heartbeat.
func TestEventTypesAreAllListed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	must(t, err)
	var declared []EventType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "EventType" {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			must(t, err)
			declared = append(declared, EventType(name))
		}
		return true
	})
	if len(declared) < 20 {
		t.Fatalf("only %d types are found in the source", len(declared))
	}
	eq(t, "list", EventTypes, declared)
	eq(t, "distinct", len(slices.Compact(slices.Sorted(slices.Values(EventTypes)))), len(EventTypes))
	for _, typ := range EventTypes {
		if typ == "heartbeat" {
			t.Error("heartbeats are events")
		}
	}
}

// CF-7.
func TestTime(t *testing.T) {
	for in, want := range map[Time]string{
		{}: "",
		{time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)}:                         "2026-01-02T03:04:05.006Z",
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))}:                 "2026-01-02T02:04:05.000Z",
		{time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", -3600))}: "2027-01-01T00:59:59.999Z",
	} {
		eq(t, "text", in.String(), want)
		back, err := ParseTime(want)
		must(t, err)
		eq(t, "back", back.String(), want)
		text, err := json.Marshal(in)
		must(t, err)
		var fromJSON Time
		must(t, json.Unmarshal(text, &fromJSON))
		eq(t, "by JSON", fromJSON.String(), want)
	}
	for _, bad := range []string{"x", "2026-01-02", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.006", "2026-01-02T03:04:05.006+01:00", "2026-13-02T03:04:05.006Z"} {
		if _, err := ParseTime(bad); err == nil {
			t.Errorf("%q was read as a time", bad)
		}
	}
	for _, bad := range []string{`5`, `null`, `"`, `"x"`, `{}`} {
		var at Time
		if err := at.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read as a time", bad)
		}
	}
}
