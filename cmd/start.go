package cmd

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fleet/internal/master"
	"fleet/roster"
	"fleet/tui"
	_ "fleet/tui/quiet" // no command but the screen asks the terminal for its colours
)

func newStart(a *app) *cobra.Command {
	var config string
	var noSpawn bool
	c := &cobra.Command{
		Use: "start", GroupID: "run",
		Short: "Start the workers that are missing, and open the master screen",
		Long: `Opens the master screen, as fleet alone does, and starts the worker of each workstream that
has a task and none, one after the other. A worker that died goes on with its own
conversation, where its agent still has it. q leaves the screen; the workers go on.
A run without workstreams takes them from --config, else from fleet.config.local.json
or fleet.config.json if one of them is here. Without a terminal it is fleet up.
FLEET_THEME=light or dark and FLEET_MOUSE=off, in the environment, are about the screen.`,
		Example: "  fleet start\n  fleet start --config fleet.config.json",
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error {
			if err := a.loadConfig(ctx, f, config); err != nil {
				return err
			}
			switch {
			case onTerminal():
				return a.screen(ctx, f, !noSpawn)
			case noSpawn:
				return nil
			}
			return a.up(ctx, f, nil, master.SpawnOptions{Resume: true})
		})),
	}
	c.Flags().StringVar(&config, "config", "", "`file` of workers with their tasks, as fleet load reads it")
	c.Flags().BoolVar(&noSpawn, "no-spawn", false, "start nobody")
	return c
}

// loadConfig makes the workstreams of a run from a file. One that isn't named is
// read only by a run that has none yet.
func (a *app) loadConfig(ctx context.Context, f *master.Fleet, config string) error {
	if config == "" {
		empty := false
		if err := f.Dir.View(ctx, func(s *roster.State) error { empty = len(s.Workstreams)+len(s.Tasks) == 0; return nil }); err != nil || !empty {
			return err
		}
		here := []string{"fleet.config.local.json", "fleet.config.json"}
		i := slices.IndexFunc(here, func(path string) bool { _, err := os.Stat(path); return err == nil })
		if i < 0 {
			return nil
		}
		config = here[i]
	}
	return a.runLoad(ctx, f, []string{config})
}

func onTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// screen shows the master screen until it is left.
func (a *app) screen(ctx context.Context, f *master.Fleet, start bool) error {
	theme := a.getenv("FLEET_THEME")
	if !slices.Contains([]string{"", "light", "dark"}, theme) {
		return roster.Usagef("FLEET_THEME=%s: want light or dark", theme)
	}
	return tui.Run(ctx, f, tui.Options{Start: start, Theme: theme, Mouse: a.getenv("FLEET_MOUSE") != "off"})
}

func newAttach(a *app) *cobra.Command {
	var panes bool
	c := &cobra.Command{
		Use: "attach [<WSxx>]", GroupID: "run",
		Short: "Open the master screen, or show workers' panes in this terminal",
		Long: `Opens the master screen of a run; any number of terminals may. With a workstream it
shows that worker's pane, with --panes the run's tmux session: ctrl-b d leaves it
again, inside another tmux ctrl-b ctrl-b d, and the workers go on. Without a terminal
it prints the command that shows them.`,
		Example: "  fleet attach\n  fleet attach WS02",
		Args:    args(0, 1),
		RunE: a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error {
			switch {
			case len(ids) == 1:
				if _, err := f.Dir.Workstream(ctx, ids[0]); err != nil {
					return err
				}
				return f.Attach(ctx, ids[0], os.Stdin, a.out)
			case panes || !onTerminal():
				return f.Attach(ctx, "", os.Stdin, a.out)
			}
			return a.screen(ctx, f, false)
		}),
	}
	c.Flags().BoolVar(&panes, "panes", false, "the panes of all workers, in tmux")
	return c
}

func newUp(a *app) *cobra.Command {
	o := master.SpawnOptions{Resume: true}
	c := &cobra.Command{
		Use: "up [<WSxx>...]", GroupID: "run",
		Short:   "Start the workers that are missing, each with its own conversation, and no screen",
		Example: "  fleet up",
		Args:    args(0, -1),
		RunE:    a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error { return a.up(ctx, f, ids, o) })),
	}
	c.Flags().BoolVar(&o.Trust, "trust", false, "start agents without their question whether this folder is trusted")
	return c
}

func (a *app) up(ctx context.Context, f *master.Fleet, ids []string, o master.SpawnOptions) error {
	var started []master.Launched
	failed := f.Up(ctx, ids, o, func(l master.Launched) { started = append(started, l) })
	if failed == nil && len(started) == 0 {
		a.talk("no worker is missing")
	}
	if err := a.seeUp(ctx, f, started, true); failed == nil {
		return err
	}
	return failed
}

func newDown(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "down", GroupID: "run",
		Short:   "End every worker of the run, and its tmux server",
		Example: "  fleet down",
		RunE:    a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, _ []string) error { return a.stopAll(ctx, f) })),
	}
}

func newRestart(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "restart [<WSxx>...]", GroupID: "run",
		Short:   "End workers and start them again, each with its own conversation, task and files; all that run if none is named",
		Example: "  fleet restart WS02",
		Args:    args(0, -1),
		RunE: a.forMaster(a.onFleet(func(ctx context.Context, f *master.Fleet, ids []string) error {
			if len(ids) == 0 {
				err := f.Dir.View(ctx, func(s *roster.State) error {
					for _, w := range s.Workstreams {
						if f.Dir.Alive(w.ID) {
							ids = append(ids, w.ID)
						}
					}
					return nil
				})
				if err != nil || len(ids) == 0 {
					a.talk("no worker runs")
					return err
				}
			}
			return a.up(ctx, f, ids, master.SpawnOptions{Resume: true, Instead: true})
		})),
	}
}
