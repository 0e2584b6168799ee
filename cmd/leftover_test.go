package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fleet/internal/proc"
)

// settleTime is how long the processes of a script may take to end once their
// terminals are gone. A wrapper gives its agent five seconds.
const settleTime = 8 * time.Second

// endAll ends the tmux servers of a script and waits for its processes to end.
// Those that don't are killed, and named.
func endAll(sockets, work string) (left []string) {
	for _, socket := range socketsIn(sockets) {
		_, _ = tmuxOn(socket, "kill-server") // a server that has ended by itself leaves its socket
	}
	deadline := time.Now().Add(settleTime)
	for len(processes(work)) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	for pid, name := range processes(work) {
		left = append(left, fmt.Sprintf("%d %s", pid, name))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

func socketsIn(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "tmux-*", "*"))
	return found
}

// tmuxOn runs a tmux command on the server of a socket.
func tmuxOn(socket string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := proc.Run(ctx, proc.Cmd{Args: append([]string{"tmux", "-u", "-S", socket}, args...)})
	return string(out), err
}

// processes finds what a script started: all of it has the script's own folder,
// $WORK, in its environment. Where there is no /proc, none is found.
func processes(work string) map[int]string {
	found := make(map[int]string)
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00WORK="+work+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if len(line) > 0 { // a zombie has no command line, and nothing of it runs
			found[pid] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
