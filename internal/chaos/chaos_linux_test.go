package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	runners = 6
	limit   = 8 * time.Minute // of the whole test; it takes a fraction of that
)

// deaths are how many processes of each kind are killed.
var deaths = map[kind]int{wrapper: 7, worker: 8, hook: 10, runner: 4}

// A graph of 60 tasks drains over 6 workers on one tree while whatever takes part is killed, over
// and over. Every task succeeds, once; no file is held twice, at any moment; no lease outlives its
// holder; the events tell the same as the tables, at every change; each file is whole, and as the
// last one wrote it that held it (CF-20, CF-55, CF-57, CF-80, CF-146).
func TestChaos(t *testing.T) {
	seed := theSeed(t)
	t.Logf("seed %d: repeat with -seed or CHAOS_SEED, though what is killed in the middle of what is up to the machine", seed)
	w := newWorld(t, product)
	jobs := makeGraph(rand.New(rand.NewPCG(seed, 0)))
	w.load(jobs)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()

	f := newFold()
	drained, drain := context.WithCancel(ctx)
	var parts sync.WaitGroup
	var looks int
	var seen, runErr error
	killed := make(map[kind]int)
	r := &run{w: w}
	parts.Go(func() { looks, seen = w.watch(ctx, drained, f); drain() })
	parts.Go(func() { w.killAll(drained, rand.New(rand.NewPCG(seed, 1)), r, killed) })
	runErr = r.untilDrained(drained)
	drain()
	parts.Wait()
	if err := errors.Join(seen, runErr); err != nil {
		t.Fatalf("%v\n%s\n%s", err, r.out.String(), w.plight())
	}
	w.settled(ctx)
	check(t, errors.Join(w.look(ctx, f), f.ended(taskCount)))
	for _, err := range w.damage(f, jobs) {
		t.Error(err)
	}
	t.Logf("killed %v; %d looks; events: %v", killed, looks, f.count)
}

// theSeed is the one that was asked for, or a new one.
func theSeed(t *testing.T) uint64 {
	t.Helper()
	if *seedFlag != 0 {
		return *seedFlag
	}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		check(t, err)
		return seed
	}
	return rand.Uint64() >> 32 // short enough to be typed
}

// run is "fleet run", started again whenever it was killed.
type run struct {
	w   *world
	out bytes.Buffer // of all of them, one after the other
}

func (r *run) untilDrained(ctx context.Context) error {
	for {
		cmd, err := r.w.start(&r.out, r.w.exe, "run", "--runners", strconv.Itoa(runners))
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			<-ended
			return fmt.Errorf("the graph is not drained: %w", ctx.Err())
		case err = <-ended:
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == -1 {
			continue // it was killed
		}
		if err != nil {
			return fmt.Errorf("fleet run: %w", err)
		}
		return nil
	}
}

// killAll kills whom chance names, until everybody has died that is to, or the context ends.
func (w *world) killAll(ctx context.Context, random *rand.Rand, r *run, killed map[kind]int) {
	var order []kind
	for _, k := range []kind{wrapper, worker, hook, runner} {
		for range deaths[k] {
			order = append(order, k)
		}
	}
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, k := range order {
		pause := time.Duration(random.IntN(700)) * time.Millisecond
		aim := time.Duration(random.IntN(20)) * time.Millisecond // at another point of its life
		if !sleep(ctx, pause) {
			return
		}
		for !w.killOne(random, k) {
			if !sleep(ctx, 2*time.Millisecond+aim) {
				return
			}
			aim = 0
		}
		killed[k]++
	}
}

func (w *world) killOne(random *rand.Rand, k kind) bool {
	all := w.victims(k)
	return len(all) > 0 && w.kill(all[random.IntN(len(all))])
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// settled waits for what a drained run leaves: orphans of wrappers that were killed, which end by
// themselves, and the last words of tmux. A wrapper or a run is none of those.
func (w *world) settled(ctx context.Context) {
	w.t.Helper()
	for _, k := range []kind{wrapper, runner} {
		if left := w.victims(k); len(left) > 0 {
			w.t.Errorf("a %s is left: %+v", k, left)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	w.endPlaceholders()
	for {
		left := w.mine(func(process) bool { return true })
		if len(left) == 0 {
			break
		}
		if !sleep(ctx, 20*time.Millisecond) {
			w.t.Errorf("processes are left: %+v\n%v", left, w.servers())
			w.endAll(left)
			break
		}
	}
	if left := w.servers(); len(left) > 0 {
		w.t.Errorf("tmux servers are left: %v", left)
	}
}

// endPlaceholders ends the servers in which nothing runs but what stands in a new pane until its
// wrapper is started. It ends by itself after a minute, when the run that made it was killed there.
func (w *world) endPlaceholders() {
	w.t.Helper()
	for socket, panes := range w.servers() {
		placeholder := func(line string) bool { return strings.HasSuffix(line, "  dead=0 sleep 60\n") }
		if slices.ContainsFunc(slices.Collect(strings.Lines(panes)), func(line string) bool { return !placeholder(line) }) {
			continue
		}
		w.t.Logf("a run was killed when it had just made a pane: %s", panes)
		w.must("tmux", "-S", socket, "kill-server")
	}
}
