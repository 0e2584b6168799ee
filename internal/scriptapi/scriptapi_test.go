package scriptapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// block is one piece of an answer.
type block struct {
	Type, Text, ID, Name string
	Input                map[string]any
}

// reply is an answer as a client understands it, whichever way it came.
type reply struct {
	Content    []block
	StopReason string `json:"stop_reason"`
	Error      struct{ Type, Message string }

	status int
	header http.Header
}

// said is the text of a reply that is nothing but text.
func (r reply) said() string {
	if len(r.Content) != 1 || r.StopReason != "end_turn" {
		return ""
	}
	return r.Content[0].Text
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const (
	tools = `"tools":[{"name":"Write","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}]`
	whole = `"stream":false`
	sse   = `"stream":true`
)

// ask sends a request whose body has these members besides its model.
func ask(t *testing.T, s *Server, header http.Header, members ...string) (r reply) {
	t.Helper()
	res, err := post(t.Context(), s.URL(), header, members...)
	if err != nil {
		t.Error(err) // not Fatal, which is for the goroutine of the test
		return r
	}
	defer func() { _ = res.Body.Close() }()
	r.status, r.header = res.StatusCode, res.Header
	if res.Header.Get("Content-Type") == "text/event-stream" {
		err = r.readStream(res.Body)
	} else {
		err = json.NewDecoder(res.Body).Decode(&r)
	}
	if err != nil {
		t.Error(err)
	}
	return r
}

func post(ctx context.Context, url string, header http.Header, members ...string) (*http.Response, error) {
	body := `{"model":"m",` + strings.Join(members, ",") + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	return http.DefaultClient.Do(req)
}

// readStream puts a stream together the way the clients do.
func (r *reply) readStream(body io.Reader) error {
	var kinds []string
	var input string // of the block that is open
	for lines := bufio.NewScanner(body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type  string
			Block block `json:"content_block"`
			Delta struct {
				Text        string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return fmt.Errorf("%w: %s", err, data)
		}
		kinds = append(kinds, event.Type)
		last := len(r.Content) - 1
		switch event.Type {
		case "content_block_start":
			r.Content, input = append(r.Content, event.Block), ""
		case "content_block_delta":
			r.Content[last].Text += event.Delta.Text
			input += event.Delta.PartialJSON
		case "content_block_stop":
			if r.Content[last].Type != "tool_use" {
				break
			}
			if err := json.Unmarshal([]byte(input), &r.Content[last].Input); err != nil {
				return fmt.Errorf("%w: %s", err, input)
			}
		case "message_delta":
			r.StopReason = event.Delta.StopReason
		}
	}
	if n := len(kinds); n == 0 || kinds[0] != "message_start" || kinds[n-1] != "message_stop" {
		return fmt.Errorf("events %v", kinds)
	}
	return nil
}

func user(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"role":"user","content":` + string(quoted) + `}`
}

func messages(list ...string) string { return `"messages":[` + strings.Join(list, ",") + `]` }

func TestTurnsAreTheSameWholeAndStreamed(t *testing.T) {
	for _, way := range []string{whole, sse} {
		t.Run(way, func(t *testing.T) {
			s := start(t)
			s.Script("go",
				Turn{Text: "I write", Tools: []Tool{
					{Name: "Write", Input: map[string]any{"file_path": "a<b>.txt", "content": "x\n"}},
					{Name: "ListAgents"},
				}},
				Turn{Text: "done"})

			r := ask(t, s, nil, way, tools, messages(user("go")))
			if len(r.Content) != 3 || r.StopReason != "tool_use" {
				t.Fatalf("reply = %+v", r)
			}
			text, write, list := r.Content[0], r.Content[1], r.Content[2]
			if text.Type != "text" || text.Text != "I write" {
				t.Errorf("text = %+v", text)
			}
			if want := map[string]any{"file_path": "a<b>.txt", "content": "x\n"}; write.Type != "tool_use" ||
				write.Name != "Write" || !reflect.DeepEqual(write.Input, want) {
				t.Errorf("write = %+v", write)
			}
			if list.Name != "ListAgents" || list.Input == nil || list.ID == write.ID {
				t.Errorf("list = %+v", list)
			}
			for _, want := range []string{"done", "nothing more to do", "nothing more to do"} {
				if got := ask(t, s, nil, way, tools, messages(user("go"))).said(); got != want {
					t.Errorf("said %q, want %q", got, want)
				}
			}
		})
	}
}

func TestConversationIsFoundByItsKey(t *testing.T) {
	const agent = `{"role":"assistant","content":[{"type":"text","text":"about WS03"}]}`
	for _, test := range []struct {
		name, want string
		messages   []string
	}{
		{"plain text", "WS01", []string{user("read briefs/WS01.md")}},
		{"first message wins", "WS01", []string{user("WS01"), agent, user("now WS02")}},
		{"a message without a key is passed over", "WS02", []string{user("hello"), agent, user("WS02")}},
		{"longest key wins", "WS011", []string{user("read WS011 of WS02")}},
		{"reminders do not count", "WS02", []string{
			user("<system-reminder>\nsee WS01\n</system-reminder>\nread WS02"),
		}},
		{"nor does the system, nor a tool", "", []string{
			`{"role":"system","content":"WS01"}`, agent,
			`{"role":"user","content":[{"type":"tool_result","content":"WS01"}]}`,
		}},
		{"blocks", "WS02", []string{
			`{"role":"user","content":[{"type":"text","text":"<system-reminder>WS01</system-reminder>"},{"type":"text","text":"WS02"}]}`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t)
			for _, key := range []string{"", "WS01", "WS02", "WS03", "WS011"} {
				s.Script(key, Turn{Text: "I am " + key})
			}
			if got := ask(t, s, nil, whole, tools, messages(test.messages...)).said(); got != "I am "+test.want {
				t.Errorf("said %q, want %q", got, "I am "+test.want)
			}
			if n := len(s.Requests(test.want)); n != 1 {
				t.Errorf("%d requests recorded", n)
			}
		})
	}
}

func TestNobodyStealsTurns(t *testing.T) {
	s := start(t)
	s.Script("WS01", Turn{Text: "first"}, Turn{Text: "second"})
	s.Script(Subagent+"WS01 look", Turn{Text: "looked"})
	subagent := http.Header{"X-Claude-Code-Agent-Id": {"a1"}}
	title := `"output_config":{"format":{"type":"json_schema"}}`
	search := `"tools":[{"type":"web_search_20250305","name":"web_search"}]`

	for _, step := range []struct {
		who     string
		header  http.Header
		members []string
		want    string
	}{
		{"a title", nil, []string{title, messages(user("WS01"))}, `{"title":"scripted"}`},
		{"a search", nil, []string{search, messages(user("WS01"))}, `{"title":"scripted"}`},
		{"the agent", nil, []string{tools, messages(user("WS01"))}, "first"},
		{"its subagent", subagent, []string{tools, messages(user("WS01 look"))}, "looked"},
		{"another subagent", subagent, []string{tools, messages(user("WS01"))}, "nothing more to do"},
		{"the agent, later", nil, []string{tools, messages(user("WS01"))}, "second"},
	} {
		if got := ask(t, s, step.header, append(step.members, sse)...).said(); got != step.want {
			t.Errorf("%s: said %q, want %q", step.who, got, step.want)
		}
	}
	for key, want := range map[string]int{"WS01": 2, Subagent + "WS01 look": 1, Subagent: 1, "": 0} {
		if got := len(s.Requests(key)); got != want {
			t.Errorf("%d requests of %q, want %d", got, key, want)
		}
	}
}

func TestRequestIsWhatIsNew(t *testing.T) {
	s := start(t)
	ask(t, s, nil, sse, tools, messages(
		user("old"),
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Write","input":{}}]}`,
		`{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"held by WS02"},
			{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
			{"type":"text","text":"go on"}]}`,
		`{"role":"system","content":[{"type":"text","text":"context"}]}`,
	))
	want := []Request{{
		Texts:   []string{"go on", "context"},
		Results: []Result{{"held by WS02", true}, {"a\nb", false}},
		Tools:   []string{"Write"},
	}}
	if got := s.Requests(""); !reflect.DeepEqual(got, want) {
		t.Errorf("requests = %+v\nwant %+v", got, want)
	}
}

func TestErrorAnswer(t *testing.T) {
	s := start(t)
	s.Script("", Turn{
		Status: http.StatusTooManyRequests, ErrorType: "rate_limit_error", Text: "slow down",
		Header: http.Header{"Retry-After": {"60"}},
	}, Turn{Status: http.StatusInternalServerError})

	r := ask(t, s, nil, sse, tools, messages(user("x")))
	if r.status != 429 || r.Error.Type != "rate_limit_error" || r.Error.Message != "slow down" || r.header.Get("Retry-After") != "60" {
		t.Errorf("reply = %+v", r)
	}
	if r = ask(t, s, nil, sse, tools, messages(user("x"))); r.status != 500 || r.Error.Type != "api_error" {
		t.Errorf("reply = %+v", r)
	}
}

func TestGateHoldsTheAnswer(t *testing.T) {
	s := start(t)
	gate := make(chan struct{})
	s.Script("", Turn{Text: "at last", Gate: gate})
	said := make(chan string)
	go func() { said <- ask(t, s, nil, sse, tools, messages(user("x"))).said() }()

	if err := s.Await(t.Context(), "", 1); err != nil {
		t.Fatal(err)
	}
	select {
	case early := <-said:
		t.Fatalf("said %q before the gate opened", early)
	default:
	}
	close(gate)
	if got := <-said; got != "at last" {
		t.Errorf("said %q", got)
	}
}

func TestGateEndsWithItsClient(t *testing.T) {
	s := start(t)
	s.Script("", Turn{Gate: make(chan struct{})})
	returned := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handle(w, r)
		close(returned)
	}))
	defer front.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		if err := s.Await(ctx, "", 1); err == nil {
			leave()
		}
	}()
	res, err := post(ctx, front.URL, nil, tools, messages(user("x")))
	if err == nil {
		_ = res.Body.Close()
		t.Error("there was an answer")
	}
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Error("the gate still holds")
	}
}

func TestCloseDropsWhatIsHeld(t *testing.T) {
	s := start(t)
	s.Script("", Turn{Gate: make(chan struct{})})
	go func() {
		if err := s.Await(t.Context(), "", 1); err == nil {
			_ = s.Close()
		}
	}()
	res, err := post(t.Context(), s.URL(), nil, tools, messages(user("x")))
	if err == nil {
		_ = res.Body.Close()
		t.Error("there was an answer")
	}
}

func TestAwait(t *testing.T) {
	s := start(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { ask(t, s, nil, sse, tools, messages(user("x"))) })
	}
	if err := s.Await(t.Context(), "", 8); err != nil {
		t.Error(err)
	}
	group.Wait()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Await(ctx, "", 9)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `8 of 9 requests of ""`) {
		t.Errorf("err = %v", err)
	}
}

func TestEverythingElse(t *testing.T) {
	s := start(t)
	for _, test := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPost, "/v1/messages/count_tokens", `{}`, 200},
		{http.MethodPost, "/v1/messages", `{"messages":`, 400},
		{http.MethodPost, "/api/event_logging/batch", `{}`, 404},
		{http.MethodHead, "/api/hello", ``, 404},
		{http.MethodGet, "/", ``, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, s.URL()+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != test.status {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, res.StatusCode, test.status)
		}
	}
}
