package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/master"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/rundir"
)

func newLane(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "lane", GroupID: "lanes",
		Short: "Ask agents for results: each in a worktree of its own, and no result twice",
		Long: `A lane is one prompt for one agent without a screen, in a worktree and a pane of its own.
Its last reply is its result. The result is kept under a hash of everything that it
depends on, so asking again for what has not changed costs nothing. What the agent
changed is on the branch fleetflow/<run>/<id>, for fleet land.`,
		Example: `  fleet lane spawn --run port --id parser --brain codex --prompt-file parser.md
  fleet lane spawn --run port --plan plan.yaml       many at once
  fleet lane resume --run port                       all again: only what has changed is asked
  fleet lane collect --run port parser`,
	}
	run := &runName{a: a}
	c.PersistentFlags().Var(run, "run", "`slug` of the run, in place of --run-dir; spawn and import make one that isn't there")
	c.AddCommand(newLaneSpawn(a, run), newLaneResume(a), newLaneCollect(a), newLaneStatus(a), newLaneClean(a), newLaneImport(a, run), newLanePanel(a, run), newLaneVerify(a), newLaneLoop(a, run))
	return c
}

// runName is the flag --run, which names the run dir.
type runName struct {
	a          *app
	root, slug string
}

func (r *runName) String() string { return r.slug }
func (r *runName) Type() string   { return "slug" }

func (r *runName) Set(slug string) error {
	if err := rundir.CheckSlug(slug); err != nil {
		return err
	}
	root, err := mainRoot(context.Background())
	r.root, r.slug, r.a.runDir = root, slug, rundir.PathOf(root, slug)
	return err
}

// make makes the run, unless it is there.
func (r *runName) make() error {
	if r.slug == "" {
		return nil
	}
	if _, err := os.Stat(r.a.runDir); err == nil {
		return nil
	}
	_, err := rundir.Create(r.root, r.slug, planningtemplate.Files, rundir.ConfigText(map[string]string{"FLEET_BRAIN": agent.DefaultBrain()}))
	return err
}

// perProvider is how many lanes use one service at once, where nothing else is said.
const perProvider = 6

func waveFlag(c *cobra.Command, o *master.LaneOptions) {
	c.Flags().IntVar(&o.PerProvider, "max-per-provider", perProvider, "how many lanes may use one provider's service at once; the others wait")
	c.Flags().BoolVar(&o.Force, "force", false, "ask also for what has a result")
}

type laneSpawn struct {
	lane.Packet
	limits agent.Limits
	plan   string
	master.LaneOptions
}

func newLaneSpawn(a *app, run *runName) *cobra.Command {
	var s laneSpawn
	c := &cobra.Command{
		Use:   "spawn",
		Short: "Ask for the result of a lane, or of all lanes of a plan, and wait for it",
		Long: `Sends a prompt to an agent, waits for its end and prints the path of its result. Ends with
3 if nothing has changed since the last good result, which is printed then, and with 10
if the lane failed. What runs goes on when this is interrupted; ask again to wait for it.
A plan is a list in YAML or JSON, under "packets" or alone:

  packets:
    - id: parser
      brain: codex             # else --brain
      prompt_file: parser.md   # or the text itself, as prompt:
      schema: reply.json       # of the last reply; also phase, worktree, base, isolated, no_guard,
    - id: docs                 #   repair, model, effort, max_turns, budget_usd, timeout
      prompt: |
        Describe the parser in docs/parser.md. …

Lanes should not touch the same files: the second to write one is denied.`,
		Example: `  fleet lane spawn --run port --id parser --brain codex --prompt-file parser.md
  fleet lane spawn --run port --plan plan.yaml --brain claude`,
		RunE: a.forMaster(func(c *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if !s.DryRun {
				if err := run.make(); err != nil {
					return err
				}
			}
			return a.spawnLanes(c, s)
		}),
	}
	f := c.Flags()
	f.StringVar(&s.ID, "id", "", "name of the lane: a-z, 0-9 and -")
	f.StringVar(&s.Brain, "brain", "", "the agent (default: the run's)")
	f.StringVar(&s.PromptFile, "prompt-file", "", "the prompt")
	f.StringVar(&s.plan, "plan", "", "a file with many lanes, in place of --id and --prompt-file")
	f.StringVar(&s.Phase, "phase", "build", "shown with the lane")
	f.StringVar(&s.Base, "base", "", "branch at which the worktree starts (default: FLEET_BASE, else what is checked out)")
	f.BoolVar(&s.Worktree, "worktree", true, "a worktree of its own; false: the main checkout")
	f.BoolVar(&s.Isolated, "isolated", false, "it competes with other lanes for the same files: it takes no leases and heeds none")
	f.StringVar(&s.Schema, "schema", "", "JSON Schema that the last reply has to fit")
	f.BoolVar(&s.Repair, "repair", false, "ask once more for a reply that doesn't")
	f.BoolVar(&s.NoGuard, "no-guard", false, "send the prompt without the run's lanes/GUARD.md before it")
	f.BoolVar(&s.DryRun, "dry-run", false, "only say what would be asked")
	limitFlags(c, &s.limits)
	waveFlag(c, &s.LaneOptions)
	return c
}

func (s *laneSpawn) one() bool { return s.plan == "" }

func (s *laneSpawn) check() error {
	switch {
	case s.one() && (s.ID == "" || s.PromptFile == ""):
		return roster.Usagef("lane spawn: give --id and --prompt-file, or --plan")
	case s.one():
		return s.Check()
	case s.ID != "" || s.PromptFile != "":
		return roster.Usagef("lane spawn: --plan has ids and prompts of its own")
	}
	return nil
}

func (a *app) spawnLanes(c *cobra.Command, s laneSpawn) error {
	f, err := a.fleet(c.Context())
	if err != nil {
		return err
	}
	s.Brain = cmp.Or(s.Brain, f.Dir.Config.Brain)
	s.Model, s.Effort, s.BudgetUSD = s.limits.Model, s.limits.Effort, s.limits.BudgetUSD
	s.MaxTurns, s.Timeout.Duration = s.limits.MaxTurns, s.limits.Timeout
	packets := []lane.Packet{s.Packet}
	if !s.one() {
		if packets, err = a.readPlan(s.plan, s.Packet); err != nil {
			return err
		}
	}
	for i := range packets {
		if err := absolute(&packets[i]); err != nil {
			return err
		}
	}
	reports, err := a.runLanes(c.Context(), f, packets, s.LaneOptions)
	for _, r := range reports {
		if r.Artifact != "" && r.Status != master.Failed {
			fmt.Fprintln(a.out, r.Artifact)
		}
	}
	if err != nil {
		return err
	}
	if s.one() && reports[0].Status == master.Cached {
		return &codedError{code: exitCached}
	}
	return nil
}

func absolute(p *lane.Packet) (err error) {
	for _, path := range []*string{&p.PromptFile, &p.Schema} {
		if *path != "" && err == nil {
			*path, err = filepath.Abs(*path)
		}
	}
	return err
}

// waves checks the bound of lanes at once, and has what comes of each told; also, if the caller won't say it, what goes wrong.
func (a *app) waves(o *master.LaneOptions, all bool) error {
	if o.PerProvider < 1 {
		return roster.Usagef("--max-per-provider wants 1 or more")
	}
	o.Said = func(r master.LaneReport) {
		if all || r.Err == nil {
			a.talk("%s %s", r.ID, cmp.Or(r.Reason, r.Status))
		}
	}
	return nil
}

// runLanes asks for packets and tells how it goes. The error is that of the only one, or a gate's.
func (a *app) runLanes(ctx context.Context, f *master.Fleet, packets []lane.Packet, o master.LaneOptions) ([]master.LaneReport, error) {
	if err := a.waves(&o, len(packets) > 1); err != nil {
		return nil, err
	}
	reports, err := f.RunLanes(ctx, packets, o)
	if errors.Is(err, context.Canceled) {
		return reports, &codedError{code: exitFailed, msg: "interrupted; lanes that run go on, and the same call again waits for them"}
	}
	if err != nil {
		return reports, err
	}
	failed := slices.DeleteFunc(slices.Clone(reports), func(r master.LaneReport) bool { return r.Status != master.Failed })
	switch {
	case len(failed) == 0:
		return reports, nil
	case len(packets) == 1:
		return reports, failed[0].Err
	}
	return reports, &codedError{code: exitGate, msg: fmt.Sprintf("%d of %s failed", len(failed), roster.Several(len(packets), "lane"))}
}

func newLaneResume(a *app) *cobra.Command {
	var o master.LaneOptions
	c := &cobra.Command{
		Use:   "resume",
		Short: "Ask for the results of all lanes again; only what has changed, or failed, costs anything",
		Long: `Goes through the packets of lanes/manifest.json in their order and prints a list in JSON:
the id of each, ran, cached, failed or imported, and 0 or 10. Ends with 10 if one failed.`,
		Example: "  fleet lane resume --run port",
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			m, err := f.Dir.Manifest()
			if err != nil {
				return err
			}
			if len(m.Packets) == 0 {
				return roster.Usagef("%s has no lanes", f.Dir.Rel(f.Dir.Path)).Hinted("fleet lane spawn makes some")
			}
			reports, err := a.runLanes(ctx, f, m.Packets, o)
			if reports == nil {
				return err
			}
			return errors.Join(printJSON(a.out, reports), err)
		})),
	}
	waveFlag(c, &o)
	return c
}

func newLaneCollect(a *app) *cobra.Command {
	var schema string
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "collect [<id>...]",
		Short: "Print the results of lanes that pass their gates",
		Long: `Prints the last reply of a lane if its agent called it no error and it fits its schema;
with a schema that is the JSON alone. Of several lanes, or of all when none is named, it
is a line of JSON each. Ends with 3 if a result is missing, and with 10 if one doesn't count.`,
		Example: "  fleet lane collect --run port parser\n  fleet lane collect --run port --schema reply.json --repair review",
		Args:    args(0, -1),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error {
			if schema != "" {
				abs, err := filepath.Abs(schema)
				if err != nil {
					return err
				}
				schema = abs
			}
			return a.collectLanes(f, ids, asJSON, func(id string) (string, error) { return f.CollectLane(ctx, id, schema, repair) })
		})),
	}
	c.Flags().StringVar(&schema, "schema", "", "JSON Schema in place of the lane's own")
	c.Flags().BoolVar(&repair, "repair", false, "have the agent correct, once, a reply that doesn't fit")
	c.Flags().BoolVar(&asJSON, "json", false, "a line of JSON also for one")
	return c
}

func (a *app) collectLanes(f *master.Fleet, ids []string, asJSON bool, collect func(id string) (string, error)) error {
	if len(ids) == 1 && !asJSON {
		text, err := collect(ids[0])
		if err == nil {
			fmt.Fprintln(a.out, text)
		}
		return err
	}
	if len(ids) == 0 {
		m, err := f.Dir.Manifest()
		if err != nil {
			return err
		}
		for _, p := range m.Packets {
			ids = append(ids, p.ID)
		}
	}
	var worst error
	for _, id := range ids {
		text, err := collect(id)
		line := struct {
			ID     string `json:"id"`
			OK     bool   `json:"ok"`
			Reply  string `json:"reply,omitempty"`
			Reason string `json:"reason,omitempty"`
		}{ID: id, OK: err == nil, Reply: text}
		if err != nil {
			line.Reason = err.Error()
			if worst == nil || errors.Is(worst, lane.ErrMissing) {
				worst = err
			}
		}
		if err := json.NewEncoder(a.out).Encode(line); err != nil {
			return err
		}
	}
	return worst
}

func newLaneClean(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the worktrees and branches of lanes that committed nothing",
		Long: `Prints a line for each lane: its id, "removed", "kept" or "locked", and why, with tabs in
between. A lane that has commits which are not landed, changes that are not committed, or a
worker at work is kept, whatever happens. fleet gc removes what has landed.`,
		Example: "  fleet lane clean --run port",
		RunE: a.forMaster(func(c *cobra.Command, _ []string) error {
			l, done, err := a.lander(c, master.LandOptions{})
			if err != nil {
				return err
			}
			defer done()
			return l.CleanLanes(c.Context(), func(id, what, why string) { fmt.Fprintf(a.out, "%s\t%s\t%s\n", id, what, why) })
		}),
	}
}

func newLaneImport(a *app, run *runName) *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "import",
		Short: "Take over the results of a workflow of Claude Code's own",
		Long: `Reads the folder of a native workflow (wf_…) and makes a lane of each of its agents, which
can be collected like any other. They can't be asked again: resume leaves them as they are.
Prints a line for each: its id, "imported" or "incomplete", and the length of its prompt, with
tabs in between. Ends with 3 if no agent had a result.`,
		Example: "  fleet lane import --run port --wf ~/.claude/projects/…/wf_0a1b2c3d-4e5",
		RunE: a.forMaster(func(c *cobra.Command, _ []string) error {
			if from == "" {
				return roster.Usagef("lane import: --wf wants the folder of a workflow")
			}
			if err := run.make(); err != nil {
				return err
			}
			f, err := a.fleet(c.Context())
			if err != nil {
				return err
			}
			n, err := f.ImportLanes(c.Context(), from, func(i lane.Imported) {
				what := "imported"
				if i.Result == nil {
					what = "incomplete"
				}
				fmt.Fprintf(a.out, "%s\t%s\t%d\n", i.ID, what, len([]rune(i.Prompt)))
				if i.Prompt == "" {
					a.talk("note: %s has no transcript, so its prompt is empty", i.ID)
				}
			})
			if err == nil && n == 0 {
				return &codedError{code: exitCached, msg: "no agent of " + from + " has a result"}
			}
			return err
		}),
	}
	c.Flags().StringVar(&from, "wf", "", "the `folder` of the workflow")
	return c
}

func newLaneStatus(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show how the lanes stand",
		Example: "  fleet lane status --run port\n  fleet lane status --run port --json",
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			snap, err := f.Snapshot(ctx)
			if err != nil {
				return err
			}
			snap.Lanes = slices.DeleteFunc(snap.Lanes, func(l master.Lane) bool { return !l.Packet })
			if len(snap.Lanes) == 0 {
				return roster.Usagef("%s has no lanes", f.Dir.Rel(f.Dir.Path)).Hinted("fleet lane spawn makes some")
			}
			v := view{
				doc:    map[string]any{"run": snap.Run, "repo": snap.Repo, "generated_at": snap.GeneratedAt, "lanes": snap.Lanes, "manifest": snap.Manifest},
				header: []string{"LANE", "WS", "BRAIN", "PHASE", "STATE", "TIME", "COMMITS", "TOKENS", "ACTIVITY"},
			}
			for _, l := range snap.Lanes {
				v.row(l.Name, orDash(l.ID), l.Brain, orDash(l.Phase), string(l.State), (time.Duration(l.Elapsed) * time.Second).String(),
					strconv.Itoa(l.Commits), strconv.FormatInt(l.Tokens, 10), short(l.Activity, 60))
			}
			return v.print(a.out, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}
