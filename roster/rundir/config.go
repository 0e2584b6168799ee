package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Config is fleet.env, the settings of one run and the only configuration that it reads.
type Config struct {
	Worktree     bool   // each worker in a checkout of its own
	WorktreeRoot string // where those checkouts are made, relative to the main one
	DB           string // none or docker
	Brain        string // for workstreams that name none
	Strict       bool   // a write needs a claim
	Trust        bool   // start agents without their question whether the folder is trusted
	Tmux         string // own or current
	TmuxSocket   string // name of the own server's socket; empty means one made from the run
	TmuxConf     string // configuration file of the own server; empty means none
}

type setting struct {
	key, value string
	allowed    []string // empty: any value
	doc        string
	set        func(c *Config, value string)
}

func onOff(set func(*Config, bool)) func(*Config, string) {
	return func(c *Config, v string) { set(c, v == "on") }
}

func settings() []setting {
	offOn := []string{"off", "on"}
	return []setting{
		{
			"FLEET_WORKTREE", "off", offOn,
			"off: all workers share the main checkout, kept apart by leases.\non: each worker gets a git worktree and a branch fleet/<WS> of its own.",
			onOff(func(c *Config, on bool) { c.Worktree = on }),
		},
		{
			"FLEET_WORKTREE_ROOT", ".claude/worktrees", nil,
			"Where those worktrees are made, relative to the main checkout.",
			func(c *Config, v string) { c.WorktreeRoot = v },
		},
		{
			"FLEET_DB", "none",
			[]string{"none", "docker"},
			"Whether workstreams use scratch databases in docker, which fleet doctor then looks for: none or docker.",
			func(c *Config, v string) { c.DB = v },
		},
		{
			"FLEET_BRAIN", "claude", nil,
			"The agent of a workstream that is added without --brain.",
			func(c *Config, v string) { c.Brain = v },
		},
		{
			"FLEET_STRICT", "off", offOn,
			"on: a worker may write only what it has claimed.\noff: any file that nobody else holds or claims.",
			onOff(func(c *Config, on bool) { c.Strict = on }),
		},
		{
			"FLEET_TRUST", "off", offOn,
			"on: start agents without their question whether this folder is trusted.\noff: the question is reported as \"blocked\", for a person to answer.",
			onOff(func(c *Config, on bool) { c.Trust = on }),
		},
		{
			"FLEET_TMUX", "own",
			[]string{"own", "current"},
			"own: a tmux server of the run's own, apart from yours.\ncurrent: panes in the tmux server that fleet is called from.",
			func(c *Config, v string) { c.Tmux = v },
		},
		{
			"FLEET_TMUX_SOCKET", "", nil,
			"Socket name of the own server (tmux -L). Empty: fleet-<slug>-<hash of the run dir's path>.",
			func(c *Config, v string) { c.TmuxSocket = v },
		},
		{
			"FLEET_TMUX_CONF", "", nil,
			"Absolute path of a configuration file for the own server, such as your .tmux.conf. Empty: none.",
			func(c *Config, v string) { c.TmuxConf = v },
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
		s.set(&c, s.value)
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
			known[i].set(&c, value)
		}
		seen[key] = true
	}
	return c, nil
}
