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
	Notify       string // shell command that calls a person; $1 is the text
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
	key, value string // the value is the default
	kind
	doc string
}

// kind is what a setting may be, and where in a Config it goes.
type kind struct {
	allowed []string // empty: any value that set takes
	set     func(value string) error
}

func text(field *string, allowed ...string) kind {
	return kind{allowed, func(v string) error { *field = v; return nil }}
}

func isWord(field *bool, word string, allowed ...string) kind {
	return kind{allowed, func(v string) error { *field = v == word; return nil }}
}

func onOff(field *bool) kind { return isWord(field, "on", "off", "on") }

func atLeast(least int, field *int) kind {
	return kind{nil, func(v string) (err error) {
		if *field, err = strconv.Atoi(v); err != nil || *field < least {
			return fmt.Errorf("want a whole number, %d or more", least)
		}
		return nil
	}}
}

// amount is a number of some unit, more than 0.
func amount[N float64 | time.Duration](field *N, unit string, one N) kind {
	return kind{nil, func(v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0 && n <= 1e6) {
			return fmt.Errorf("want a number of %s, more than 0", unit)
		}
		*field = N(n * float64(one))
		return nil
	}}
}

func seconds(field *time.Duration) kind { return amount(field, "seconds", time.Second) }

// settings are those of a run, in the order of fleet.env. They go into c.
func settings(c *Config) []setting {
	is := func(key, value string, k kind, doc string) setting { return setting{key, value, k, doc} }
	return []setting{
		is("FLEET_WORKTREE", "off", onOff(&c.Worktree),
			"off: all workers share the main checkout, kept apart by leases.\non: each worker gets a git worktree and a branch fleet/<WS> of its own."),
		is("FLEET_WORKTREE_ROOT", ".claude/worktrees", text(&c.WorktreeRoot),
			"Where those worktrees are made, relative to the main checkout."),
		is("FLEET_BASE", "", text(&c.Base),
			"The branch that worktrees start from and that fleet land moves. Empty: the one that is checked out in the main checkout."),
		is("FLEET_WORKTREE_COPY", ".env", text(&c.Copy),
			"Files that git ignores and that a new worktree gets a copy of: patterns as in .gitignore, separated by commas.\nThose in a file .worktreeinclude are copied as well."),
		is("FLEET_WORKTREE_LINK", "", text(&c.Link),
			"Paths that a new worktree gets a symbolic link to, separated by commas, such as node_modules."),
		is("FLEET_WORKTREE_SETUP", "", text(&c.Setup),
			"A shell command to run in a new worktree before its worker starts."),
		is("FLEET_TEST", "", text(&c.Test),
			"A shell command that must succeed on what fleet land is about to land, in a worktree of its own."),
		is("FLEET_FORBID", `^(<<<<<<<|>>>>>>>)\s`, text(&c.Forbid),
			"A regular expression: fleet land refuses changes that add a line which matches it. Empty: none."),
		is("FLEET_DB", "none", text(&c.DB, "none", "docker", "local"),
			"Where fleet db makes a scratch PostgreSQL database for a workstream.\ndocker: in a container each. local: in a server of the run's own, by the machine's PostgreSQL programs."),
		is("FLEET_DOCKER", "docker", text(&c.Docker),
			"The program that runs those containers: docker, or podman."),
		is("FLEET_BRAIN", "claude", text(&c.Brain),
			"The agent of a workstream that is added without --brain."),
		is("FLEET_STRICT", "off", onOff(&c.Strict),
			"on: a worker may write only what it has claimed.\noff: any file that nobody else holds or claims."),
		is("FLEET_LEASE_UNTIL", "commit", isWord(&c.UntilCommit, "commit", "commit", "task"),
			"commit: a file that an interactive worker of the main checkout wrote stays its own until it is committed,\nso that no two workers' changes mix in one file.\ntask: until its task ends."),
		is("FLEET_TRUST", "off", onOff(&c.Trust),
			"on: start agents without their question whether this folder is trusted.\noff: the question is reported as \"blocked\", for a person to answer."),
		is("FLEET_NOTIFY", "", text(&c.Notify),
			"A shell command that the master screen runs when something has come to need a person. $1 says what: notify-send fleet \"$1\""),
		is("FLEET_TMUX", "own", text(&c.Tmux, "own", "current"),
			"own: a tmux server of the run's own, apart from yours.\ncurrent: panes in the tmux server that fleet is called from."),
		is("FLEET_TMUX_SOCKET", "", text(&c.TmuxSocket),
			"Socket name of the own server (tmux -L). Empty: fleet-<slug>-<hash of the run dir's path>."),
		is("FLEET_TMUX_CONF", "", text(&c.TmuxConf),
			"Absolute path of a configuration file for the own server, such as your .tmux.conf. Empty: none."),
		is("FLEET_RUNNERS", "3", atLeast(0, &c.Runners),
			"How many headless workers fleet run keeps for the tasks of the graph."),
		is("FLEET_MODEL", "", text(&c.Model),
			"The model of headless workers. Empty: whatever their brain takes by itself."),
		is("FLEET_TASK_TIMEOUT", "600", seconds(&c.TaskTimeout),
			"Seconds that a headless worker has for a task."),
		is("FLEET_TASK_BUDGET_USD", "0.50", amount(&c.TaskBudget, "USD", 1),
			"What a headless worker's task may cost, in USD. A task that reaches it has failed."),
		is("FLEET_MAX_TURNS", "40", atLeast(1, &c.MaxTurns),
			"How many turns with its model a headless worker's task may take."),
		is("FLEET_MAX_ATTEMPTS", "3", atLeast(1, &c.MaxAttempts),
			"How often a task is tried that doesn't say it itself."),
		is("FLEET_VERIFY", "", text(&c.Verify),
			"A shell command that fleet run tries when all tasks have succeeded; the run has failed if it does."),
		is("FLEET_VERIFY_TIMEOUT", "300", seconds(&c.VerifyTimeout),
			"Seconds that this command has, the check of a single task, what is tried before landing, and the set-up of a worktree."),
		is("FLEET_ALLOW_RESET", "off", onOff(&c.AllowReset),
			"on: fleet reset may forget the tasks, leases and events of this run."),
	}
}

// ConfigText is a fleet.env in which every key stands with its meaning; values
// replaces defaults by key.
func ConfigText(values map[string]string) string {
	var b strings.Builder
	b.WriteString("# The settings of this run: KEY=VALUE, the first of a key counts, # starts a comment.\n")
	for _, s := range settings(new(Config)) {
		b.WriteString("\n# " + strings.ReplaceAll(s.doc, "\n", "\n# ") + "\n")
		value, given := values[s.key]
		if !given {
			value = s.value
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
	known := settings(&c)
	for _, s := range known {
		if err := s.set(s.value); err != nil {
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
		if allowed := known[i].allowed; len(allowed) > 0 && !slices.Contains(allowed, value) {
			return c, fileErr(file, n, "%s=%s: want one of %s", key, value, strings.Join(allowed, ", "))
		}
		if !seen[key] {
			if err := known[i].set(value); err != nil {
				return c, fileErr(file, n, "%s=%s: %v", key, value, err)
			}
		}
		seen[key] = true
	}
	return c, nil
}
