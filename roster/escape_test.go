package roster

import "testing"

// FF-69, FF-70.
func TestEscapes(t *testing.T) {
	baseline := Contents{"a": "1", "b": "1", "c": "1"}
	eq(t, "escapes", Escapes(baseline, Contents{"b": "2", "a": "1", "d/e": "gone", "0": "1"}), []Escape{
		{"0", "new", "-"}, {"b", "changed", "-"}, {"d/e", "new", "-"},
	})
	eq(t, "none", Escapes(baseline, Contents{"a": "1"}), []Escape(nil))
	eq(t, "of an empty baseline", len(Escapes(nil, Contents{"a": "1"})), 1)
}

// FF-69: who may have done it.
func TestWriters(t *testing.T) {
	w := make(Writers)
	for _, e := range []struct{ ws, path string }{{"WS01", "api/a.go"}, {"WS02", "api/b.go"}, {"WS03", "top"}, {"WS04", "top/down"}} {
		w.Saw(Event{Type: FileChanged, WS: e.ws, Data: map[string]any{"path": e.path}})
	}
	w.Saw(Event{Type: LeaseDenied, WS: "WS09", Data: map[string]any{"path": "api/a.go"}})
	for path, want := range map[string]string{
		"api/a.go": "WS01", "api/b.go": "WS02", "api/c.go": "WS02", "api/deep/a.go": "-", "other": "WS03", "top": "WS03", "top/x": "WS04", "x/y": "-",
	} {
		eq(t, path, w.Near(path), want)
	}
}

func TestPrintable(t *testing.T) {
	for path, want := range map[string]string{
		"a b/ä.go": "a b/ä.go", "a\tb": `"a\tb"`, "\xff": `"\xff"`, `"a"`: `"\"a\""`, `a\b`: `"a\\b"`,
	} {
		eq(t, path, Printable(path), want)
	}
}
