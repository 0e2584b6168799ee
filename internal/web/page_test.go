package web

import (
	"net/http"
	"strings"
	"testing"
)

// A brief is served under the name that it has in the run dir, and nothing else that lies there is.
func TestBrief(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	if err := f.fleet.Dir.Write(f.fleet.Dir.Brief("WS01"), []byte("# work of WS01\n")); err != nil {
		t.Fatal(err)
	}
	if resp, text := f.ask(http.MethodGet, "/briefs/WS01.md", ""); resp.StatusCode != http.StatusOK || text != "# work of WS01\n" {
		t.Errorf("the brief is %d %q", resp.StatusCode, text)
	}
	for _, name := range []string{"WS02.md", "..%2ffleet.env", "%2e%2e%2fevents.jsonl", "WS01.script.json"} {
		if resp, text := f.ask(http.MethodGet, "/briefs/"+name, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s is %d %q", name, resp.StatusCode, text)
		}
	}
}

// A stream says each event in words as well, on one line, for the page; its data stays the line of the file.
func TestStreamSaysWords(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	f.happen(1)
	l := f.listen("/events/stream?since=0")
	var seen []string
	for len(seen) < 40 {
		line, err := l.in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, line)
		if strings.HasPrefix(line, "said: <hi>") {
			if before := seen[len(seen)-2]; before != "tone: quiet\n" {
				t.Errorf("its tone is %q", before)
			}
			return
		}
	}
	t.Errorf("no words in %q", seen)
}
