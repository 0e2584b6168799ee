package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kind is what part of a run a process plays.
type kind string

const (
	wrapper kind = "wrapper"
	worker  kind = "agent"
	hook    kind = "hook"
	runner  kind = "fleet run"
	other   kind = "other"
)

type process struct {
	pid  int
	args []string
}

// kind reads from a command line what a process is. The shell that runs a hook counts as the hook.
// A tmux that is told to start a wrapper, and a server that was, are none.
func (p process) kind() kind {
	switch {
	case p.args[0] == "/bin/sh" && slices.ContainsFunc(p.args, func(a string) bool { return strings.Contains(a, "/"+fleetName+"' hook ") }):
		return hook
	case filepath.Base(p.args[0]) != fleetName || len(p.args) < 2:
		return other
	case slices.Contains(p.args, "pane"):
		return wrapper
	case p.args[1] == "play":
		return worker
	case p.args[1] == "hook", slices.Contains(p.args, "reap"): // tmux calls that one when a pane's program ends
		return hook
	case p.args[1] == "run":
		return runner
	}
	return other
}

// processes lists what runs on the machine and mentions a path in its command line.
func processes(path string) []process {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("no process in /proc: %v", err))
	}
	var found []process
	for _, file := range files {
		line, err := os.ReadFile(file) // one that ended meanwhile can't be read, and has no line as a zombie
		if err != nil || !bytes.Contains(line, []byte(path)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		found = append(found, process{pid, strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")})
	}
	return found
}

// victims are the processes of a kind.
func (w *world) victims(k kind) []process {
	return slices.DeleteFunc(processes(w.exe), func(p process) bool { return p.kind() != k })
}

// mine are the processes of this world, known by their home, which need not mention it.
func (w *world) mine(which func(process) bool) []process {
	return slices.DeleteFunc(processes(""), func(p process) bool { return p.args[0] == "" || !w.owns(p.pid) || !which(p) })
}

func (w *world) owns(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00HOME="+w.home+"\x00"))
}

// kill ends a process of this world with SIGKILL and reports whether it was still there.
// The handle is taken first and then looked at, so that no other process is hit that got the pid since.
func (w *world) kill(p process) bool {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return false
	}
	defer func() { _ = handle.Release() }()
	return w.owns(p.pid) && handle.Kill() == nil
}

func (w *world) endAll(all []process) {
	for _, p := range all {
		w.kill(p)
	}
}
