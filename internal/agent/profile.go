package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/google/renameio/v2"

	"fleet/internal/proc"
	"fleet/roster"
)

// Profile is a brain of the user's own: a built-in one with another model, service or
// account. It names its key and never holds it.
type Profile struct {
	Name    string            `json:"name,omitempty"`
	Base    string            `json:"base,omitempty"`
	Model   string            `json:"model,omitempty"`
	Effort  string            `json:"effort,omitempty"`
	BaseURL string            `json:"base_url,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Args    []string          `json:"args,omitempty"`
	KeyEnv  string            `json:"key_env,omitempty"`     // the variable that has the key
	KeyCmd  string            `json:"key_command,omitempty"` // a shell command that prints it
	Default bool              `json:"default,omitempty"`     // for workstreams of a new run
}

// service is how an agent is told which service to use.
type service struct {
	url  string                    // the variable of its address
	args func(url string) []string // or the arguments
	key  string                    // the variable from which the agent takes its key
	keys []string                  // those of the user's that are tried, the first first, where it can't do without
}

var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,40}$`) })

// secretName is what the names of variables look like whose values nobody should write down.
var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASSWORD)$`) })

// Check says what is wrong with a profile.
func (p Profile) Check() error {
	i := slices.IndexFunc(Brains(), func(b Brain) bool { return b.Name == p.Base })
	switch {
	case !profileName().MatchString(p.Name):
		return roster.Dataf("profile name %q: want small letters, digits, and . _ -", p.Name)
	case slices.ContainsFunc(Brains(), func(b Brain) bool { return b.Name == p.Name }):
		return roster.Dataf("%s is a brain that fleet has itself", p.Name)
	case p.KeyEnv != "" && p.KeyCmd != "":
		return roster.Usagef("a key has one source: --key-env or --key-command")
	case i < 0:
		return roster.Dataf("--base %q: no built-in brain has this name", p.Base)
	}
	s := Brains()[i].service
	if p.BaseURL != "" && s.url == "" && s.args == nil {
		return roster.Dataf("fleet knows no way to tell %s an address", p.Base).Hinted("its own configuration, or --env, may have one")
	}
	if (p.KeyEnv != "" || p.KeyCmd != "") && s.key == "" {
		return roster.Dataf("fleet knows no way to give %s a key", p.Base)
	}
	for name := range p.Env {
		if secretName().MatchString(name) {
			return roster.Refusef("%s looks like a secret, which is not kept here", name).Hinted("name where it is: --key-env VARIABLE, or --key-command 'a command that prints it'")
		}
	}
	return nil
}

// Set takes from another profile whatever that says.
func (p *Profile) Set(other Profile) {
	if other.KeyEnv != "" || other.KeyCmd != "" { // a key has one source
		p.KeyEnv, p.KeyCmd = "", ""
	}
	text, _ := json.Marshal(other) // which texts always do
	_ = json.Unmarshal(text, p)
}

// apply adds what a profile asks for, and the key of its service, to a command.
func (p Profile) apply(ctx context.Context, s service, c *Command) error {
	c.Args = append(c.Args, p.Args...)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		c.Set = append(c.Set, name+"="+p.Env[name])
	}
	if p.BaseURL != "" && s.url != "" {
		c.Set = append(c.Set, s.url+"="+p.BaseURL)
	}
	if p.BaseURL != "" && s.args != nil {
		c.Args = append(c.Args, s.args(p.BaseURL)...)
	}
	key, err := p.secret(ctx, s)
	if key != "" {
		c.Set = append(c.Set, s.key+"="+key)
	}
	return err
}

// Identity is what makes the brain answer otherwise than another: its name, and all that its profile says.
func (b Brain) Identity() string {
	profile, err := json.Marshal(b.profile)
	if err != nil {
		panic(err) // texts always marshal
	}
	return b.Name + " " + string(profile)
}

// Provider is whose service the brain uses, for bounds on how many do at once.
func (b Brain) Provider() string {
	if u, err := url.Parse(b.profile.BaseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return cmp.Or(b.provider, b.Name)
}

// secret is the key of the service, from where the profile says that it is.
func (p Profile) secret(ctx context.Context, s service) (string, error) {
	if p.KeyCmd != "" {
		out, err := proc.Run(ctx, proc.Cmd{Args: []string{"/bin/sh", "-c", p.KeyCmd}})
		if key := strings.TrimSpace(string(out)); err == nil && key != "" {
			return key, nil
		}
		return "", &NoKeyError{Why: "its key command prints none"} // not what it said, which may be the key
	}
	names := s.keys
	if p.KeyEnv != "" {
		names = []string{p.KeyEnv}
	}
	for _, name := range names {
		if key := os.Getenv(name); key != "" {
			return key, nil
		}
	}
	if len(names) > 0 {
		return "", &NoKeyError{Why: "the environment has no " + strings.Join(names, ", no ")}
	}
	return "", nil
}

// NoKeyError says that the key of a service is not where it should be.
type NoKeyError struct{ Why string }

func (e *NoKeyError) Error() string { return "no key: " + e.Why }

// profilesFile is in the user's configuration dir, since accounts are the user's and no run's.
func profilesFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "fleet", "models.json"), err
}

// Profiles lists the profiles of the user's own.
func Profiles() ([]Profile, error) {
	path, err := profilesFile()
	if err != nil {
		return nil, nil //nolint:nilerr // an environment without a home has no profiles
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var profiles []Profile
	if err == nil && json.Unmarshal(text, &profiles) != nil {
		err = roster.Dataf("%s: not the list of profiles that fleet model writes", path)
	}
	return profiles, err
}

// UpdateProfiles changes the profiles, one caller at a time, and keeps them for the user's own eyes.
func UpdateProfiles(change func([]Profile) ([]Profile, error)) error {
	path, err := profilesFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	profiles, err := Profiles()
	if err == nil {
		profiles, err = change(profiles)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(profiles, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(text, '\n'), 0o600)
}

// DefaultBrain is the brain of the workstreams of a new run.
func DefaultBrain() string {
	profiles, _ := Profiles() // whoever uses it will see what is wrong with them
	for _, p := range profiles {
		if p.Default {
			return p.Name
		}
	}
	return "claude"
}
