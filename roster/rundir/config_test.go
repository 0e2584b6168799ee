package rundir

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"fleet/roster"
)

// defaults is the configuration of a run whose fleet.env says nothing. CFN-31.
var defaults = Config{
	UntilCommit: true, WorktreeRoot: ".claude/worktrees", Copy: ".env", Forbid: `^(<<<<<<<|>>>>>>>)\s`, DB: "none", Docker: "docker", Brain: "claude", Tmux: "own", Runners: 3, TaskTimeout: 10 * time.Minute,
	TaskBudget: 0.5, MaxTurns: 40, MaxAttempts: 3, VerifyTimeout: 5 * time.Minute, // CF-81, CF-85, CF-86
}

// CFN-11, CFN-12.
func TestParseConfig(t *testing.T) {
	with := func(change func(*Config)) Config {
		c := defaults
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		text string
		want Config
	}{
		"empty":             {"", defaults},
		"comments":          {"# FLEET_DB=docker\n\n   \n  # x\n", defaults},
		"one":               {"FLEET_WORKTREE=on\n", with(func(c *Config) { c.Worktree = true })},
		"no newline":        {"FLEET_WORKTREE=on", with(func(c *Config) { c.Worktree = true })},
		"first wins":        {"FLEET_DB=docker\nFLEET_DB=none\n", with(func(c *Config) { c.DB = "docker" })},
		"first wins, empty": {"FLEET_BRAIN=\nFLEET_BRAIN=glm\n", with(func(c *Config) { c.Brain = "" })},
		"a local server":    {"FLEET_DB=local\n", with(func(c *Config) { c.DB = "local" })},
		"podman":            {"FLEET_DOCKER=podman\n", with(func(c *Config) { c.Docker = "podman" })},
		"CRLF":              {"FLEET_STRICT=on\r\nFLEET_TRUST=on\r\n", with(func(c *Config) { c.Strict, c.Trust = true, true })},
		"a value with =":    {"FLEET_TMUX_CONF=/x=y\n", with(func(c *Config) { c.TmuxConf = "/x=y" })},
		"the text of init":  {ConfigText(nil), defaults},
		"no runners":        {"FLEET_RUNNERS=0\n", with(func(c *Config) { c.Runners = 0 })},
		"part of a second":  {"FLEET_TASK_TIMEOUT=0.25\n", with(func(c *Config) { c.TaskTimeout = 250 * time.Millisecond })},
		"a cent":            {"FLEET_TASK_BUDGET_USD=0.01\n", with(func(c *Config) { c.TaskBudget = 0.01 })},
		"a long check":      {"FLEET_VERIFY_TIMEOUT=1000000\n", with(func(c *Config) { c.VerifyTimeout = 1_000_000 * time.Second })},
		"a check":           {"FLEET_VERIFY=make test FOO=1 # all\n", with(func(c *Config) { c.Verify = "make test FOO=1 # all" })},
	} {
		got, err := parseConfig(envFile, c.text)
		must(t, err)
		eq(t, name, got, c.want)
	}
	for text, says := range map[string]string{
		"# x\nFLEET_DBS=none\n":               "fleet.env:2: unknown setting FLEET_DBS",
		"FLEET_DB = none\n":                   `fleet.env:1: unknown setting FLEET_DB `,
		"fleet_db=none\n":                     "fleet.env:1: unknown setting fleet_db",
		"FLEET_DB=none\n\nexport X\n":         `fleet.env:3: "export X": want KEY=VALUE`,
		"FLEET_DB=postgres\n":                 "fleet.env:1: FLEET_DB=postgres: want one of none, docker, local",
		"FLEET_WORKTREE=yes\n":                "fleet.env:1: FLEET_WORKTREE=yes: want one of off, on",
		"FLEET_DB=none\nFLEET_DB=nonsense\n":  "fleet.env:2: FLEET_DB=nonsense",
		"FLEET_TMUX=screen\nFLEET_STRICT=on ": "fleet.env:1: FLEET_TMUX=screen",
	} {
		_, err := parseConfig(envFile, text)
		fails(t, err, roster.Data, says)
	}
}

// A number that makes no sense is refused where the file is read, not where it would be used hours later.
func TestParseConfigNumbers(t *testing.T) {
	for says, values := range map[string][]string{
		"FLEET_RUNNERS=%: want a whole number, 0 or more":               {"", "-1", "x", "1.5", "3 4", "99999999999999999999"},
		"FLEET_MAX_TURNS=%: want a whole number, 1 or more":             {"", "0", "-1", "many"},
		"FLEET_MAX_ATTEMPTS=%: want a whole number, 1 or more":          {"", "0", "-3", "1e3"},
		"FLEET_TASK_TIMEOUT=%: want a number of seconds, more than 0":   {"", "0", "-1", "10m", "NaN", "Inf", "-Inf", "1000001"},
		"FLEET_VERIFY_TIMEOUT=%: want a number of seconds, more than 0": {"", "0", "-0", "5m", "nan", "+Inf", "1e7"},
		"FLEET_TASK_BUDGET_USD=%: want a number of USD, more than 0":    {"", "0", "-0.5", "$1", "NaN", "Inf", "1e7"},
		"FLEET_ALLOW_RESET=%: want one of off, on":                      {"", "1", "true", "ON"},
	} {
		for _, v := range values {
			says := strings.Replace(says, "%", v, 1)
			key, _, _ := strings.Cut(says, "=")
			_, err := parseConfig(envFile, "# x\n"+key+"="+v+"\n")
			fails(t, err, roster.Data, "fleet.env:2: "+says)
		}
	}
}

// CF-110, CF-111: every setting changes something in Config, every field of Config has a setting, and ConfigText tells of each with its default.
func TestSettingsAndConfigAgree(t *testing.T) {
	text := ConfigText(nil)
	touched := make(map[string]string)
	for _, s := range settings(new(Config)) {
		if !strings.Contains(text, "\n"+s.key+"="+s.value+"\n") || s.doc == "" {
			t.Errorf("ConfigText does not tell of %s", s.key)
		}
		for word := range strings.FieldsSeq(strings.NewReplacer(":", " ", ",", " ").Replace(s.doc)) {
			if strings.HasPrefix(word, "FLEET_") && !strings.Contains(text, word+"=") {
				t.Errorf("%s speaks of %s, which there isn't", s.key, word)
			}
		}
		got, err := parseConfig(envFile, ConfigText(map[string]string{s.key: another(s)}))
		must(t, err)
		was, is := reflect.ValueOf(defaults), reflect.ValueOf(got)
		for i := range was.NumField() {
			if !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
				touched[was.Type().Field(i).Name] += s.key
			}
		}
	}
	fields := reflect.TypeFor[Config]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if strings.Count(touched[name], "FLEET_") != 1 {
			t.Errorf("Config.%s is set by %q, want exactly one setting", name, touched[name])
		}
	}
	eq(t, "settings", len(settings(new(Config))), fields.NumField())
}

// another is a value of a setting that isn't its default: another of those allowed, another number, or another word.
func another(s setting) string {
	for _, v := range s.allowed {
		if v != s.value {
			return v
		}
	}
	if n, err := strconv.ParseFloat(s.value, 64); err == nil {
		return strconv.FormatFloat(n+1, 'f', -1, 64)
	}
	return "other"
}

func TestReadConfig(t *testing.T) {
	dir := t.TempDir()
	got, err := readConfig(filepath.Join(dir, envFile))
	must(t, err)
	eq(t, "no file", got, defaults)
	must(t, os.Mkdir(filepath.Join(dir, envFile), 0o755))
	if _, err := readConfig(filepath.Join(dir, envFile)); err == nil {
		t.Error("a directory was read as fleet.env")
	}
}
