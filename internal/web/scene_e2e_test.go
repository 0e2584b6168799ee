//go:build e2e

package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// scene is a run in a repository of its own, whose workers are played: what their
// hooks and wrappers would report goes through the same rules, at made-up times.
type scene struct {
	t     *testing.T
	dir   *rundir.Dir
	began time.Time
	plans map[string]plan
}

// minutesAgo is when a scene began.
const minutesAgo = 18

// plan is a task, and how its worker fares with it.
type plan struct {
	roster.NewTask
	writes  []string
	minutes float64
	fails   bool
}

// cast are the workers of a scene: id, name, brain.
type cast [][3]string

func newScene(t *testing.T, slug string, workers cast, plans []plan) *scene {
	t.Helper()
	root := filepath.Join(t.TempDir(), "webshop")
	check(t, os.MkdirAll(root, 0o755))
	out, err := exec.Command("git", "-C", root, "init", "--quiet").CombinedOutput()
	if err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	dir, err := rundir.Create(root, slug, planningtemplate.Files, rundir.ConfigText(map[string]string{"FLEET_LEASE_UNTIL": "task", "FLEET_ALLOW_RESET": "on"}))
	check(t, err)
	s := &scene{t: t, dir: dir, began: time.Now().Add(-minutesAgo * time.Minute), plans: make(map[string]plan)}
	batch := make([]roster.NewTask, len(plans))
	for i, p := range plans {
		batch[i] = p.NewTask
		s.plans[p.ID] = p
	}
	s.at(0, func(st *roster.State) error {
		for _, w := range workers {
			if err := st.AddSlot(roster.NewWorkstream{ID: w[0], Name: w[1], Brain: w[2], Text: "serves the graph"}); err != nil {
				return err
			}
		}
		return nil
	})
	_, err = dir.AddTasks(t.Context(), batch)
	check(t, err)
	s.at(0, func(st *roster.State) error {
		for _, w := range workers {
			epoch, err := st.Launch(w[0], roster.Launch{Brain: w[2], Mode: roster.Interactive, Tree: roster.MainTree})
			if err != nil {
				return err
			}
			if err := st.SessionUp(w[0], epoch, "session", "startup"); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// at makes a transition as if it were that many minutes into the run.
func (s *scene) at(minute float64, rule func(*roster.State) error) {
	s.t.Helper()
	now := s.began.Add(time.Duration(minute * float64(time.Minute)))
	check(s.t, s.dir.Update(s.t.Context(), func(st *roster.State) error {
		st.Now = now.UTC().Truncate(time.Millisecond)
		return rule(st)
	}))
}

// play lets the workers work for so many minutes.
func (s *scene) play(minutes float64) {
	s.t.Helper()
	for now := 0.25; now <= minutes; now += 0.25 {
		s.at(now, s.moment)
	}
}

// moment is what happens in a quarter of a minute: whoever has a task begins it, writes for it or ends it.
func (s *scene) moment(st *roster.State) error {
	if err := st.Tick(func(string) bool { return true }); err != nil {
		return err
	}
	for i := range st.Workstreams {
		w := &st.Workstreams[i]
		t := st.Task(w.TaskID)
		if t == nil || w.Status != roster.Working {
			continue
		}
		if err := s.work(st, w, t); err != nil {
			return fmt.Errorf("%s at %s: %w", w.ID, t.ID, err)
		}
	}
	return nil
}

func (s *scene) work(st *roster.State, w *roster.Workstream, t *roster.Task) error {
	p := s.plans[t.ID]
	switch spent := st.Now.Sub(t.AssignedAt.Time).Minutes(); {
	case t.Status == roster.TaskAssigned:
		return st.PromptSubmitted(w.ID, w.Epoch, "read briefs/"+t.ID+".md and start")
	case spent >= p.minutes && p.fails:
		_, err := st.Complete(w.ID, w.Epoch, t.ID, t.Attempts, roster.Outcome{Kind: roster.ErrTimeout, Reason: "its time is over"})
		return err
	case spent >= p.minutes:
		if err := st.Committed(w.ID, fmt.Sprintf("%07x", st.Now.Unix()%0xfffffff), p.writes, st.Held(w.ID), nil, false); err != nil {
			return err
		}
		_, err := st.Complete(w.ID, w.Epoch, t.ID, t.Attempts, roster.Outcome{
			OK: true, Summary: p.Title + ": done, its tests pass", InputTokens: int64(4e4 * p.minutes), OutputTokens: int64(3e3 * p.minutes), CostUSD: 0.11 * p.minutes, DurationMS: int64(6e4 * spent),
		})
		return err
	default:
		return s.write(st, w, p)
	}
}

// write takes the files of a task one after the other; a worker that is denied one ends its turn.
func (s *scene) write(st *roster.State, w *roster.Workstream, p plan) error {
	for _, path := range p.writes {
		if l, held := st.Leases.Get(path); held && l.WS == w.ID {
			continue
		}
		denials := st.AcquireLeases(roster.WriteRequest{WS: w.ID, Epoch: w.Epoch, Paths: []string{path}, Tool: "Edit", Alive: func(string) bool { return true }})
		if len(denials) > 0 {
			return st.TurnEnded(w.ID, w.Epoch, "I wait for "+path)
		}
		return st.FileWritten(w.ID, w.Epoch, path, "Edit", "stamp")
	}
	return st.Activity(w.ID, w.Epoch)
}

// shop is a run in the middle of its work, with something of everything.
func shop(t *testing.T) *scene {
	t.Helper()
	task := func(id, title string, minutes float64, writes []string, after ...string) plan {
		return plan{NewTask: roster.NewTask{ID: id, Title: title, Description: title + ". Change nothing else.", Scope: writes[:1], DependsOn: after, MaxAttempts: 3}, writes: writes, minutes: minutes}
	}
	files := func(paths ...string) []string { return paths }
	plans := []plan{
		task("T1", "model an order and its lines", 4, files("order/order.go", "order/line.go")),
		task("T2", "keep orders in PostgreSQL", 5, files("order/store.go", "migrations/0007_orders.sql"), "T1"),
		task("T3", "answer POST /orders", 6, files("api/orders.go", "api/routes.go"), "T1"),
		task("T4", "answer GET /orders/{id}", 5, files("api/routes.go", "api/orders_get.go"), "T1"),
		task("T5", "reserve stock for an order", 9, files("stock/reserve.go"), "T2"),
		task("T6", "cancel an order", 6, files("order/cancel.go", "api/routes.go", "pay/charge.go"), "T2", "T3"),
		task("T7", "charge a card", 9, files("pay/charge.go", "pay/retry.go"), "T2"),
		task("T8", "refund a cancelled order", 7, files("pay/refund.go"), "T6", "T7"),
		task("T9", "mail what was ordered", 6, files("mail/confirm.go", "mail/confirm.html"), "T3"),
		task("T10", "show the basket", 8, files("web/basket.tsx", "web/price.ts")),
		task("T11", "show the checkout", 10, files("web/checkout.tsx", "web/price.ts"), "T10"),
		task("T12", "remember the address", 5, files("web/address.tsx"), "T10"),
		task("T13", "test an order from end to end", 8, files("test/order_test.go"), "T6", "T9", "T11"),
		task("T14", "measure the slow queries", 9, files("order/store_bench_test.go"), "T2"),
		task("T15", "write the API reference", 6, files("docs/api.md"), "T3", "T4"),
		task("T16", "translate the mails", 30, files("mail/de.go", "mail/fr.go"), "T9"),
		task("T17", "replay failed webhooks", 2, files("pay/webhook.go"), "T3"),
		task("T18", "tell operators of failed charges", 4, files("pay/alarm.go"), "T17"),
		task("T19", "sign the release", 3, files("release/sign.go"), "T13", "T15"),
		task("T20", "clean up the old price list", 3, files("web/legacy.ts")),
	}
	i := slices.IndexFunc(plans, func(p plan) bool { return p.ID == "T17" })
	plans[i].fails, plans[i].MaxAttempts = true, 1
	s := newScene(t, "shop", cast{
		{"WS01", "orders", "opus"},
		{"WS02", "api", "claude"},
		{"WS03", "stock", "sonnet"},
		{"WS04", "pay", "codex"},
		{"WS05", "web", "claude"},
		{"WS06", "mail", "glm"},
		{"WS07", "docs", "haiku"},
		{"WS08", "release", "opencode"},
	}, plans)
	s.play(17)
	s.at(17.25, func(st *roster.State) error {
		for i := range st.Workstreams {
			if w := &st.Workstreams[i]; w.TaskID == "T15" {
				return st.NeedsPerson(w.ID, w.Epoch, "permission_prompt", "may it run: npm install --global redocly_cli?")
			}
		}
		return nil
	})
	return s
}

// crowd is a run of many workers, each with a task, and of as many events as are asked for.
func crowd(t *testing.T, workers, events int) *scene {
	t.Helper()
	var all cast
	var plans []plan
	for i := range workers {
		all = append(all, [3]string{fmt.Sprintf("WS%02d", i+1), fmt.Sprintf("slot%d", i+1), "claude"})
		p := plan{NewTask: roster.NewTask{ID: fmt.Sprintf("T%d", i+1), Title: fmt.Sprintf("mend part %d", i+1)}, writes: []string{fmt.Sprintf("part/%d.go", i+1)}, minutes: 60}
		if i%3 > 0 {
			p.DependsOn = []string{fmt.Sprintf("T%d", i-i%3+1)}
			p.minutes = 1
		}
		plans = append(plans, p)
	}
	s := newScene(t, "crowd", all, plans)
	s.play(1)
	s.at(2, func(st *roster.State) error {
		for i := range events {
			st.Note(roster.FileChanged, fmt.Sprintf("WS%02d", i%workers+1), "", map[string]any{"path": fmt.Sprintf("part/%d.go", i), "tool": "Edit"})
		}
		return nil
	})
	return s
}

// update makes a transition now.
func (s *scene) update(rule func(*roster.State) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	check(s.t, s.dir.Update(ctx, rule))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
