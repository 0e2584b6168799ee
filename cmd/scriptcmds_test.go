package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

// commands are what the scripts have beyond testscript's own. README.md beside them describes each.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":    exits,
	"inpane":   inPane,
	"json":     isJSON,
	"load":     load,
	"repo":     repo,
	"row":      setRow,
	"screen":   screen,
	"signal":   signalTo,
	"snapshot": snapshot,
	"tmuxls":   tmuxLs,
	"truth":    truth,
	"waitfor":  waitFor,
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 1, "exits code program [args...]")
	if got := run(ts, args[1], args[2:]...); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, not %s", got, args[0])
	}
}

// run runs a program and returns its exit code. Its streams are there for stdout, stderr and cmp.
func run(ts *testscript.TestScript, program string, args ...string) int {
	err := ts.Exec(program, args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	return 0
}

func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "json file")
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
}

func load(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "load NAME file")
	ts.Setenv(args[0], ts.ReadFile(args[1]))
}

func repo(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "repo dir")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Chdir(dir))
	for _, line := range []string{"init -q", "add -A", "commit -q --allow-empty -m start"} {
		ts.Check(ts.Exec("git", strings.Fields(line)...))
	}
}

func setRow(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 2, "row run-dir WSxx column=value...")
	path := ts.MkAbs(filepath.Join(args[0], "roster.tsv"))
	lines := strings.Split(ts.ReadFile(path), "\n")
	header := strings.Split(lines[0], "\t")
	at := findRow(lines, args[1])
	usage(ts, at > 0, "row run-dir WSxx column=value..., with a workstream that is there")
	cells := strings.Split(lines[at], "\t")
	for _, arg := range args[2:] {
		column, value, _ := strings.Cut(arg, "=")
		if age, ok := strings.CutPrefix(value, "ago:"); ok {
			d, err := time.ParseDuration(age)
			ts.Check(err)
			value = strconv.FormatInt(time.Now().Add(-d).Unix(), 10)
		}
		i := slices.Index(header, column)
		usage(ts, i >= 0, "row run-dir WSxx column=value..., with a column that is there")
		cells[i] = value
	}
	lines[at] = strings.Join(cells, "\t")
	ts.Check(renameio.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644)) // whole, for those who read meanwhile
}

func findRow(lines []string, ws string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ws+"\t") })
}

// cell is the present value of a column, empty if there is no such row.
func cell(ts *testscript.TestScript, dir, ws, column string) string {
	text, err := os.ReadFile(ts.MkAbs(filepath.Join(dir, "roster.tsv")))
	ts.Check(err)
	lines := strings.Split(string(text), "\n")
	at, i := findRow(lines, ws), slices.Index(strings.Split(lines[0], "\t"), column)
	if at < 0 || i < 0 {
		return ""
	}
	return strings.Split(lines[at], "\t")[i]
}

func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 2 || len(args) == 3), "signal TERM|KILL|INT|HUP file [regexp]")
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}
	pattern := `(\d+)`
	if len(args) == 3 {
		pattern = args[2]
	}
	m := regexp.MustCompile(pattern).FindStringSubmatch(ts.ReadFile(args[1]))
	usage(ts, len(m) == 2 && signals[args[0]] != 0, "signal TERM|KILL|INT|HUP file [regexp], whose group finds a process id")
	pid, err := strconv.Atoi(m[1])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "snapshot dir file")
	var b strings.Builder
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var sum [sha256.Size]byte
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(text)
		}
		_, err = fmt.Fprintf(&b, "%s %s %x\n", strings.TrimPrefix(path, root), info.Mode(), sum[:6])
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// truth counts what an agent truly received.
func truth(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "truth count regexp")
	log, err := os.ReadFile(ts.Getenv("FAKE_AGENT_LOG"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	n := 0
	pattern := regexp.MustCompile(args[1])
	for line := range strings.Lines(string(log)) {
		if pattern.MatchString(line) {
			n++
		}
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d records match %s, not %s:\n%s", n, args[1], args[0], log)
	}
}

const (
	waitLimit = time.Minute
	waitEvery = 20 * time.Millisecond // where a look starts processes, less often
)

func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	const text = "[!] waitfor exists file | grep regexp file | row run-dir WSxx column regexp | screen WSxx regexp | exec program [args...]"
	usage(ts, len(args) > 1, text)
	every := waitEvery
	var said string
	var ask func() bool
	switch verb := args[0]; {
	case verb == "exists" && len(args) == 2:
		ask = func() bool { _, err := os.Lstat(ts.MkAbs(args[1])); return err == nil }
	case verb == "grep" && len(args) == 3:
		pattern := regexp.MustCompile("(?m)" + args[1])
		ask = func() bool {
			content, _ := os.ReadFile(ts.MkAbs(args[2]))
			said = string(content)
			return pattern.MatchString(said)
		}
	case verb == "row" && len(args) == 5:
		pattern := regexp.MustCompile(args[4])
		ask = func() bool { said = cell(ts, args[1], args[2], args[3]); return pattern.MatchString(said) }
	case verb == "screen" && len(args) == 3:
		every *= 5
		pattern := regexp.MustCompile("(?m)" + args[2])
		ask = func() bool { said = capture(ts, args[1]); return pattern.MatchString(said) }
	case verb == "exec":
		every *= 10
		ask = func() bool { return ts.Exec(args[1], args[2:]...) == nil }
	default:
		usage(ts, false, text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	for ask() == neg {
		if ctx.Err() != nil {
			ts.Fatalf("waited %v for nothing:\n%s", waitLimit, said)
		}
		time.Sleep(every)
	}
}
