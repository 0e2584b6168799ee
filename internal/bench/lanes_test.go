package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fleet/internal/agent"
	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/lane"
	"fleet/roster/rundir"
)

const (
	unchanged = 1000
	fanned    = 50
)

// lanes measures what it costs to ask for 1,000 lanes again of which none has changed, and to start 50,
// beside the same number of bare worktrees and tmux windows.
func lanes(dir, fleet string) error {
	root := filepath.Join(dir, "lanes")
	if err := repository(root); err != nil {
		return err
	}
	if err := resume(root, fleet); err != nil {
		return err
	}
	started, err := fanOut(root, dir, fleet)
	if err != nil {
		return err
	}
	bare, err := bareWindows(root, dir)
	if err != nil {
		return err
	}
	ratio := float64(started) / float64(bare)
	_, err = fmt.Printf("%d lanes, agents started: %s · git worktree add, tmux new-window: %s · ratio %.2f %s\n", fanned, ms(started), ms(bare), ratio, goal(ratio, 1.3))
	return err
}

func repository(root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "--allow-empty", "-m", "start"}} {
		if err := in(root, "git", args...).Run(); err != nil {
			return fmt.Errorf("git %v: %w", args, err)
		}
	}
	return nil
}

func in(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMUX_TMPDIR="+filepath.Dir(dir))
	return cmd
}

// resume asks for lanes that all have results.
func resume(root, fleet string) error {
	d, err := rundir.Create(root, "again", planningtemplate.Files, rundir.ConfigText(nil))
	if err != nil {
		return err
	}
	guard, err := d.LaneForm("GUARD", nil)
	if err != nil {
		return err
	}
	brain, err := agent.Find("scripted")
	if err != nil {
		return err
	}
	var none lane.Journal
	var packets []lane.Packet
	var records []lane.Record
	for i := range unchanged {
		p := lane.Packet{ID: fmt.Sprintf("l%d", i), Brain: "scripted", Phase: "build", Worktree: true, MaxTurns: lane.DefaultMaxTurns}
		p.PromptFile = d.Packet(p.ID)
		text := []byte(strings.Repeat("Do this and that.\n", 50))
		if err := d.Write(p.PromptFile, text); err != nil {
			return err
		}
		p.Key = p.KeyOf(brain.Identity(), lane.Sent([]byte(guard), text, nil), nil)
		artifact, err := json.Marshal(lane.NewEnvelope(p.Brain, roster.Outcome{OK: true, Summary: "done"}))
		if err != nil {
			return err
		}
		start := none.Start(p, "WS01", fmt.Sprintf("WS01.%d", i), roster.Time{Time: time.Now()})
		end := start.End(start.File("result.json"), "", start.At)
		if err := d.Write(d.File(end.Artifact), artifact); err != nil {
			return err
		}
		packets, records = append(packets, p), append(records, start, end)
	}
	if err := d.PutPackets(context.Background(), packets...); err != nil {
		return err
	}
	if err := d.WriteJournal(context.Background(), records...); err != nil {
		return err
	}
	began := time.Now()
	out, err := in(root, fleet, "lane", "resume", "--run", "again").Output()
	if err != nil {
		return fmt.Errorf("lane resume: %w", err)
	}
	if n := strings.Count(string(out), `"cached"`); n != unchanged {
		return fmt.Errorf("%d of %d lanes were cached", n, unchanged)
	}
	_, err = fmt.Printf("%d unchanged lanes resumed: %s (goal: under 1 s)\n", unchanged, ms(time.Since(began)))
	return err
}

// fanOut is the time from the call until the last agent is at work.
func fanOut(root, dir, fleet string) (time.Duration, error) {
	d, err := rundir.Create(root, "fan", planningtemplate.Files, rundir.ConfigText(map[string]string{"FLEET_BRAIN": "scripted"}))
	if err != nil {
		return 0, err
	}
	var plan strings.Builder
	mayEnd := filepath.Join(dir, "lanes-may-end")
	for i := range fanned {
		fmt.Fprintf(&plan, "- {id: l%d, prompt: do it}\n", i)
		if err := d.Write(d.File(fmt.Sprintf("lanes/l%d.script.json", i)), fmt.Appendf(nil, `{"turns":[{"steps":[{"await":%q}],"message":"done"}]}`, mayEnd)); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "plan.yaml"), []byte(plan.String()), 0o644); err != nil {
		return 0, err
	}
	defer func() { _ = in(root, fleet, "--run-dir", d.Path, "stop", "--all").Run() }()
	began := time.Now()
	cmd := in(root, fleet, "lane", "spawn", "--run", "fan", "--plan", "plan.yaml", "--max-per-provider", fmt.Sprint(fanned))
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	wake, stop := d.Changes()
	defer stop()
	for working := 0; working < fanned; <-wake {
		err := d.View(context.Background(), func(s *roster.State) error {
			working = 0
			for _, w := range s.Workstreams {
				if w.SessionID != "" {
					working++
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	if err := os.WriteFile(mayEnd, nil, 0o644); err != nil {
		return 0, err
	}
	return took, cmd.Wait()
}

// bareWindows is what the same worktrees and windows cost by git's and tmux's own commands.
func bareWindows(root, dir string) (time.Duration, error) {
	socket := filepath.Join(dir, "bare")
	tmux := func(args ...string) error {
		return in(root, "tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).Run()
	}
	defer func() { _ = tmux("kill-server") }()
	if err := tmux("new-session", "-d", "sleep", "600"); err != nil {
		return 0, err
	}
	began := time.Now()
	for i := range fanned {
		tree := filepath.Join(root, ".bare", fmt.Sprint(i))
		if err := in(root, "git", "worktree", "add", "--quiet", "--no-track", "-b", fmt.Sprintf("bare/%d", i), tree, "HEAD").Run(); err != nil {
			return 0, fmt.Errorf("git worktree add: %w", err)
		}
		if err := tmux("new-window", "-d", "-c", tree, "sleep", "600"); err != nil {
			return 0, fmt.Errorf("tmux new-window: %w", err)
		}
	}
	return time.Since(began), nil
}
