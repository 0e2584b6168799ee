package roster

import (
	"strings"
	"testing"
	"time"
)

// PAINS 111..113: what agents say of their limits, in many forms, becomes a time; what is no limit doesn't.
func TestLimitReset(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	at := time.Date(2026, 11, 30, 14, 20, 0, 0, berlin)
	day := func(month time.Month, d, h, m int) time.Time { return time.Date(2026, month, d, h, m, 0, 0, berlin) }
	for text, want := range map[string]time.Time{
		"You've hit your usage limit · resets 3pm":                                           day(11, 30, 15, 0),
		"You've hit your session limit · resets 2:15pm":                                      day(12, 1, 14, 15),
		"5-hour limit reached ∙ resets at 9am (UTC)":                                         day(12, 1, 10, 0),
		"You've hit your limit · resets Dec 4, 3:30pm (Europe/Berlin)":                       day(12, 4, 15, 30),
		"Claude AI usage limit reached|1796050800":                                           time.Unix(1796050800, 0),
		"You've hit your usage limit. Upgrade to Pro or try again at Dec 4th, 2026 3:05 PM.": day(12, 4, 15, 5),
		"You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.":                at.Add(76*time.Hour + 5*time.Minute),
		"Rate limit reached for gpt-5. Please try again in 6.5s.":                            at.Add(6500 * time.Millisecond),
		"usage limit: try again at 15:30":                                                    day(11, 30, 15, 30),
		"API Error: 429 rate_limit_error":                                                    at.Add(limitWait),
		"exceeded your current quota, resets 99pm 2099":                                      at.Add(limitWait),
		"usage limit, try again in 400 days":                                                 at.Add(limitWait),
		"API Error: 529 Overloaded":                                                          at.Add(overloadWait),
	} {
		got, limited := LimitReset(text, at)
		if !limited || !got.Equal(want) {
			t.Errorf("%s: %v %v, want %v", text, limited, got, want)
		}
	}
	for _, text := range []string{"", "API Error: 400 bad request", "the test on line 429 fails", "authentication_failed", "the limit of 80 columns"} {
		if got, limited := LimitReset(text, at); limited {
			t.Errorf("%s: a limit until %v", text, got)
		}
	}
}

func FuzzLimitReset(f *testing.F) {
	f.Add("usage limit · resets Dec 4th, 2026 3:05 PM (UTC)")
	f.Fuzz(func(t *testing.T, text string) {
		if until, limited := LimitReset(text, now); limited && (!until.After(now) || until.Sub(now) > longestLimit) {
			t.Errorf("%q: until %v", text, until)
		}
	})
}

// PAINS 112, 113: a worker at its limit is parked with the time, its task loses no attempt and goes to whoever can do it; nothing starts
// before that time, a new incarnation or not, and then the tick lets it go on by itself.
func TestParked(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{doing("T1", "WS01")}}
	w, task := &s.Workstreams[0], &s.Tasks[0]
	w.Status, w.TaskID, w.Brain, task.MaxAttempts = Working, "T1", "codex", 1
	applied, err := s.Complete("WS01", 1, "T1", 1, Outcome{Kind: ErrAgent, Reason: "You've hit your usage limit. Try again in 2 hours."})
	must(t, err)
	if !applied || w.Status != Blocked || !w.ParkedUntil.Equal(now.Add(2*time.Hour)) || !strings.HasPrefix(w.Notes, "limit: until "+w.ParkedUntil.String()) {
		t.Fatalf("applied %v, the row %+v", applied, *w)
	}
	if task.Status != TaskPending || task.ErrorKind != ErrInfra || task.Attempts != 1 || task.MaxAttempts != 2 {
		t.Errorf("the task %+v", *task)
	}
	if events := s.Events(); events[len(events)-2].Type != LimitReached || events[len(events)-2].Data["until"] != w.ParkedUntil {
		t.Errorf("events %+v", events)
	}
	alive := func(string) bool { return true }
	if got := s.Alarms(15); len(got) != 1 || got[0] != "LIMIT WS01 "+w.ParkedUntil.String() {
		t.Errorf("watch says %q", got)
	}
	s.Now = now.Add(time.Hour)
	tick(t, s, alive)
	if w.Status != Blocked || !s.Due().Equal(w.ParkedUntil.Time) {
		t.Errorf("after an hour: %s, due %v", w.Status, s.Due())
	}
	epoch, err := s.Launch("WS01", Launch{Brain: "codex", Mode: Headless, Tree: MainTree})
	must(t, err)
	must(t, s.SessionUp("WS01", epoch, "", "pane"))
	tick(t, s, alive)
	if w.Status != Blocked || task.Status != TaskPending {
		t.Errorf("a new start: %s, the task %s", w.Status, task.Status)
	}
	s.Now = now.Add(2 * time.Hour)
	tick(t, s, alive)
	if w.Status != Working || w.TaskID != "T1" || task.Attempts != 2 || !w.ParkedUntil.IsZero() {
		t.Errorf("when it is over: %+v, the task %+v", *w, *task)
	}
	// Another agent doesn't share the limit, and a message by a person lifts it.
	s.park(w, s.Now.Add(time.Hour), "x")
	_, err = s.Launch("WS01", Launch{Brain: "claude", Mode: Headless, Tree: MainTree})
	must(t, err)
	if !w.ParkedUntil.IsZero() {
		t.Error("parked for a limit of another agent")
	}
}

// An interactive worker's limit comes by its hook. A prompt, or any activity, lifts it.
func TestParkedOnScreen(t *testing.T) {
	s := &State{Now: now, Leases: LeaseMap{}, Workstreams: []Workstream{lane("WS01")}, Tasks: []Task{doing("WS01", "WS01")}}
	w := &s.Workstreams[0]
	w.Status, w.TaskID, w.Mode, s.Tasks[0].Pinned = Working, "WS01", Interactive, true
	must(t, s.TurnFailed("WS01", 1, "You've hit your usage limit · try again in 5m"))
	if !w.Parked() || s.Tasks[0].Status != TaskPending || s.Tasks[0].MaxAttempts != 4 {
		t.Fatalf("the row %+v, the task %+v", *w, s.Tasks[0])
	}
	must(t, s.PromptSubmitted("WS01", 1, "go on"))
	if w.Status != Working || !w.ParkedUntil.IsZero() {
		t.Errorf("after a prompt %+v", *w)
	}
}
