// Package doctor checks what fleet relies on: programs and what they really do,
// the file system under the run dir, the hook settings, and, on a real agent, that
// a write is in fact denied.
package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fleet/hooks/settings"
	"fleet/internal/proc"
	"fleet/internal/scratchdb"
	"fleet/roster"
	"fleet/roster/rundir"
	"fleet/tmux"
)

// Status is the result of a check.
type Status string

// The results of a check.
const (
	OK       Status = "ok"
	Fail     Status = "fail"
	Advisory Status = "advisory" // not needed by everybody, or worth knowing
)

// Row is one check.
type Row struct {
	Name   string
	Status Status
	Detail string
}

// row is a check that has failed if there is an error.
func row(name, detail string, err error) Row {
	if err != nil {
		return Row{name, Fail, err.Error()}
	}
	return Row{name, OK, detail}
}

// Programs checks that what fleet calls is installed.
func Programs(ctx context.Context) []Row {
	return []Row{program(ctx, "tmux", Fail, "-V"), program(ctx, "git", Fail, "--version")}
}

func program(ctx context.Context, name string, missing Status, versionArg string) Row {
	r := Row{Name: "bin-" + filepath.Base(name), Status: missing}
	path, err := exec.LookPath(name)
	if err != nil {
		r.Detail = "not found in PATH"
		return r
	}
	out, err := proc.Run(ctx, proc.Cmd{Args: []string{name, versionArg}})
	if err != nil {
		r.Detail = fmt.Sprintf("%s does not run: %v", path, err)
		return r
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return Row{r.Name, OK, version + " (" + path + ")"}
}

// Tmux checks, on a private server, each behaviour of tmux that fleet's code depends on.
func Tmux(ctx context.Context) []Row {
	facts := tmux.Contract(ctx, proc.Run)
	rows := make([]Row, len(facts))
	for i, f := range facts {
		rows[i] = Row{"tmux-" + f.ID, OK, f.Name}
		if !f.OK {
			rows[i].Status, rows[i].Detail = Fail, f.Name+": "+f.Detail
		}
	}
	return rows
}

// Run checks a run dir: its files, its lock, its file system, its hook settings.
func Run(ctx context.Context, d *rundir.Dir) []Row {
	rows := []Row{fileSystem(d), lock(ctx, d)}
	var workstreams []roster.Workstream
	err := d.View(ctx, func(s *roster.State) error { workstreams = s.Workstreams; return nil })
	rows = append(rows, row("run-files", roster.Several(len(workstreams), "workstream")+" in "+d.Path, err))
	for _, w := range workstreams {
		if d.Alive(w.ID) {
			commands, err := settings.Commands(d.HookSettings(w.ID))
			rows = append(rows, hookSettings("hooks-"+w.ID, commands, err))
		}
	}
	switch d.Config.DB {
	case "docker":
		rows = append(rows, program(ctx, d.Config.Docker, Fail, "--version"))
	case "local":
		rows = append(rows, program(ctx, scratchdb.Program("initdb"), Fail, "--version"))
	}
	return rows
}

// LocalHooks checks what "fleet hooks install" left in a repository: a hook whose program is gone blocks every write.
func LocalHooks(root string) []Row {
	commands, err := settings.Installed(root)
	if err == nil && len(commands) == 0 {
		return []Row{{"hooks-local", Advisory, "not installed: sessions that you start yourself are not gated (fleet hooks install)"}}
	}
	return []Row{hookSettings("hooks-local", commands, err)}
}

func hookSettings(name string, commands []string, err error) Row {
	for _, line := range commands {
		exe := settings.Program(line)
		if info, err := os.Stat(exe); err != nil || info.Mode()&0o111 == 0 {
			return Row{name, Fail, fmt.Sprintf("%s is no program, so every write is blocked", exe)}
		}
	}
	return row(name, roster.Several(len(commands), "hook"), err)
}

// lock checks that the lock excludes, which some network file systems only pretend.
func lock(ctx context.Context, d *rundir.Dir) Row {
	const name = "doctor"
	unlock, err := d.Exclusive(ctx, name)
	if err != nil {
		return row("run-lock", "", err)
	}
	defer unlock()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	second, err := d.Exclusive(short, name)
	if err == nil {
		second()
		return Row{"run-lock", Fail, "flock does not exclude here: leases would be worth nothing"}
	}
	return Row{"run-lock", OK, "flock excludes"}
}
