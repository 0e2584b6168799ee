// Package cmd_test has the programs of the scripts: fleet itself, and a stand-in
// for Claude Code. That takes the same flags, behaves the same at the terminal (a
// box with a prompt sign, bracketed paste, a queue while a turn runs, dialogs), and
// plays a script through the hooks of its settings file.
//
// Two files serve a test. To the log, named by FAKE_AGENT_LOG, it writes what it
// truly received, as JSON lines: every key, every paste, every submission byte
// for byte. From the control file, named by FAKE_AGENT_CONTROL, it takes faults.
package cmd_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fleet/internal/scripted"
)

// Environment variables that name the two files.
const (
	envLog     = "FAKE_AGENT_LOG"
	envControl = "FAKE_AGENT_CONTROL"
)

// options are the flags of Claude Code that fleet uses. Any other is an error, as it is there.
type options struct {
	mode, settings, name, model, format string
	print, verbose, version             bool
	prompt                              string
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("claude", flag.ContinueOnError)
	f.StringVar(&o.mode, "permission-mode", "", "")
	f.StringVar(&o.settings, "settings", "", "")
	f.StringVar(&o.name, "n", "", "")
	f.StringVar(&o.model, "model", "", "")
	f.StringVar(&o.format, "output-format", "text", "")
	for _, bound := range []string{"tools", "setting-sources", "max-turns", "max-budget-usd"} {
		f.String(bound, "", "")
	}
	f.Bool("strict-mcp-config", false, "")
	f.BoolVar(&o.print, "p", false, "")
	f.BoolVar(&o.verbose, "verbose", false, "")
	f.BoolVar(&o.version, "version", false, "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.prompt = f.Arg(0)
	switch {
	case o.version:
	case o.mode != "dontAsk":
		return o, fmt.Errorf("permission mode %q: the fake knows only dontAsk", o.mode)
	case o.print && o.prompt == "":
		return o, errors.New("input must be provided when using --print")
	case o.print && o.format == "stream-json" && !o.verbose:
		return o, errors.New("when using --print, --output-format=stream-json requires --verbose")
	}
	return o, nil
}

// claude is the program. It returns the exit code.
func claude() int {
	log := newTruth()
	code, err := run(log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		code = 1
	}
	log.write(record{Kind: "exit", Code: code})
	return code
}

func run(log *truth) (code int, err error) {
	log.write(record{Kind: "start", PID: os.Getpid(), Args: os.Args[1:]})
	o, err := parse(os.Args[1:])
	if err != nil {
		return 1, err
	}
	if o.version {
		fmt.Println("2.1.328 (Claude Code)")
		return 0, nil
	}
	f, err := load()
	if err != nil {
		return 1, err
	}
	if f.ExitCode != 0 {
		fmt.Println("Error: the fake was told to fail")
		return f.ExitCode, nil
	}
	if o.print {
		return headless(o)
	}
	return newAgent(o, log).run()
}

// player plays the script that lies beside the workstream's brief.
func player(o options, out io.Writer) (*scripted.Player, error) {
	script := filepath.Join(os.Getenv("FLEET_RUN_DIR"), "briefs", os.Getenv("FLEET_WS")+".script.json")
	return scripted.New(o.settings, script, out)
}

// headless plays one turn and prints what "claude -p" would.
func headless(o options) (int, error) {
	p, err := player(o, os.Stdout)
	if err != nil {
		return 1, err
	}
	return 0, p.RunTask(context.Background(), o.prompt, 1)
}
