// Package agent knows each kind of agent that can serve a workstream: how to
// start it, how to read what a headless session of it says, and what its screen
// says before its hooks can.
//
// A brain is plain data and a function or two, one file each. Whether an agent
// gates its writes through fleet's hooks is a fact about it (Hooks); one that
// doesn't is kept apart by a worktree of its own.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"go/version"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

// Brain is a way to run an agent.
type Brain struct {
	Name    string
	Program string // looked up in PATH; "" is fleet itself
	Hooks   bool   // it calls fleet's hooks: writes are gated, and its turns report themselves
	Schemas bool   // it can be told what its last reply has to fit
	Commits bool   // its headless sessions can commit what they write
	Since   string // the oldest version whose hooks were seen to deny; empty where any will do, since silence is a no there

	Stop  syscall.Signal    // that asks it to end, where SIGTERM doesn't
	Files map[string]string // further files that its hooks need, beside their settings

	provider string // whose service it uses, where its name doesn't say that

	profile Profile // of the user's own, on top of the built-in brain; see Find
	launch  func(Job) (Command, error)
	read    func(s *Session, f frame, line []byte, show func(string)) // takes what a headless session writes; nil: it has none
	whole   bool                                                      // it writes one frame, of any number of lines, instead of one a line
	unset   []string                                                  // variables that must not reach it, beyond those of every worker
	archive func(session string, env []string) string                 // the file in which a conversation is kept, "" if there is none
	service service
	screen  screen
}

// Job is one start of a worker.
type Job struct {
	Name     string // shown by the agent where it can; unique among sessions
	Mode     string // roster.Interactive or roster.Headless
	Settings string // path of the hook settings made for this worker; empty for one without
	Prompt   string // the first prompt, one line; empty for one that waits for its first task
	Packet   string // path of the prompt instead, of any length, for a headless session
	Schema   string // path of what its last reply has to fit, for a brain that has Schemas
	Session  string // a conversation to go on with; empty begins one
	Root     string // the main checkout, on which agents keep whether it is trusted
	RunDir   string // which a sandbox must let it write, through fleet
	Trust    bool   // start without the question whether the folder is trusted
	Script   string // path of the script, for the scripted brain
	Attempt  int    // at the task, for the scripted brain: it plays the script's turn of this number
	Limits
}

// headless reports whether the session has no screen.
func (j Job) headless() bool { return j.Mode == roster.Headless }

// Limits bound one headless session. Zero values bound nothing.
type Limits struct {
	Sealed    bool          // only tools whose writes can be checked, and nothing of the user's or the repository's settings
	Model     string        // instead of the brain's
	Effort    string        // how hard the model thinks, in the agent's own words
	Timeout   time.Duration // wall clock; the session is killed then
	MaxTurns  int           // turns with the model
	BudgetUSD float64
}

// Command is what to run.
type Command struct {
	Args  []string // Args[0] is a program for PATH, or absolute
	Set   []string // KEY=VALUE; secrets are here and nowhere else
	Unset []string
	Stdin string // path of a file; empty is nothing

	mute bool // it takes no prompt as an argument
}

// Environ is an environment as the command gets it.
func (c Command) Environ(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(c.Unset, name)
	})
	return append(kept, c.Set...) // of two values of one name the last counts
}

// Find returns the brain of a name: one of the user's own profiles, or a built-in one.
func Find(name string) (Brain, error) {
	profiles, err := Profiles()
	if err != nil {
		return Brain{}, err
	}
	brains := Brains()
	var names []string
	for _, p := range profiles {
		i := slices.IndexFunc(brains, func(b Brain) bool { return b.Name == p.Base })
		if i < 0 {
			return Brain{}, roster.Dataf("the profile %s has the base %q, which is no built-in brain", p.Name, p.Base)
		}
		b := brains[i]
		b.provider, b.Name, b.profile = b.Provider(), p.Name, p
		brains = append(brains, b)
	}
	for _, b := range brains {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Brain{}, roster.Dataf("no brain is called %q", name).Hinted("there are: %s; fleet model add makes one of your own", strings.Join(names, ", "))
}

// Brains lists the built-in brains.
func Brains() []Brain {
	brains := []Brain{claude("claude", "")}
	for _, model := range []string{"opus", "sonnet", "haiku", "fable"} {
		brains = append(brains, claude(model, model))
	}
	return append(brains, glm(), codex(), grok(), gemini(), opencode(), scripted(), shell())
}

// MissingError says that a program that is needed isn't installed.
type MissingError struct {
	Program string
	For     string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: not found in PATH, and %s needs it", e.Program, e.For)
}

// Installed reports, by a *MissingError, if the brain's program isn't there.
func (b Brain) Installed() error {
	if b.Program == "" {
		return nil
	}
	if _, err := exec.LookPath(b.Program); err != nil {
		return &MissingError{Program: b.Program, For: "the brain " + b.Name}
	}
	return nil
}

// Transcript is the file in which the agent keeps a conversation that it had in an environment; empty if there is none.
func (b Brain) Transcript(session string, env []string) string {
	if session == "" || b.archive == nil {
		return ""
	}
	return b.archive(session, env)
}

// Ready reports what is missing before it can start: its program, or its key.
func (b Brain) Ready(ctx context.Context) error {
	if err := b.Installed(); err != nil {
		return err
	}
	if _, err := b.profile.secret(ctx, b.service); err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	return nil
}

var versionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// Ungated says why nothing checks what the agent writes, "" if its hooks do.
func (b Brain) Ungated(ctx context.Context) string {
	if !b.Hooks {
		return b.Name + " has no hooks that fleet can use"
	}
	if b.Since == "" {
		return ""
	}
	out, _ := proc.Run(ctx, proc.Cmd{Args: []string{b.Program, "--version"}}) // one that doesn't say is as good as none
	v := versionPattern().FindString(string(out))
	if version.Compare("go"+v, "go"+b.Since) < 0 { // which knows numbers with dots
		return fmt.Sprintf("the hooks of %s %s are not known to deny (those of %s are)", b.Name, cmp.Or(v, "of an unknown version"), b.Since)
	}
	return ""
}

// Headless reports whether it can work off tasks without a screen.
func (b Brain) Headless() bool { return b.read != nil }

// Command returns how to start the agent. exe is the fleet program.
func (b Brain) Command(ctx context.Context, exe string, j Job) (Command, error) {
	if !b.Hooks {
		j.Settings = ""
	}
	j.Model, j.Effort = cmp.Or(j.Model, b.profile.Model), cmp.Or(j.Effort, b.profile.Effort)
	c, err := b.launch(j)
	if c.Stdin == "" && !c.mute {
		c.Stdin = j.Packet
	}
	if err == nil {
		err = b.profile.apply(ctx, b.service, &c)
	}
	if err != nil {
		return c, err
	}
	c.Args = append([]string{cmp.Or(b.Program, exe)}, c.Args...)
	if j.Prompt != "" && !c.mute {
		c.Args = append(c.Args, j.Prompt)
	}
	c.Unset = slices.Concat(c.Unset, everywhere, b.unset)
	return c, nil
}

// everywhere are variables that no worker gets: with TMUX in its environment, a
// worker that tests something of its own with tmux would reach the fleet's server,
// and by the others an agent's session marks what it starts. A worker that is
// spawned from one is a session of its own.
var everywhere = []string{
	"TMUX", "TMUX_PANE",
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_EFFORT",
	"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "OPENCODE", "OPENCODE_PID",
}

// flag is a flag with its value, nothing for an empty one.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{name, value}
}
