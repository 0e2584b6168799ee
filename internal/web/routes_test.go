package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"fleet/roster"
)

// CF-105, CF-107: every read is JSON and works on an empty run, where lists are empty and none is null.
func TestReadsOfAnEmptyRun(t *testing.T) {
	f := serve(t, nil)
	for path, lists := range map[string][]string{
		"/state": {"workstreams", "tasks", "leases", "alerts", "waits", "lanes"}, "/status.json": {"lanes"}, "/tasks": {"tasks"},
		"/workstreams": {"workstreams"}, "/agents": {"agents"}, "/leases": {"leases"}, "/conflicts": {"conflicts"}, "/events": {"events"}, "/health": nil,
	} {
		doc := f.get(path)
		for _, key := range lists {
			if list, ok := doc[key].([]any); !ok || len(list) != 0 {
				t.Errorf("%s: %s is %v", path, key, doc[key])
			}
		}
	}
	if doc := f.get("/health"); doc["status"] != "ok" || doc["run"] != "shop" || doc["last_event_id"] != 0.0 || doc["server_time"] == "" {
		t.Errorf("/health is %v", doc)
	}
}

// CF-104, CF-105: what is asked is what a command answers: tasks by status and in portions, with what is derived; who and what; files
// with holder and age; denied writes; events in portions.
func TestReads(t *testing.T) {
	f := serve(t, nil)
	for _, ws := range []string{"WS01", "WS02"} {
		f.add(ws)
	}
	f.update(func(s *roster.State) error {
		_, err := s.AddTasks([]roster.NewTask{{ID: "T1", Title: "after", DependsOn: []string{"WS01"}}})
		if err != nil {
			return err
		}
		for _, ws := range []string{"WS01", "WS02"} {
			if _, err := s.Launch(ws, roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: roster.MainTree}); err != nil {
				return err
			}
			if err := s.SessionUp(ws, 1, "session", "startup"); err != nil {
				return err
			}
			if err := s.PromptSubmitted(ws, 1, "read "+roster.BriefName(ws)); err != nil {
				return err
			}
		}
		return nil
	})
	present := func(string) bool { return true }
	f.update(func(s *roster.State) error {
		s.AcquireLeases(roster.WriteRequest{WS: "WS01", Epoch: 1, Paths: []string{"a.go"}, Tool: "Write", Alive: present})
		s.AcquireLeases(roster.WriteRequest{WS: "WS02", Epoch: 1, Paths: []string{"a.go"}, Tool: "Edit", Alive: present})
		s.Note(roster.FileChanged, "WS01", "WS01", map[string]any{"path": "a.go"})
		return nil
	})
	first := func(path, list string) map[string]any {
		t.Helper()
		all, _ := f.get(path)[list].([]any)
		if len(all) == 0 {
			t.Fatalf("%s: nothing in %s", path, list)
		}
		return all[0].(map[string]any)
	}
	has := func(what string, doc map[string]any, want map[string]any) {
		t.Helper()
		for key, value := range want {
			if fmt.Sprint(doc[key]) != fmt.Sprint(value) {
				t.Errorf("%s: %s is %v, want %v", what, key, doc[key], value)
			}
		}
	}
	has("/tasks by status", first("/tasks?status=pending", "tasks"), map[string]any{"task_id": "T1", "runnable": false, "unmet_dependencies": "[WS01]"})
	has("/tasks in portions", f.get("/tasks?limit=1&offset=1"), map[string]any{"total": 3})
	has("the second portion", first("/tasks?limit=1&offset=1", "tasks"), map[string]any{"task_id": "WS02"})
	has("/tasks/WS01", f.get("/tasks/WS01"), map[string]any{"status": "running", "dependents": "[T1]", "changes": "[a.go]", "depends_on": "[]"})
	has("/agents", first("/agents", "agents"), map[string]any{"ws_id": "WS01", "status": "working", "stale": false, "alive": false, "held": "[a.go]"})
	has("/workstreams", first("/workstreams", "workstreams"), map[string]any{"ws_id": "WS01"})
	has("/leases", first("/leases", "leases"), map[string]any{"path": "a.go", "ws_id": "WS01", "age_s": 0})
	has("/conflicts", first("/conflicts?resolved=false", "conflicts"), map[string]any{"path": "a.go", "requester": "WS02", "holder": "WS01", "resolved": false})
	if all := f.get("/conflicts?resolved=true")["conflicts"].([]any); len(all) != 0 {
		t.Errorf("resolved conflicts: %v", all)
	}
	has("/events by type", first("/events?type=lease_denied,landed&since=2&limit=1", "events"), map[string]any{"type": "lease_denied", "ws": "WS02"})
	state := f.get("/state")
	if state["last_event_id"] != f.get("/events?limit=0")["last_event_id"] || len(state["tasks"].([]any)) != 3 || state["counters"].(map[string]any)["running"] != 2.0 {
		t.Errorf("/state is %v", state)
	}
}

// CF-90: an error has a code, a message and a detail, whatever it is about.
func TestErrors(t *testing.T) {
	f := serve(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{http.MethodGet, "/nothing", 404, "not_found"},
		{http.MethodGet, "/tasks/T9", 404, "not_found"},
		{http.MethodGet, "/../../etc/passwd", 404, "not_found"},
		{http.MethodDelete, "/tasks", 405, "method_not_allowed"},
		{http.MethodPost, "/state", 405, "method_not_allowed"},
		{http.MethodPost, "/tasks/T9/cancel", 404, "not_found"},
		{http.MethodPost, "/tasks/T9/retry", 404, "not_found"},
		{http.MethodGet, "/tasks?status=open", 400, "bad_request"},
		{http.MethodGet, "/tasks?limit=many", 400, "bad_request"},
		{http.MethodGet, "/tasks?offset=-1", 400, "bad_request"},
		{http.MethodGet, "/events?type=lease_stolen", 400, "bad_request"},
		{http.MethodGet, "/events?since=-1", 400, "bad_request"},
		{http.MethodGet, "/conflicts?resolved=perhaps", 400, "bad_request"},
		{http.MethodGet, "/events/stream?since=x", 400, "bad_request"},
	} {
		resp, text := f.ask(c.method, c.path, "", mine...)
		wants(t, c.method+" "+c.path, resp, text, c.status, c.code)
	}
	resp, _ := f.post("/state", "")
	if allow := resp.Header.Get("Allow"); !strings.Contains(allow, http.MethodGet) {
		t.Errorf("405 allows %q", allow)
	}
}

// CF-103: a batch of tasks is added whole, and 201 tells the ids, or not at all.
func TestAddTasks(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	resp, text := f.post("/tasks", `{"tasks":[{"title":"one","description":"all of it","priority":5,"file_scope":["api/"],"max_attempts":2},
		{"id":"T2","title":"two","depends_on":["WS01"]},{"title":"three","workstream":"WS01"}]}`)
	var made struct{ IDs []string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || resp.StatusCode != http.StatusCreated || len(made.IDs) != 3 {
		t.Fatalf("%s %s: %v", resp.Status, text, err)
	}
	if made.IDs[1] != "T2" || made.IDs[2] != "WS01.2" {
		t.Errorf("ids %v", made.IDs)
	}
	one := f.get("/tasks/" + made.IDs[0])
	if one["title"] != "one" || one["priority"] != 5.0 || one["max_attempts"] != 2.0 || fmt.Sprint(one["scope"]) != "[api]" {
		t.Errorf("the first task is %v", one)
	}
	brief, err := os.ReadFile(f.fleet.Dir.Brief(made.IDs[0]))
	if err != nil || !strings.Contains(string(brief), "all of it") {
		t.Errorf("its brief is %q, %v", brief, err)
	}
	for _, c := range []struct {
		what, body string
		status     int
		code       string
	}{
		{"one of them is wrong", `{"tasks":[{"id":"T3","title":"good"},{"id":"T4","title":"bad","depends_on":["T9"]}]}`, 422, "invalid"},
		{"a circle", `{"tasks":[{"id":"T3","title":"a","depends_on":["T4"]},{"id":"T4","title":"b","depends_on":["T3"]}]}`, 422, "invalid"},
		{"an id that is taken", `{"tasks":[{"id":"T3","title":"a"},{"id":"T2","title":"b"}]}`, 422, "invalid"},
		{"a priority", `{"tasks":[{"id":"T3","title":"a","priority":9}]}`, 422, "invalid"},
		{"a brain", `{"tasks":[{"id":"T3","title":"a","brain":"none"}]}`, 422, "invalid"},
		{"no title", `{"tasks":[{"id":"T3"}]}`, 400, "bad_request"},
		{"a key that is misspelt", `{"tasks":[{"id":"T3","title":"a","depend_on":["T2"]}]}`, 400, "bad_request"},
		{"no task", `{"tasks":[]}`, 400, "bad_request"},
		{"nothing", ``, 400, "bad_request"},
		{"no JSON", `tasks`, 400, "bad_request"},
		{"too much", `{"tasks":[{"id":"T3","title":"a","description":"` + strings.Repeat("x", maxBody) + `"}]}`, 413, "too_large"},
	} {
		resp, text := f.post("/tasks", c.body)
		wants(t, c.what, resp, text, c.status, c.code)
	}
	resp, text = f.ask(http.MethodPost, "/tasks", `{"tasks":[{"title":"a"}]}`, "Authorization", "Bearer secret", "Content-Type", "text/plain")
	wants(t, "as plain text", resp, text, http.StatusUnsupportedMediaType, "not_json")
	if total := f.get("/tasks")["total"]; total != 4.0 {
		t.Errorf("%v tasks, want the 4 that were added rightly", total)
	}
}

// CF-105, CF-106, CF-53, CF-49: a task is cancelled once, with which its holder is fenced and its files are free; only a failed one is tried again.
func TestCancelAndRetry(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	f.update(func(s *roster.State) error {
		if _, err := s.Launch("WS01", roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: roster.MainTree}); err != nil {
			return err
		}
		if err := s.SessionUp("WS01", 1, "session", "startup"); err != nil {
			return err
		}
		s.AcquireLeases(roster.WriteRequest{WS: "WS01", Epoch: 1, Paths: []string{"a.go"}, Tool: "Write", Alive: func(string) bool { return true }})
		return nil
	})
	resp, text := f.post("/tasks/WS01/retry", "")
	wants(t, "retry of what has not failed", resp, text, http.StatusConflict, "not_failed")
	if resp, text = f.post("/tasks/WS01/cancel", ""); resp.StatusCode != http.StatusOK || !strings.Contains(text, `"status":"cancelled"`) {
		t.Errorf("cancel: %s %s", resp.Status, text)
	}
	if w, _ := f.fleet.Dir.Workstream(t.Context(), "WS01"); w.Epoch != 2 || len(f.get("/leases")["leases"].([]any)) != 0 {
		t.Errorf("after the cancel: %+v holds something, or was not fenced", w)
	}
	resp, text = f.post("/tasks/WS01/cancel", "")
	wants(t, "cancel of what is over", resp, text, http.StatusConflict, "task_terminal")

	f.update(func(s *roster.State) error { s.Tasks[0].Status = roster.TaskGivenUp; return nil })
	if resp, text = f.post("/tasks/WS01/retry", ""); resp.StatusCode != http.StatusOK || !strings.Contains(text, `"status":"pending"`) {
		t.Errorf("retry: %s %s", resp.Status, text)
	}
	types := []string{}
	for _, e := range f.get("/events?type=task_cancelled,task_requeued")["events"].([]any) {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	if !slices.Contains(types, "task_cancelled") || !slices.Contains(types, "task_requeued") {
		t.Errorf("events %v", types)
	}
}

// CF-105: a reset is forbidden where the run's settings don't allow it, and refused while an agent runs.
func TestReset(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	resp, text := f.post("/reset", "")
	wants(t, "reset", resp, text, http.StatusForbidden, "forbidden")
	if total := f.get("/tasks")["total"]; total != 1.0 {
		t.Errorf("%v tasks are left, want 1", total)
	}
	f = serve(t, map[string]string{"FLEET_ALLOW_RESET": "on"})
	f.add("WS01")
	alive, err := f.fleet.Dir.HoldLife("WS01")
	if err != nil {
		t.Fatal(err)
	}
	resp, text = f.post("/reset", "")
	wants(t, "reset beside an agent", resp, text, http.StatusConflict, "refused")
	alive()
	if resp, text = f.post("/reset", ""); resp.StatusCode != http.StatusNoContent || text != "" {
		t.Errorf("reset: %s %q", resp.Status, text)
	}
	if total := f.get("/tasks")["total"]; total != 0.0 {
		t.Errorf("%v tasks are left", total)
	}
}

// Every file of the page is served beside it, as what it is, and nothing else of the disk. The dashboard of CFN-111 is this
// page: at an address that --addr chooses, and like it beyond the end of all work.
func TestPage(t *testing.T) {
	f := serve(t, nil)
	resp, text := f.ask(http.MethodGet, "/", "")
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(text, "<title>fleet") {
		t.Errorf("/ is %s %.80q", resp.Status, text)
	}
	kinds := map[string]string{"html": "text/html", "js": "text/javascript", "css": "text/css"}
	for _, name := range pageFiles() {
		if name == "index.html" {
			continue
		}
		resp, text := f.ask(http.MethodGet, "/"+name, "")
		_, end, _ := strings.Cut(name, ".")
		if resp.StatusCode != http.StatusOK || text == "" || !strings.HasPrefix(resp.Header.Get("Content-Type"), kinds[end]) {
			t.Errorf("%s is %s, of type %s", name, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
}
