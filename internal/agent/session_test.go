package agent

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fleet/roster"
)

func read(t *testing.T, stream string) (s Session, shown []string) {
	t.Helper()
	s, err := claude("claude", "").ReadSession(strings.NewReader(stream), func(line string) { shown = append(shown, line) })
	if err != nil {
		t.Fatal(err)
	}
	return s, shown
}

const (
	opening = `{"type":"system","subtype":"init","session_id":"s1","cwd":"/repo","tools":["Read"]}` + "\n"
	speech  = `{"type":"assistant","message":{"content":[{"type":"text","text":"I begin"},{"type":"tool_use","name":"Write","input":{"file_path":"a.go"}}]}}` + "\n"
)

// CF-122: what a session says is told, its first frame is kept, and what is no frame is shown as it is.
func TestReadSession(t *testing.T) {
	s, shown := read(t, "warning: no disk\n"+opening+"\n"+speech+`{"type":"result","subtype":"success","result":"done"}`)
	if s.ID != "s1" || s.CWD != "/repo" || !strings.Contains(string(s.Init), `"tools":["Read"]`) || s.Result == nil || s.Result.Text != "done" || s.Tools != 1 {
		t.Errorf("session %+v", s)
	}
	if diff := cmp.Diff([]string{"warning: no disk", "● I begin", "● Write(a.go)"}, shown); diff != "" {
		t.Error(diff)
	}
	if _, err := claude("claude", "").ReadSession(io.MultiReader(strings.NewReader(opening), broken{}), func(string) {}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a stream that breaks: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A line of fifty megabytes is read past, and what comes after it counts; if nothing does, there is no result.
func TestReadSessionOfHugeLines(t *testing.T) {
	huge := func(rest string) io.Reader {
		return io.MultiReader(strings.NewReader(opening+`{"type":"result","result":"`), io.LimitReader(endless{}, 50<<20), strings.NewReader("\"}\n"+rest))
	}
	var shown []string
	s, err := claude("claude", "").ReadSession(huge(`{"type":"result","subtype":"success","result":"small"}`), func(line string) { shown = append(shown, line) })
	if err != nil || s.Result == nil || s.Result.Text != "small" || len(shown) > 0 {
		t.Errorf("session %v, %v, shown %d lines", s.Result, err, len(shown))
	}
	if s, err := claude("claude", "").ReadSession(huge(""), func(string) {}); err != nil || s.Outcome(0, false).Kind != roster.ErrInfra {
		t.Errorf("a result that is too large: %v, %v", s.Result, err)
	}
}

// endless is a text without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// CF-80, CF-84, CF-120, CF-121: a session is judged by its result and its exit, cached tokens
// count as input, and a usage that can't be read counts nothing and fails nothing.
func TestOutcome(t *testing.T) {
	result := func(rest string) string { return opening + `{"type":"result",` + rest + "}\n" }
	usage := `"total_cost_usd":0.5,"duration_ms":7,"modelUsage":{` +
		`"a":{"inputTokens":1,"cacheReadInputTokens":20,"cacheCreationInputTokens":300,"outputTokens":4},"b":{"inputTokens":5000,"outputTokens":60}}`
	for name, c := range map[string]struct {
		stream   string
		exit     int
		timedOut bool
		want     roster.Outcome
	}{
		"well": {
			result(`"subtype":"success","result":"done",` + usage), 0, false,
			roster.Outcome{OK: true, Summary: "done", InputTokens: 5321, OutputTokens: 64, CostUSD: 0.5, DurationMS: 7, SessionID: "s1"},
		},
		"usage of words": {
			result(`"subtype":"success","result":"done","total_cost_usd":-3,"modelUsage":{"a":{"inputTokens":"many"}}`), 0, false,
			roster.Outcome{OK: true, Summary: "done", SessionID: "s1"},
		},
		"no result":    {opening, 137, false, roster.Outcome{Kind: roster.ErrInfra, Reason: "it ended with code 137 and without a result", SessionID: "s1"}},
		"nothing":      {"", 0, false, roster.Outcome{Kind: roster.ErrInfra, Reason: "it ended with code 0 and without a result"}},
		"out of time":  {result(`"subtype":"success","result":"done"`), 137, true, roster.Outcome{Kind: roster.ErrTimeout, Reason: "its time was over", Summary: "done", SessionID: "s1"}},
		"out of turns": {result(`"subtype":"error_max_turns"`), 1, false, roster.Outcome{Kind: roster.ErrBudget, Reason: "it reached its limit: error_max_turns", SessionID: "s1"}},
		"out of money": {result(`"subtype":"error_max_budget_usd"`), 1, false, roster.Outcome{Kind: roster.ErrBudget, Reason: "it reached its limit: error_max_budget_usd", SessionID: "s1"}},
	} {
		s, _ := read(t, c.stream)
		if diff := cmp.Diff(c.want, s.Outcome(c.exit, c.timedOut)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// An API error says success, and is one all the same.
	for name, rest := range map[string]string{"is_error": `"subtype":"success","is_error":true,"result":"API Error: 400"`, "subtype": `"subtype":"error_during_execution"`} {
		s, _ := read(t, result(rest))
		if o := s.Outcome(0, false); o.OK || o.Kind != roster.ErrAgent || o.Reason == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	s, _ := read(t, result(`"subtype":"success","result":"done"`))
	if o := s.Outcome(1, false); o.OK || o.Kind != roster.ErrAgent {
		t.Errorf("a program that fails after a result that says success: %+v", o)
	}
}

// CFN-73: what marks the session of a master doesn't reach its workers.
func TestWorkerIsASessionOfItsOwn(t *testing.T) {
	t.Setenv("GLM_API_KEY", "k")
	t.Setenv("FLEET_WORKER_CONFIG_DIR", t.TempDir())
	for _, b := range Brains() {
		c, err := b.Command(t.Context(), "/fleet", Job{})
		if err != nil || !slices.Contains(c.Unset, "TMUX") || !slices.Contains(c.Unset, "CLAUDECODE") {
			t.Errorf("%s starts without %v: %v", b.Name, c.Unset, err)
		}
	}
}

// CF-112, CF-115, CF-116, CF-117, MW-26: what a headless session may do stands in its command line, and a
// queue in one session isn't cut short by the agent's own limit of Stop hooks.
func TestClaudeCommand(t *testing.T) {
	b, err := Find("haiku")
	if err != nil {
		t.Fatal(err)
	}
	job := Job{Mode: roster.Headless, Settings: "/s.json", Prompt: "read x", Limits: Limits{Sealed: true, MaxTurns: 40, BudgetUSD: 0.5}}
	want := []string{
		"claude", "--permission-mode", "dontAsk", "--settings", "/s.json", "--model", "haiku", "-p", "--output-format", "stream-json", "--verbose",
		"--tools", "Read,Write,Edit,MultiEdit,NotebookEdit,Glob,Grep", "--setting-sources", "", "--strict-mcp-config",
		"--max-turns", "40", "--max-budget-usd", "0.5", "read x",
	}
	c, err := b.Command(t.Context(), "/fleet", job)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=1000000"}, c.Set); diff != "" {
		t.Error(diff)
	}
	job.Limits = Limits{Model: "other"}
	if c, err = b.Command(t.Context(), "/fleet", job); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Args, " "); strings.Contains(got, "--tools") || strings.Contains(got, "--max") || !strings.Contains(got, "--model other") {
		t.Errorf("unsealed and without limits: %s", got)
	}
}
