package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is fleet.env, the settings of one run and the only configuration that it reads.
type Config struct {
	Worktree     bool   // each worker in a checkout of its own
	WorktreeRoot string // where those checkouts are made, relative to the main one
	Base         string // branch that worktrees start from and land on; empty means the one of the main checkout
	Copy         string // ignored files to copy into a new worktree
	Link         string // paths to link into it
	Setup        string // command to run in it
	Test         string // command that must succeed before anything lands
	Forbid       string // regular expression that no line may match that lands
	DB           string // where scratch databases are made: none, docker or local
	Docker       string // the program, docker or podman
	Brain        string // for workstreams that name none
	Strict       bool   // a write needs a claim
	UntilCommit  bool   // a lease lasts until its file is committed, not only to the end of its task
	Trust        bool   // start agents without their question whether the folder is trusted
	Tmux         string // own or current
	TmuxSocket   string // name of the own server's socket; empty means one made from the run
	TmuxConf     string // configuration file of the own server; empty means none

	Runners       int           // workers that fleet run keeps for tasks that nobody else is to do
	Model         string        // of those; empty is their brain's default
	TaskTimeout   time.Duration // of a headless worker's task
	TaskBudget    float64       // USD a task, of a headless worker
	MaxTurns      int           // a task, of a headless worker
	MaxAttempts   int           // of a task that sets none
	Verify        string        // command that fleet run tries at the end
	VerifyTimeout time.Duration // of that, and of a task's own check
	AllowReset    bool
}

type setting struct {
	key, value string
	allowed    []string // empty: any value
	doc        string
	set        func(c *Config, value string) error
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func onOff(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v == "on"; return nil }
}

// count is a whole number of at least least.
func count(least int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) (err error) {
		if *field(c), err = strconv.Atoi(v); err != nil || *field(c) < least {
			return fmt.Errorf("want a whole number, %d or more", least)
		}
		return nil
	}
}

// seconds is a time of more than 0.
func seconds(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0 && n <= 1e6) {
			return errors.New("want a number of seconds, more than 0")
		}
		*field(c) = time.Duration(n * float64(time.Second))
		return nil
	}
}

func settings() []setting {
	offOn := []string{"off", "on"}
	return []setting{
		{
			"FLEET_WORKTREE", "off", offOn,
			"off: all workers share the main checkout, kept apart by leases.\non: each worker gets a git worktree and a branch fleet/<WS> of its own.",
			onOff(func(c *Config) *bool { return &c.Worktree }),
		},
		{
			"FLEET_WORKTREE_ROOT", ".claude/worktrees", nil,
			"Where those worktrees are made, relative to the main checkout.",
			text(func(c *Config) *string { return &c.WorktreeRoot }),
		},
		{
			"FLEET_BASE", "", nil,
			"The branch that worktrees start from and that fleet land moves. Empty: the one that is checked out in the main checkout.",
			text(func(c *Config) *string { return &c.Base }),
		},
		{
			"FLEET_WORKTREE_COPY", ".env", nil,
			"Files that git ignores and that a new worktree gets a copy of: patterns as in .gitignore, separated by commas.\nThose in a file .worktreeinclude are copied as well.",
			text(func(c *Config) *string { return &c.Copy }),
		},
		{
			"FLEET_WORKTREE_LINK", "", nil,
			"Paths that a new worktree gets a symbolic link to, separated by commas, such as node_modules.",
			text(func(c *Config) *string { return &c.Link }),
		},
		{
			"FLEET_WORKTREE_SETUP", "", nil,
			"A shell command to run in a new worktree before its worker starts.",
			text(func(c *Config) *string { return &c.Setup }),
		},
		{
			"FLEET_TEST", "", nil,
			"A shell command that must succeed on what fleet land is about to land, in a worktree of its own.",
			text(func(c *Config) *string { return &c.Test }),
		},
		{
			"FLEET_FORBID", `^(<<<<<<<|>>>>>>>)\s`, nil,
			"A regular expression: fleet land refuses changes that add a line which matches it. Empty: none.",
			text(func(c *Config) *string { return &c.Forbid }),
		},
		{
			"FLEET_DB", "none",
			[]string{"none", "docker", "local"},
			"Where fleet db makes a scratch PostgreSQL database for a workstream.\ndocker: in a container each. local: in a server of the run's own, by the machine's PostgreSQL programs.",
			text(func(c *Config) *string { return &c.DB }),
		},
		{
			"FLEET_DOCKER", "docker", nil,
			"The program that runs those containers: docker, or podman.",
			text(func(c *Config) *string { return &c.Docker }),
		},
		{
			"FLEET_BRAIN", "claude", nil,
			"The agent of a workstream that is added without --brain.",
			text(func(c *Config) *string { return &c.Brain }),
		},
		{
			"FLEET_STRICT", "off", offOn,
			"on: a worker may write only what it has claimed.\noff: any file that nobody else holds or claims.",
			onOff(func(c *Config) *bool { return &c.Strict }),
		},
		{
			"FLEET_LEASE_UNTIL", "commit",
			[]string{"commit", "task"},
			"commit: a file that an interactive worker of the main checkout wrote stays its own until it is committed,\nso that no two workers' changes mix in one file.\ntask: until its task ends.",
			func(c *Config, v string) error { c.UntilCommit = v == "commit"; return nil },
		},
		{
			"FLEET_TRUST", "off", offOn,
			"on: start agents without their question whether this folder is trusted.\noff: the question is reported as \"blocked\", for a person to answer.",
			onOff(func(c *Config) *bool { return &c.Trust }),
		},
		{
			"FLEET_TMUX", "own",
			[]string{"own", "current"},
			"own: a tmux server of the run's own, apart from yours.\ncurrent: panes in the tmux server that fleet is called from.",
			text(func(c *Config) *string { return &c.Tmux }),
		},
		{
			"FLEET_TMUX_SOCKET", "", nil,
			"Socket name of the own server (tmux -L). Empty: fleet-<slug>-<hash of the run dir's path>.",
			text(func(c *Config) *string { return &c.TmuxSocket }),
		},
		{
			"FLEET_TMUX_CONF", "", nil,
			"Absolute path of a configuration file for the own server, such as your .tmux.conf. Empty: none.",
			text(func(c *Config) *string { return &c.TmuxConf }),
		},
		{
			"FLEET_RUNNERS", "3", nil,
			"How many headless workers fleet run keeps for the tasks of the graph.",
			count(0, func(c *Config) *int { return &c.Runners }),
		},
		{
			"FLEET_MODEL", "", nil,
			"The model of headless workers. Empty: whatever their brain takes by itself.",
			text(func(c *Config) *string { return &c.Model }),
		},
		{
			"FLEET_TASK_TIMEOUT", "600", nil,
			"Seconds that a headless worker has for a task.",
			seconds(func(c *Config) *time.Duration { return &c.TaskTimeout }),
		},
		{
			"FLEET_TASK_BUDGET_USD", "0.50", nil,
			"What a headless worker's task may cost, in USD. A task that reaches it has failed.",
			func(c *Config, v string) (err error) {
				if c.TaskBudget, err = strconv.ParseFloat(v, 64); err != nil || !(c.TaskBudget > 0 && c.TaskBudget <= 1e6) {
					return errors.New("want a number of USD, more than 0")
				}
				return nil
			},
		},
		{
			"FLEET_MAX_TURNS", "40", nil,
			"How many turns with its model a headless worker's task may take.",
			count(1, func(c *Config) *int { return &c.MaxTurns }),
		},
		{
			"FLEET_MAX_ATTEMPTS", "3", nil,
			"How often a task is tried that doesn't say it itself.",
			count(1, func(c *Config) *int { return &c.MaxAttempts }),
		},
		{
			"FLEET_VERIFY", "", nil,
			"A shell command that fleet run tries when all tasks have succeeded; the run has failed if it does.",
			text(func(c *Config) *string { return &c.Verify }),
		},
		{
			"FLEET_VERIFY_TIMEOUT", "300", nil,
			"Seconds that this command has, the check of a single task, what is tried before landing, and the set-up of a worktree.",
			seconds(func(c *Config) *time.Duration { return &c.VerifyTimeout }),
		},
		{
			"FLEET_ALLOW_RESET", "off", offOn,
			"on: fleet reset may forget the tasks, leases and events of this run.",
			onOff(func(c *Config) *bool { return &c.AllowReset }),
		},
	}
}

// ConfigText is a fleet.env in which every key stands with its meaning; values
// replaces defaults by key.
func ConfigText(values map[string]string) string {
	var b strings.Builder
	b.WriteString("# The settings of this run: KEY=VALUE, the first of a key counts, # starts a comment.\n")
	for _, s := range settings() {
		b.WriteString("\n# " + strings.ReplaceAll(s.doc, "\n", "\n# ") + "\n")
		value := s.value
		if v, ok := values[s.key]; ok {
			value = v
		}
		fmt.Fprintf(&b, "%s=%s\n", s.key, value)
	}
	return b.String()
}

// readConfig reads fleet.env; a missing file means the defaults.
// An unknown key is an error that names its line, since a misspelt one would silently do nothing.
func readConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Config{}, err
	}
	return parseConfig(filepath.Base(path), string(text))
}

func parseConfig(file, text string) (Config, error) {
	var c Config
	known := settings()
	for _, s := range known {
		if err := s.set(&c, s.value); err != nil {
			return c, fmt.Errorf("default of %s: %w", s.key, err)
		}
	}
	seen := make(map[string]bool)
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return c, fileErr(file, n, "%q: want KEY=VALUE", line)
		}
		i := slices.IndexFunc(known, func(s setting) bool { return s.key == key })
		if i < 0 {
			return c, fileErr(file, n, "unknown setting %s", key)
		}
		if len(known[i].allowed) > 0 && !slices.Contains(known[i].allowed, value) {
			return c, fileErr(file, n, "%s=%s: want one of %s", key, value, strings.Join(known[i].allowed, ", "))
		}
		if !seen[key] {
			if err := known[i].set(&c, value); err != nil {
				return c, fileErr(file, n, "%s=%s: %v", key, value, err)
			}
		}
		seen[key] = true
	}
	return c, nil
}
