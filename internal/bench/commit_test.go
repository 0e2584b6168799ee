package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

// commits are a commit of one changed and one new file by git's own commands, those
// that fleet must run, too, and by fleet. The first is the measure.
func commits(dir, fleet string) ([]*variant, error) {
	root := filepath.Join(dir, "commits")
	d, err := rundir.Create(root, "bench", planningtemplate.Files, rundir.ConfigText(nil))
	if err != nil {
		return nil, err
	}
	err = d.Update(context.Background(), func(s *roster.State) error {
		return s.Add(roster.NewWorkstream{ID: "WS01", Text: "bench", Claims: []string{"mine"}})
	})
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@localhost", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@localhost")
	run := func(args ...string) error {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = root, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
		return nil
	}
	write := func(round int, by string) (fresh string, err error) {
		fresh = fmt.Sprintf("mine/%s%d", by, round)
		if err := os.MkdirAll(filepath.Join(root, "mine"), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(root, "mine", "same"), []byte(fresh), 0o644); err != nil {
			return "", err
		}
		return fresh, os.WriteFile(filepath.Join(root, fresh), []byte("x"), 0o644)
	}
	if err := run("git", "init", "--quiet"); err != nil {
		return nil, err
	}
	return []*variant{
		{name: "git status, add -N, commit --only", once: func(round int) error {
			fresh, err := write(round, "git")
			if err != nil {
				return err
			}
			for _, args := range [][]string{
				{"git", "status", "--porcelain=v2", "-z", "--untracked-files=all"},
				{"git", "add", "--intent-to-add", fresh},
				{"git", "add", "--intent-to-add", "mine/same"},
				{"git", "commit", "--quiet", "--only", "--message", "bench", "--", fresh, "mine/same"},
			} {
				if args[3] == "mine/same" && round > 0 {
					continue // git knows it by then
				}
				if err := run(args...); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "fleet commit", goal: 2, once: func(round int) error {
			if _, err := write(round, "fleet"); err != nil {
				return err
			}
			return run(fleet, "commit", "WS01", "-m", "bench")
		}},
	}, nil
}
