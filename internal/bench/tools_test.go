package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tools are what fleet is compared with.
type tools struct {
	empty  string // a Go program that does nothing
	append string // a Go program that takes a flock and appends one line
	awk    string // a shell script that checks and takes a lease with flock and awk
}

const emptySource = "package main\n\nfunc main() {}\n"

const appendSource = `package main

import (
	"os"
	"syscall"
)

func main() {
	lock, err := os.Open(os.Args[1])
	if err != nil || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) != nil {
		os.Exit(1)
	}
	log, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		os.Exit(1)
	}
	if _, err := log.WriteString("path\tWS01\tWS01\t1\tWrite\t2026-01-01T00:00:00.000Z\t\n"); err != nil {
		os.Exit(1)
	}
}
`

// awkSource does what the write check does, as one would in a shell: the lock, the
// holder of a path, the row, the event. $1 is the run dir, $2 the path.
const awkSource = `#!/bin/bash
cat >/dev/null
exec 9<"$1/.roster.lock"
flock -x 9
holder=$(awk -F'\t' -v p="$2" '$1 == p { print $2; exit }' "$1/leases.tsv")
status=$(awk -F'\t' '$1 == "WS01" { print $4; exit }' "$1/roster.tsv")
if [ -z "$holder" ]; then
	printf '%s\tWS01\tWS01\t1\tWrite\t%s\t\n' "$2" "$(date -u +%FT%T.000Z)" >>"$1/leases.tsv"
	echo "{\"type\":\"lease_acquired\",\"path\":\"$2\",\"status\":\"$status\"}" >>"$1/awk-events.jsonl"
	holder=WS01
fi
[ "$holder" = WS01 ] && d=allow || d=deny
printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"%s"}}\n' "$d"
`

func buildTools(dir string) (tools, error) {
	t := tools{empty: filepath.Join(dir, "empty"), append: filepath.Join(dir, "append"), awk: filepath.Join(dir, "check.sh")}
	for path, source := range map[string]string{t.empty: emptySource, t.append: appendSource} {
		file := path + ".go"
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			return t, err
		}
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, file).CombinedOutput(); err != nil {
			return t, fmt.Errorf("build %s: %w\n%s", file, err, out)
		}
		if err := install(path, path); err != nil {
			return t, err
		}
	}
	return t, os.WriteFile(t.awk, []byte(awkSource), 0o755)
}

// install copies a program. What the linker wrote lies in the page cache by single
// pages and starts slower, by a tenth of fleet's time, than what was copied there or
// read from disk, as what people run is.
func install(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_ = os.Remove(to)
	return os.WriteFile(to, program, 0o755)
}

// start runs a program to its end with an input and returns what it printed.
func start(env []string, dir, stdin, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, dir
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.String(), err
}
