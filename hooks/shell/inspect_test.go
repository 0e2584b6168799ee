package shell

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"fleet/hooks/effect"
)

// corpusCase is one entry of testdata/corpus.txt.
type corpusCase struct {
	line    int
	command string
	want    []string
}

func corpus(tb testing.TB) []corpusCase {
	tb.Helper()
	data, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		tb.Fatal(err)
	}
	_, body, _ := strings.Cut(string(data), "\n\n")
	line := strings.Count(string(data), "\n") - strings.Count(body, "\n") + 1
	var cases []corpusCase
	for block := range strings.SplitSeq(body, "\n\n") {
		c := corpusCase{line: line}
		line += strings.Count(block, "\n") + 2
		command, want, ok := strings.Cut(block, "\n=> ")
		if !ok {
			if block != "" && !strings.HasPrefix(block, "###") {
				tb.Fatalf("corpus.txt:%d: nothing is expected", c.line)
			}
			continue
		}
		c.command = command
		c.want = strings.Split(strings.TrimSpace(want), "\n=> ")
		cases = append(cases, c)
	}
	return cases
}

// describe writes a report in the language of the corpus: what is in the
// checkout at dir without it.
func describe(r effect.Report, err error, dir string) []string {
	if err != nil {
		return []string{"error"}
	}
	in := func(p string) string { return strings.TrimPrefix(p, dir+"/") }
	var out []string
	for _, t := range r.Writes {
		s := "write " + in(t.Path)
		if t.Into != "" {
			s += " or " + in(t.Into)
		}
		if t.Tree {
			s += " tree"
		}
		if t.Pattern {
			s += " pattern"
		}
		out = append(out, s)
	}
	for _, t := range r.Tramples {
		s := "trample " + t.Command
		switch t.Dir {
		case dir:
		case "":
			s += " in nowhere"
		default:
			s += " in " + t.Dir
		}
		out = append(out, s)
	}
	if out == nil {
		return []string{"nothing"}
	}
	return out
}

// byKind puts the writes before the tramples, which the corpus tells in the
// order of the command.
func byKind(lines []string) string {
	var writes, rest []string
	for _, l := range lines {
		if strings.HasPrefix(l, "write ") {
			writes = append(writes, l)
		} else {
			rest = append(rest, l)
		}
	}
	return strings.Join(append(writes, rest...), "\n")
}

func TestCorpus(t *testing.T) {
	cases := corpus(t)
	if len(cases) < 90 {
		t.Errorf("only %d cases were read", len(cases))
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("line %d", c.line), func(t *testing.T) {
			r, err := Inspect(c.command, "/repo")
			got, want := byKind(describe(r, err, "/repo")), byKind(c.want)
			if got != want {
				t.Errorf("corpus.txt:%d\n%s\n\ngot:\n%s\n\nwant:\n%s", c.line, c.command, got, want)
			}
		})
	}
}

func TestCRLF(t *testing.T) {
	r, err := Inspect("cat > a.txt <<'EOF'\r\nx\r\nEOF\r\nrm b.txt\r\n", "/repo")
	if got := byKind(describe(r, err, "/repo")); got != "write a.txt\nwrite b.txt" {
		t.Errorf("got %s", got)
	}
}

func TestDir(t *testing.T) {
	for _, tt := range []struct{ dir, want string }{
		{"/", "/a"},
		{"/x//y/../z/", "/x/z/a"},
		{"", ""},
		{"relative", ""},
	} {
		r, err := Inspect("touch a", tt.dir)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Writes) > 0 {
			got = r.Writes[0].Path
		}
		if got != tt.want {
			t.Errorf("in %q: got %q, want %q", tt.dir, got, tt.want)
		}
	}
}

// TestTramplesSpeak holds that a refusal always has a reason to give.
func TestTramplesSpeak(t *testing.T) {
	for _, c := range corpus(t) {
		r, _ := Inspect(c.command, "/repo")
		for _, tr := range r.Tramples {
			if tr.Command == "" || tr.Why == "" || strings.HasSuffix(tr.Why, ".") ||
				tr.Instead != "" && !strings.HasSuffix(tr.Instead, ".") {
				t.Errorf("%q: %+v", c.command, tr)
			}
		}
	}
}

// TestBounded holds that a short line can't buy a long run: the hook behind
// this has a deadline.
func TestBounded(t *testing.T) {
	for name, command := range map[string]string{
		"braces":    "touch " + strings.Repeat("{a,b}", 200),
		"doubling":  "x=aaaa;" + strings.Repeat("x=$x$x;", 200) + "touch $x",
		"splitting": "x='" + strings.Repeat("a ", 10000) + "';touch" + strings.Repeat(" $x", 10000),
		"loops":     strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 50) + "touch $i" + strings.Repeat("; done", 50),
		"lookups":   strings.Repeat("x=1;", 10000) + strings.Repeat("echo $y;", 10000),
		"scripts":   "x='((((';" + strings.Repeat("x=$x$x;", 15) + "eval $x",
		"reparsing": "x='" + strings.Repeat("a;", 30000) + `';` + strings.Repeat(`eval "$x";`, 5000),
		"finds":     strings.Repeat("find -exec ", 10000) + "{}",
		"found":     "find " + strings.Repeat("a ", 8000) + strings.Repeat("-name b ", 8000) + "-delete",
		"wrappers":  strings.Repeat("sudo ", 20000) + "rm a",
		"evals":     strings.Repeat("eval ", 20000) + "rm a",
		"tilts":     "for i in " + strings.Repeat("a ", 5000) + "; do cat <<E\n" + strings.Repeat("$x ", 10000) + "\nE\ndone",
		"subshells": strings.Repeat(")", 1000) + strings.Repeat("(", 100000),
		"blocks":    strings.Repeat("{ ", 20000),
		"nesting":   strings.Repeat("(", maxNesting) + "rm a" + strings.Repeat(")", maxNesting),
		"targets":   "rm " + strings.Repeat("a ", 60000),
		"too long":  strings.Repeat("a", maxLength+1),
	} {
		t.Run(name, func(t *testing.T) {
			// Without a bound most of these would not end before the test's own limit.
			r, err := Inspect(command, "/repo")
			if err == nil && len(command) > maxLength {
				t.Error("it was read")
			}
			if len(r.Writes) > maxLength {
				t.Errorf("%d targets from %d bytes", len(r.Writes), len(command))
			}
		})
	}
}

func FuzzInspect(f *testing.F) {
	for _, c := range corpus(f) {
		f.Add(c.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		r, err := Inspect(command, "/repo")
		if err != nil && (r.Writes != nil || r.Tramples != nil) {
			t.Errorf("an error and a report: %+v", r)
		}
		isClean := func(p string) bool { return path.IsAbs(p) && path.Clean(p) == p }
		for _, target := range r.Writes {
			if !isClean(target.Path) || target.Into != "" && !isClean(target.Into) {
				t.Errorf("not absolute and clean: %+v", target)
			}
		}
		for _, trample := range r.Tramples {
			if trample.Command == "" || trample.Dir != "" && !isClean(trample.Dir) {
				t.Errorf("not absolute and clean: %+v", trample)
			}
		}
	})
}

func BenchmarkInspect(b *testing.B) {
	for name, command := range map[string]string{
		"read":    `go test ./... 2>&1 | tail -40`,
		"sed":     `cd web && sed -i 's/foo/bar/g' src/a.ts src/b.ts && git add src/a.ts`,
		"heredoc": "cat > main.go <<'EOF'\n" + strings.Repeat("func f() { return } // line\n", 300) + "EOF",
		"script":  `for f in a b c; do if [ -f "$f" ]; then cp "$f" "$f.bak" && sed -i s/x/y/ "$f"; fi; done > log 2>&1; git status`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Inspect(command, "/repo"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
