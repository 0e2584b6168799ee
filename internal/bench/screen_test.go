package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fleet/roster"
)

const (
	screenEvents = 100_000
	idleFor      = 30 * time.Second
	pollFor      = 10 * time.Second
	pollEvery    = 500 * time.Millisecond // how often a screen that polls captures every pane
)

// screen measures the master screen in a real tmux: what its first frame costs, how
// long a key takes to show, and what it costs while nothing happens, beside what a
// screen costs that captures 50 panes twice a second.
func screen(dir, fleet string) error {
	d, err := busyRun(filepath.Join(dir, "screen"), 1000)
	if err != nil {
		return err
	}
	err = d.Update(context.Background(), func(s *roster.State) error {
		for i := range screenEvents {
			s.Note(roster.FileChanged, wsID(1+i%workstreams), "", map[string]any{"path": "some/file.go", "tool": "Write"})
		}
		return nil
	})
	if err != nil {
		return err
	}
	t := terminal{socket: filepath.Join(dir, "tmux"), written: filepath.Join(dir, "written")}
	defer func() { _, _ = t.tmux("kill-server") }()
	if _, err := t.tmux("new-session", "-d", "-x", "200", "-y", "60", "sh", "-c", `sleep 0.3; exec "$0" --run-dir "$1" attach`, fleet, d.Path); err != nil {
		return err
	}
	if _, err := t.tmux("pipe-pane", "-O", "cat > "+t.written); err != nil {
		return err
	}
	pid, err := t.tmux("display-message", "-p", "#{pane_pid}")
	if err != nil {
		return err
	}
	for shown := ""; !strings.Contains(shown, "wrote some/file.go"); shown, err = t.tmux("capture-pane", "-p") {
		if err != nil {
			return err
		}
	}
	first, err := cpu(pid)
	if err != nil {
		return err
	}
	keys, err := t.keys(40)
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	before, bytes := must(cpu(pid)), t.size()
	time.Sleep(idleFor)
	idle, perMinute := must(cpu(pid))-before, (t.size()-bytes)*int64(time.Minute/idleFor)
	polled, err := t.poll(d.Root)
	if err != nil {
		return err
	}
	fmt.Printf("\nmaster screen, %d workstreams, %d events\n", workstreams, screenEvents)
	fmt.Printf("first frame           %v of CPU   goal ≤ 150ms\n", first)
	fmt.Printf("key to its frame      %s p50, %s p90, send-keys included   goal ≤ 30 ms\n", ms(median(keys)), ms(quantile(keys, 0.9)))
	fmt.Printf("nothing happens       %.2f %% of a core   goal ≤ 1 %%\n", 100*float64(idle)/float64(idleFor))
	fmt.Printf("                      %d bytes a minute to the terminal   goal ≤ 2048\n", perMinute)
	fmt.Printf("capturing 50 panes each %v costs %.1f %% of a core\n", pollEvery, 100*float64(polled)/float64(pollFor))
	return nil
}

// terminal is a tmux server of our own, and what its first pane has been sent.
type terminal struct{ socket, written string }

func (t terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", t.socket, "-f", os.DevNull}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func (t terminal) size() int64 {
	info, err := os.Stat(t.written)
	if err != nil {
		return 0
	}
	return info.Size()
}

// keys presses the arrow down, and up again, and waits each time until something is drawn.
func (t terminal) keys(n int) (took []time.Duration, err error) {
	for i := range n {
		time.Sleep(250 * time.Millisecond) // until it is still
		before, pressed := t.size(), time.Now()
		if _, err := t.tmux("send-keys", []string{"Down", "Up"}[i%2]); err != nil {
			return nil, err
		}
		for t.size() == before && time.Since(pressed) < 5*time.Second {
			time.Sleep(200 * time.Microsecond)
		}
		took = append(took, time.Since(pressed))
	}
	return took, nil
}

// poll captures 50 panes over and over, as screens do that follow no files, and returns the CPU of it.
func (t terminal) poll(dir string) (spent time.Duration, err error) {
	var panes []string
	for range 50 {
		id, err := t.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-c", dir, "sleep 600")
		if err != nil {
			return 0, err
		}
		panes = append(panes, id)
	}
	server, err := t.tmux("display-message", "-p", "#{pid}")
	if err != nil {
		return 0, err
	}
	before := must(cpu(server))
	for end := time.Now().Add(pollFor); time.Now().Before(end); {
		round := time.Now()
		for _, id := range panes {
			cmd := exec.Command("tmux", "-S", t.socket, "capture-pane", "-p", "-t", id)
			if err := cmd.Run(); err != nil {
				return 0, err
			}
			spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		time.Sleep(pollEvery - time.Since(round))
	}
	return spent + must(cpu(server)) - before, nil
}

// cpu is what the threads of a process have used so far.
func cpu(pid string) (sum time.Duration, err error) {
	threads, err := filepath.Glob("/proc/" + pid + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("process %s: no thread is seen: %w", pid, err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

func must(d time.Duration, err error) time.Duration {
	if err != nil {
		panic(err) // the process was there a moment ago
	}
	return d
}
