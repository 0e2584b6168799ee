// Package cmd is fleet's command line: one file a verb, each of which parses,
// calls the data plane or the master, and prints. Data goes to stdout, talk to
// stderr, and errors become text and an exit code in one place.
package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fleet/hooks"
	"fleet/internal/git"
	"fleet/internal/master"
	"fleet/internal/proc"
	"fleet/roster"
	"fleet/roster/rundir"
)

// Main runs the command line of the process and returns its exit code.
func Main() int {
	a := &app{in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(a)
	root.SetArgs(os.Args[1:])
	return a.report(root.ExecuteContext(ctx))
}

// app is what every verb may need. What costs something is a method.
type app struct {
	in          io.Reader
	out, errOut io.Writer
	getenv      func(string) string
	runDir      string // --run-dir
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "fleet",
		Short: "Run several coding agents on one repository, without a lost write",
		Long: `fleet coordinates several coding agents on one repository. Each runs in a tmux
pane; before it writes a file, its own hook checks whether another one holds
that file, and denies the write if so. All state is plain files in
planning/fleet-<slug>/.`,
		Example: `  fleet init shop                                   start a run
  fleet add WS01 "add the order API" --claims api/   register workstreams
  fleet add WS02 "write the docs of the order API"
  fleet spawn WS01 WS02                              start their agents in tmux panes
  fleet attach                                       look at them
  fleet status                                       or at the table`,
		SilenceErrors: true, SilenceUsage: true,
		Version: versionText(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && onTerminal() {
				return nil
			}
			if len(args) == 0 {
				return roster.Usagef("a command is needed").Hinted("fleet --help lists them")
			}
			return unknownCommand(c, args[0])
		},
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error { return a.screen(ctx, f, false) })),
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.SetVersionTemplate("fleet {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().Func("run-dir", "`path` of the run dir (default: $FLEET_RUN_DIR, else the nearest planning/fleet-*, of several the one that changed last)", func(path string) error {
		if path == "" { // a variable that is not set must not lead to another run
			return errors.New("want a path")
		}
		a.runDir = path
		return nil
	})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 { // the flag is that of a command that isn't there
			return unknownCommand(c, words[0])
		}
		return badFlag(err)
	})
	root.AddGroup(
		&cobra.Group{ID: "run", Title: "The run:"},
		&cobra.Group{ID: "who", Title: "Workstreams:"},
		&cobra.Group{ID: "what", Title: "Tasks:"},
		&cobra.Group{ID: "lanes", Title: "Lanes:"},
		&cobra.Group{ID: "git", Title: "Git and databases:"},
		&cobra.Group{ID: "look", Title: "Looking:"},
		&cobra.Group{ID: "agents", Title: "Agents:"},
	)
	tasks := newTasks(a, "tasks")
	tasks.GroupID = "what"
	root.AddCommand(
		newInit(a), newStart(a), newAttach(a), newUp(a), newDown(a), newRestart(a), newDoctor(a), newDemo(a),
		newAdd(a), newClaim(a), newRelease(a), newHeartbeat(a), newBlock(a), newSpawn(a), newSend(a), newHandoff(a), newStop(a),
		newLoad(a), newTask(a), tasks, newRun(a), newTick(a), newReset(a), newLane(a),
		newCommit(a), newLand(a), newRevert(a), newCheckMain(a), newGC(a),
		newStatus(a), newLs(a), newLeases(a), newConflicts(a), newEvents(a), newWatch(a), newState(a), newServe(a), newMonitor(a), newCard(a),
		newMigrateNext(a), newDB(a), newDBClean(a),
		newModel(a), newHooks(a), newHook(a), newPane(a), newReap(a), newPlay(a),
		newVersion(a), newExitCodes(),
	)
	root.SetHelpCommandGroupID("")
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		checkWords(c)
	}
	return root
}

// checkWords has a group of verbs take the words of one alone, and print its help where there are none. A verb
// that doesn't say how many arguments it takes takes none.
func checkWords(c *cobra.Command) {
	switch {
	case c.HasSubCommands():
		c.Args = func(c *cobra.Command, words []string) error {
			if len(words) > 0 {
				return unknownCommand(c, words[0])
			}
			return nil
		}
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	case c.Args == nil:
		c.Args = args(0, 0)
	}
	for _, sub := range c.Commands() {
		checkWords(sub)
	}
}

// kinds are what flags want, by the name of their type.
var kinds = map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "duration": "a time such as 90s", "bool": "true or false"}

// badFlag says what is wrong with a flag. How a value is read is nothing to people.
func badFlag(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && kinds[bad.GetFlag().Value.Type()] != "" {
		return roster.Usagef("--%s wants %s, not %q", bad.GetFlag().Name, kinds[bad.GetFlag().Value.Type()], bad.GetValue())
	}
	return roster.Usagef("%v", err)
}

func unknownCommand(of *cobra.Command, word string) error {
	return roster.Usagef("unknown command %q", word).Hinted("%s --help lists them", of.CommandPath())
}

// dir opens the run dir: the flag, else the environment, else the nearest one
// above here; in a linked worktree, the main checkout is searched as well.
func (a *app) dir(ctx context.Context) (*rundir.Dir, error) {
	if a.runDir != "" {
		return rundir.Open(a.runDir)
	}
	if env := a.getenv(hooks.EnvRunDir); env != "" {
		d, err := rundir.Open(env)
		if err != nil {
			return nil, roster.Usagef("%s=%s is no run dir", hooks.EnvRunDir, env).Hinted("unset it, or name one that exists")
		}
		return d, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	found, err := rundir.Find(cwd)
	if err != nil {
		main, gitErr := git.In(proc.Run, cwd).MainRoot(ctx)
		if gitErr != nil {
			return nil, err
		}
		if found, err = rundir.Find(main); err != nil {
			return nil, err
		}
	}
	if len(found) > 1 {
		a.talk("note: %d runs here, taking %s, which changed last; --run-dir or FLEET_RUN_DIR chooses", len(found), found[0])
	}
	return rundir.Open(found[0])
}

// fleet opens the run dir for a verb that acts on workers or tmux.
func (a *app) fleet(ctx context.Context) (*master.Fleet, error) {
	d, err := a.dir(ctx)
	if err != nil {
		return nil, err
	}
	exe, err := executable()
	return &master.Fleet{Dir: d, Exe: exe, Run: proc.Run}, err
}

// executable is the path by which hooks and panes call this program again.
func executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Abs(exe)
}
