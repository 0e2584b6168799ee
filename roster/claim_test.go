package roster

import (
	"strings"
	"testing"
)

// CFN-41.
func TestCleanClaim(t *testing.T) {
	for in, want := range map[string]string{
		"api":            "api",
		"./api/":         "api",
		" api/v1/ ":      "api/v1",
		"api//v1/../v2":  "api/v2",
		".":              ".",
		"./":             ".",
		"*.md":           "*.md",
		"./docs/*.md":    "docs/*.md",
		"src/**/x.go":    "src/**/x.go",
		"src/*.{ts,tsx}": "src/*.{ts,tsx}",
		"a, b.txt":       "a, b.txt",
		"日本/x":           "日本/x",
		"..a":            "..a",
	} {
		if got, err := CleanClaim(in); err != nil || got != want {
			t.Errorf("CleanClaim(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for in, kind := range map[string]Kind{
		"": Usage, "  ": Usage,
		"/etc/passwd": Data, "..": Data, "../other": Data, "a/../../b": Data,
		"a\tb": Data, "a\nb": Data, "a\x00b": Data, "a\x7fb": Data, "a[b": Data, "a{b": Data,
	} {
		_, err := CleanClaim(in)
		refused(t, err, kind, "claim")
	}
}

// CFN-42, CFN-43: one is the other, or lies below it; a glob reaches as far as its
// literal directory, and at the root everywhere.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"api", "api", true},
		{"api", "api/v1", true},
		{"api", "api/v1/x.go", true},
		{"api", "apis", false},
		{"api", "api.go", false},
		{"api/v1", "api/v2", false},
		{"api/v1", "api/v10", false},
		{"README.md", "README.md", true},
		{"README.md", "README", false},
		{"docs/*.md", "docs", true},
		{"docs/*.md", "docs/a.md", true},
		{"docs/*.md", "docs/img/a.png", true},
		{"docs/*.md", "docs/*.txt", true},
		{"docs/*.md", "docs2", false},
		{"docs/*.md", "src", false},
		{"src/**/x.go", "src/a/b", true},
		{"src/**/x.go", "src/x.go", true},
		{"src/**/x.go", "srcs/x.go", false},
		{"src/a?/x", "src/ab", true},
		{"src/[ab]/x", "src/c", true},
		{"src/{a,b}/x", "src/c", true},
		{"src/{a,b}/x", "lib/c", false},
		{"*.md", "README.md", true},
		{"*.md", "src/x.go", true},
		{"*.md", "*.go", true},
		{"**", "src", true},
		{".", "src/x.go", true},
		{".", "*.md", true},
		{".", ".", true},
	} {
		if got := Overlap(c.a, c.b); got != c.want {
			t.Errorf("Overlap(%q, %q) = %v", c.a, c.b, got)
		}
		if got := Overlap(c.b, c.a); got != c.want {
			t.Errorf("Overlap(%q, %q) = %v, and the other way round it isn't", c.b, c.a, got)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		claim, file string
		want        bool
	}{
		{"api/x.go", "api/x.go", true},
		{"api", "api/x.go", true},
		{"api", "api/v1/x.go", true},
		{"api", "apix.go", false},
		{".", "any/where.go", true},
		{"*.md", "a.md", true},
		{"*.md", "docs/a.md", true}, // a * crosses slashes
		{"*.md", "a.mdx", false},
		{"docs/*.md", "docs/a.md", true},
		{"docs/*.md", "docs/a/b.md", true},
		{"docs/*.md", "doc/a.md", false},
		{"src/**/x.go", "src/x.go", true},
		{"src/**/x.go", "src/a/b/x.go", true},
		{"src/**/x.go", "src/a/y.go", false},
		{"web/*.{css,ts}", "web/a.ts", true},
		{"web/*.{css,ts}", "web/deep/a.ts", true},
		{"web/*.{css,ts}", "web/a.js", false},
		{"a?.go", "ab.go", true},
		{"a?.go", "abc.go", false},
		{"[ab].go", "a.go", true},
		{"[ab].go", "c.go", false},
		{"app/[id]", "app/[id]/page.tsx", true}, // the very name
		{"app/[id]/page.tsx", "app/[id]/page.tsx", true},
	} {
		if got := Covers(c.claim, c.file); got != c.want {
			t.Errorf("Covers(%q, %q) = %v", c.claim, c.file, got)
		}
		if c.want && !Overlap(c.claim, c.file) && !strings.ContainsAny(c.file, "[") {
			t.Errorf("%q covers %q and doesn't overlap it", c.claim, c.file)
		}
	}
}

// CFN-40, CFN-41, CFN-42, CFN-44, CF-77.
func TestClaim(t *testing.T) {
	base := State{
		Now: now,
		Workstreams: []Workstream{
			{ID: "WS01", Name: "api", Status: Working, Claims: []string{"api", "docs/*.md"}},
			{ID: "WS02", Name: "web", Status: Pending, Claims: []string{"web"}},
			{ID: "WS03", Name: "old", Status: Done, Claims: []string{"old"}},
			{ID: "WS04", Name: "gone", Status: Dead, Claims: []string{"gone"}},
			{ID: "WS05", Name: "in", Status: Landed, Claims: []string{"in"}},
			{ID: "WS06", Name: "stuck", Status: Blocked, Claims: []string{"stuck"}},
		},
		Leases: held("lib/x.go:WS01", "app/[id]/page.tsx:WS01", "web/own.css:WS02"),
	}
	for name, c := range map[string]struct {
		paths []string
		want  []string // claims of WS02 afterwards
		says  string   // the error
	}{
		"new":                       {[]string{"./new/", "other.go"}, []string{"web", "new", "other.go"}, ""},
		"own again":                 {[]string{"web/"}, []string{"web"}, ""},
		"below one's own":           {[]string{"web/css"}, []string{"web", "web/css"}, ""},
		"twice in one call":         {[]string{"new", "./new"}, []string{"web", "new"}, ""},
		"another's":                 {[]string{"api"}, nil, `claim "api" overlaps "api" of WS01 (api)`},
		"below another's":           {[]string{"api/v1"}, nil, `overlaps "api" of WS01 (api)`},
		"another's glob":            {[]string{"docs/a.txt"}, nil, `overlaps "docs/*.md" of WS01 (api)`},
		"root glob":                 {[]string{"*.go"}, nil, "overlaps"},
		"of a blocked one":          {[]string{"stuck/x"}, nil, "of WS06 (stuck)"},
		"of one that is done":       {[]string{"old"}, []string{"web", "old"}, ""},
		"of a dead one":             {[]string{"gone/x"}, []string{"web", "gone/x"}, ""},
		"of one that has landed":    {[]string{"in"}, []string{"web", "in"}, ""},
		"what another writes":       {[]string{"lib"}, nil, `claim "lib" covers "lib/x.go", which WS01 is writing`},
		"what oneself writes":       {[]string{"web/own.css"}, []string{"web", "web/own.css"}, ""},
		"beside what another does":  {[]string{"lib/y.go"}, []string{"web", "lib/y.go"}, ""},
		"beside a name like a glob": {[]string{"app/i/page.tsx"}, []string{"web", "app/i/page.tsx"}, ""},
		"glob that misses":          {[]string{"lib/*.css"}, []string{"web", "lib/*.css"}, ""},
		"all or none":               {[]string{"new", "api"}, nil, "overlaps"},
		"malformed":                 {[]string{"new", "/abs"}, nil, "relative"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clone(&base)
			err := s.Claim("WS02", c.paths)
			if c.says != "" {
				refused(t, err, Data, c.says)
				same(t, s, &base)
				eq(t, "events", said(s), []string{})
				return
			}
			must(t, err)
			eq(t, "claims", row(t, s, "WS02").Claims, c.want)
			if added := c.want[1:]; len(added) > 0 {
				eq(t, "events", said(s), []string{"claim_added WS02 paths=[" + strings.Join(added, " ") + "]"})
			} else {
				same(t, s, &base)
			}
		})
	}
	refused(t, clone(&base).Claim("WS99", []string{"x"}), Data, "not in the roster")
	refused(t, clone(&base).Claim("ws2", []string{"x"}), Data, "no workstream id")
}

// While a workstream isn't live its claims are free. One that comes back has lost those that others took.
func TestClaimsOfAWorkstreamThatComesBack(t *testing.T) {
	dead := State{
		Now: now,
		Workstreams: []Workstream{
			{ID: "WS01", Status: Dead, Epoch: 2, Claims: []string{"api", "docs"}},
			{ID: "WS02", Status: Working, Epoch: 1, Claims: []string{"api/v1"}},
		},
		Leases: LeaseMap{},
	}
	for name, revive := range map[string]func(*State) error{
		"launched": func(s *State) error { _, err := s.Launch("WS01", Launch{}); return err },
		"prompted": func(s *State) error { return s.PromptSubmitted("WS01", 2, "go on") },
		"blocked":  func(s *State) error { return s.Block("WS01", "a question") },
	} {
		t.Run(name, func(t *testing.T) {
			s := clone(&dead)
			must(t, revive(s))
			eq(t, "claims of WS01", row(t, s, "WS01").Claims, []string{"docs"})
			eq(t, "claims of WS02", row(t, s, "WS02").Claims, []string{"api/v1"})
			if got := strings.Join(said(s), "\n"); !strings.Contains(got, "claim_released WS01 paths=[api] why=claimed by others meanwhile") {
				t.Errorf("the loss is not told:\n%s", got)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	base := State{
		Now: now,
		Workstreams: []Workstream{
			{ID: "WS01", Status: Working, Epoch: 1, TaskID: "T1", Claims: []string{"api", "docs/*.md"}},
			{ID: "WS02", Status: Working, Epoch: 1, Claims: []string{"web"}},
		},
		Leases: held("api:WS01/T1", "lib/x.go:WS01/T1", "web/a.css:WS02/T2"),
	}
	for name, c := range map[string]struct {
		paths          []string
		claims, leases []string
		left           []string // holders afterwards
		events         []string
	}{
		"everything": {
			nil,
			[]string{"api", "docs/*.md"},
			[]string{"api", "lib/x.go"},
			[]string{"web/a.css:WS02/T2"},
			[]string{
				"lease_released WS01 T1 path=api why=released", "lease_released WS01 T1 path=lib/x.go why=released",
				"claim_released WS01 T1 paths=[api docs/*.md]",
			},
		},
		"a lease": {
			[]string{"./lib/x.go"},
			nil,
			[]string{"lib/x.go"},
			[]string{"api:WS01/T1", "web/a.css:WS02/T2"},
			[]string{"lease_released WS01 T1 path=lib/x.go why=released"},
		},
		"a claim": {
			[]string{"docs/*.md"},
			[]string{"docs/*.md"},
			nil,
			[]string{"api:WS01/T1", "lib/x.go:WS01/T1", "web/a.css:WS02/T2"},
			[]string{"claim_released WS01 T1 paths=[docs/*.md]"},
		},
		"both, named twice": {
			[]string{"api/", "api"},
			[]string{"api"},
			[]string{"api"},
			[]string{"lib/x.go:WS01/T1", "web/a.css:WS02/T2"},
			[]string{"lease_released WS01 T1 path=api why=released", "claim_released WS01 T1 paths=[api]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := clone(&base)
			claims, leases, err := s.Release("WS01", c.paths)
			must(t, err)
			eq(t, "claims given up", claims, c.claims)
			eq(t, "leases given up", leases, c.leases)
			eq(t, "holders", holders(s), c.left)
			eq(t, "events", said(s), c.events)
			eq(t, "the scheduler looks (CF-45)", s.Wakes(), len(c.leases) > 0)
			for _, gone := range claims {
				if strings.Contains(strings.Join(row(t, s, "WS01").Claims, " "), gone) {
					t.Errorf("%q is still claimed", gone)
				}
			}
		})
	}
	for name, path := range map[string]string{"another's lease": "web/a.css", "another's claim": "web", "nobody's": "x", "below one's own": "api/v1"} {
		t.Run(name, func(t *testing.T) {
			s := clone(&base)
			_, _, err := s.Release("WS01", []string{"api", path})
			refused(t, err, Data, "neither claims nor holds")
			same(t, s, &base)
			eq(t, "events", said(s), []string{})
		})
	}
}
