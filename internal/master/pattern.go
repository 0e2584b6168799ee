package master

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"fleet/internal/agent"
	"fleet/internal/git"
	"fleet/roster"
	"fleet/roster/lane"
)

// The patterns are lanes about other lanes. Their prompts are forms in the run's lanes/, which people may rewrite.

// Choice is what a judge made of several attempts.
type Choice struct {
	Winner     string   `json:"winner"` // a lane; empty if none is good enough
	Reason     string   `json:"reason"`
	Candidates []string `json:"candidates"` // those that passed their gates
}

// Panel gives one packet to several brains, which compete in trees of their own, and has a judge choose.
func (f *Fleet) Panel(ctx context.Context, p lane.Packet, brains []string, judge string, o LaneOptions) (c Choice, err error) {
	task, err := promptOf(p)
	if err != nil {
		return c, err
	}
	q := query{id: p.ID + "-judge", brain: judge, form: "JUDGE", phase: "judge"}
	if err := q.check(); err != nil {
		return c, err
	}
	attempts := make([]lane.Packet, len(brains))
	for i, brain := range brains {
		if _, err := agent.Find(brain); err != nil {
			return c, err
		}
		attempts[i] = p
		attempts[i].ID, attempts[i].Brain = fmt.Sprintf("%s-%d", p.ID, i+1), brain
		attempts[i].Worktree, attempts[i].Isolated = true, true
	}
	reports, err := f.RunLanes(ctx, attempts, o)
	if err != nil {
		return c, err
	}
	var candidates strings.Builder
	for i, r := range reports {
		if r.Status == Failed {
			continue
		}
		c.Candidates = append(c.Candidates, r.ID)
		reply, diff, err := f.work(ctx, attempts[i])
		if err != nil {
			return c, err
		}
		fmt.Fprintf(&candidates, "## Result %s\n\n%s\n\n### What it changed\n\n%s\n\n", r.ID, reply, diff)
	}
	switch len(c.Candidates) {
	case 0:
		return c, &lane.RejectedError{Why: "no attempt has a result that counts"}
	case 1:
		c.Winner, c.Reason = c.Candidates[0], "the only result that counts"
		return c, nil
	}
	var verdict struct{ Winner, Reason string }
	q.values = map[string]string{"task": string(task), "candidates": candidates.String()}
	q.schema = object(map[string]any{"winner": map[string]any{"enum": append(slices.Clone(c.Candidates), "none")}, "reason": ofType("string")})
	err = f.ask(ctx, o, []query{q}, func(_ int, answer []byte) error { return json.Unmarshal(answer, &verdict) })
	if verdict.Winner != "none" {
		c.Winner = verdict.Winner
	}
	c.Reason = verdict.Reason
	return c, err
}

// Vote is what one refuter says of a lane.
type Vote struct {
	Lane    string `json:"lane"`
	Brain   string `json:"brain"`
	Refuted bool   `json:"refuted"` // also when it gave no answer: what nobody upholds does not stand
	Reason  string `json:"reason"`
}

// Verify has several brains try to refute a lane's result, and reports whether most of them failed to. At least
// one that answers must use another service than the lane did, which shares no blind spots with it.
func (f *Fleet) Verify(ctx context.Context, id string, brains []string, o LaneOptions) (stands bool, votes []Vote, err error) {
	m, err := f.Dir.Manifest()
	if err != nil {
		return false, nil, err
	}
	p, ok := m.Packet(id)
	if !ok {
		return false, nil, roster.Usagef("no lane is called %q", id).Hinted("fleet lane status lists them")
	}
	author, err := provider(p.Brain)
	if err != nil {
		return false, nil, err
	}
	reply, diff, err := f.work(ctx, p)
	if err != nil {
		return false, nil, err
	}
	task, err := f.sent(p)
	if err != nil {
		return false, nil, err
	}
	queries := make([]query, len(brains))
	votes = make([]Vote, len(brains))
	foreign := make([]bool, len(brains))
	for i, brain := range brains {
		queries[i] = query{
			id: fmt.Sprintf("%s-refute-%d", id, i+1), brain: brain, form: "REFUTE", phase: "verify",
			values: map[string]string{"task": string(task), "reply": reply, "diff": diff},
			schema: object(map[string]any{"refuted": ofType("boolean"), "reason": ofType("string")}),
		}
		if err := queries[i].check(); err != nil {
			return false, nil, err
		}
		votes[i] = Vote{Lane: queries[i].id, Brain: brain, Refuted: true, Reason: "it gave no answer"}
		by, err := provider(brain)
		if err != nil {
			return false, nil, err
		}
		foreign[i] = by != author
	}
	if !slices.Contains(foreign, true) {
		return false, nil, roster.Usagef("all refuters use the service that made the work: %s", author).Hinted("--brains wants one of another's")
	}
	upheld, seen := 0, false
	err = f.ask(ctx, o, queries, func(i int, answer []byte) error {
		seen = seen || foreign[i]
		err := json.Unmarshal(answer, &votes[i])
		if !votes[i].Refuted {
			upheld++
		}
		return err
	})
	if err == nil && !seen {
		err = &lane.RejectedError{Why: "no refuter of another service than " + author + " has answered"}
	}
	return 2*upheld > len(votes), votes, err
}

// provider is whose service a brain uses.
func provider(brain string) (string, error) {
	if brain == lane.Native {
		brain = "claude"
	}
	b, err := agent.Find(brain)
	return b.Provider(), err
}

// sent is what a lane was told when it was asked last.
func (f *Fleet) sent(p lane.Packet) ([]byte, error) {
	journal, err := f.Dir.Journal()
	if err != nil {
		return nil, err
	}
	last, _ := journal.Last(p.ID)
	if p.Imported != "" {
		return promptOf(p)
	}
	return os.ReadFile(f.Dir.File(last.File("prompt.txt")))
}

// dryRounds end a loop: nothing new was found so often.
const dryRounds = 2

// Loop asks for a list again and again, each time for what is not in it yet, until two rounds have added nothing.
// whole is false if the rounds were used up before.
func (f *Fleet) Loop(ctx context.Context, p lane.Packet, rounds int, o LaneOptions, found func(item string)) (whole bool, err error) {
	task, err := promptOf(p)
	if err != nil {
		return false, err
	}
	seen := make(map[string]bool)
	var list []string
	for n, dry := 1, 0; n <= rounds; n++ {
		q := query{
			id: fmt.Sprintf("%s-%d", p.ID, n), brain: p.Brain, form: "ROUND", phase: p.Phase,
			values: map[string]string{"task": string(task), "seen": cmp.Or(strings.Join(list, "\n"), "Nothing.")},
			schema: object(map[string]any{"items": map[string]any{"type": "array", "items": ofType("string")}}),
		}
		var answer struct{ Items []string }
		if err := f.ask(ctx, o, []query{q}, func(_ int, text []byte) error { return json.Unmarshal(text, &answer) }); err != nil {
			return false, err
		}
		dry++
		for _, item := range answer.Items {
			key := strings.ToLower(strings.Join(strings.Fields(item), " "))
			if key == "" || seen[key] {
				continue
			}
			seen[key], dry = true, 0
			list = append(list, "- "+roster.Flat(item))
			found(item)
		}
		if dry == dryRounds {
			return true, nil
		}
	}
	return false, nil
}

// query is a question of a pattern's own: a form, filled in, and what the answer has to be.
type query struct {
	id, brain, phase string
	form             string
	values           map[string]string
	schema           []byte
}

// check says what would keep a question from being asked.
func (q *query) check() error {
	p := lane.Packet{ID: q.id, Brain: q.brain}
	if err := p.Check(); err != nil {
		return err
	}
	_, err := agent.Find(q.brain)
	return err
}

// ask puts questions to lanes in trees of their own and hands on the answers, as they are asked. Of several,
// one without an answer is left out; the only one is an error.
func (f *Fleet) ask(ctx context.Context, o LaneOptions, queries []query, answered func(i int, answer []byte) error) error {
	packets := make([]lane.Packet, len(queries))
	for i, q := range queries {
		text, err := f.Dir.LaneForm(q.form, q.values)
		if err != nil {
			return err
		}
		packets[i] = lane.Packet{
			ID: q.id, Brain: q.brain, Phase: q.phase, Worktree: true, Isolated: true, Repair: true,
			Schema: f.Dir.File("lanes/" + q.id + ".schema.json"), Text: []byte(text),
		}
		if err := f.Dir.Write(packets[i].Schema, q.schema); err != nil {
			return err
		}
	}
	reports, err := f.RunLanes(ctx, packets, o)
	if err != nil {
		return err
	}
	for i, r := range reports {
		if r.Status == Failed && len(reports) == 1 {
			return r.Err
		}
		if r.Status == Failed {
			continue
		}
		text, err := f.CollectLane(ctx, r.ID, "", false)
		if err == nil {
			err = answered(i, []byte(text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxDiff bounds the patch in a prompt.
const maxDiff = 200_000

// work is what a lane replied and what it changed.
func (f *Fleet) work(ctx context.Context, p lane.Packet) (reply, diff string, err error) {
	if reply, err = f.CollectLane(ctx, p.ID, "", false); err != nil {
		return "", "", err
	}
	tree := f.Dir.LaneTree(p.ID)
	if _, err := os.Stat(tree); err != nil || !p.Worktree {
		return reply, "Nothing that can be seen: it had no worktree, or has none now.", nil
	}
	at, found, err := git.In(f.Run, f.Dir.Root).Commit(ctx, f.base(p.Base))
	if err != nil || !found {
		return reply, "", err
	}
	if diff, err = git.In(f.Run, tree).WorkDiff(ctx, at, false); err != nil {
		return reply, "", err
	}
	if len(diff) > maxDiff {
		diff = strings.ToValidUTF8(diff[:maxDiff], "") + "\n… cut here; the rest is in " + tree
	}
	return reply, cmp.Or(diff, "Nothing."), nil
}

// object is the schema of an object of which all fields are required.
func object(fields map[string]any) []byte {
	names := slices.Sorted(maps.Keys(fields)) // the order is part of the lane's key
	text, err := json.MarshalIndent(map[string]any{"type": "object", "properties": fields, "required": names, "additionalProperties": false}, "", "  ")
	if err != nil {
		panic(err) // texts and lists always marshal
	}
	return text
}

func ofType(name string) map[string]any { return map[string]any{"type": name} }
