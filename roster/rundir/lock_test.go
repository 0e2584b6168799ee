package rundir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"fleet/roster"
)

// over is a context whose time is up.
func over(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	return ctx
}

// A wait for the lock is bounded. When the lock is granted to somebody who has given up, it is let go again.
func TestLockIsBounded(t *testing.T) {
	d := atWork(t)
	unlock, err := d.acquire(t.Context(), true)
	must(t, err)
	for range 3 {
		for _, exclusive := range []bool{true, false} {
			if _, err := d.acquire(over(t), exclusive); !errors.Is(err, ErrBusy) {
				t.Errorf("got %v, want ErrBusy", err)
			}
		}
		nothing := func(*roster.State) error { t.Error("a transition without the lock"); return nil }
		for _, call := range []func(context.Context, func(*roster.State) error) error{d.Update, d.UpdateLeases, d.View} {
			if err := call(over(t), nothing); !errors.Is(err, ErrBusy) {
				t.Errorf("got %v, want ErrBusy", err)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.acquire(gone, true); !errors.Is(err, context.Canceled) || errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want the cancellation", err)
	}
	unlock()
	update(t, d, func(s *roster.State) error { return acquire(s, "WS01", 1, "c.go") })
}

// Readers share the lock; a writer has it alone.
func TestLockIsShared(t *testing.T) {
	d := atWork(t)
	one, err := d.acquire(t.Context(), false)
	must(t, err)
	two, err := d.acquire(over(t), false)
	must(t, err)
	if _, err := d.acquire(over(t), true); !errors.Is(err, ErrBusy) {
		t.Errorf("a writer came in among readers: %v", err)
	}
	one()
	two()
	three, err := d.acquire(t.Context(), true)
	must(t, err)
	three()
	three() // harmless
}

// CFN-20, CF-67: a lock that can't be had at all is an error, and not a reason to go on without it.
func TestLockThatIsMissing(t *testing.T) {
	d := atWork(t)
	must(t, os.Remove(d.file(lockFile)))
	before := files(t, d)
	for _, call := range []func(context.Context, func(*roster.State) error) error{d.Update, d.UpdateLeases, d.View} {
		err := call(t.Context(), func(*roster.State) error { t.Error("a transition without the lock"); return nil })
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "lock .roster.lock") {
			t.Errorf("got %v", err)
		}
	}
	eq(t, "files", files(t, d), before)
}

func TestExclusive(t *testing.T) {
	d := newRun(t)
	unlock, err := d.Exclusive(t.Context(), "spawn")
	must(t, err)
	if _, err := d.Exclusive(over(t), "spawn"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	other, err := d.Exclusive(over(t), "send-WS01")
	must(t, err)
	other()
	waits := make(chan error)
	go func() {
		unlock, err := d.Exclusive(t.Context(), "spawn")
		if err == nil {
			unlock()
		}
		waits <- err
	}()
	unlock()
	must(t, <-waits)
}

// liveChild is a worker's wrapper: it holds its liveness lock until its stdin ends or it is killed.
func liveChild(args []string) error {
	d, _, err := opened(args)
	if err != nil {
		return err
	}
	if _, err := d.HoldLife(args[1]); err != nil {
		return err
	}
	runtime.GC() // the lock is the process's, whether or not anything refers to it
	runtime.GC()
	fmt.Println("up")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// CF-54, CF-60: the kernel frees the liveness lock on any death, so a killed worker is seen at once, and a living one is never doubted.
func TestLiveness(t *testing.T) {
	d := newRun(t)
	state := func(what string, alive, died bool, pid int) {
		t.Helper()
		eq(t, what+": alive", d.Alive("WS01"), alive)
		eq(t, what+": died", d.Died("WS01"), died)
		eq(t, what+": pid", d.LivePID("WS01"), pid)
	}
	state("never started", false, false, 0)
	for round := range 3 {
		worker := child(t, "live", d.Path, "WS01")
		stdin, err := worker.StdinPipe()
		must(t, err)
		stdout, err := worker.StdoutPipe()
		must(t, err)
		must(t, worker.Start())
		up, err := bufio.NewReader(stdout).ReadString('\n')
		must(t, err)
		eq(t, "it says", up, "up\n")
		state("running", true, false, worker.Process.Pid)
		if _, err := d.HoldLife("WS01"); !errors.Is(err, ErrAlive) {
			t.Errorf("a second worker: %v", err)
		}
		state("running, asked in vain", true, false, worker.Process.Pid)
		eq(t, "another one", d.Alive("WS02"), false)
		if round == 0 {
			must(t, stdin.Close())
			must(t, worker.Wait())
		} else {
			must(t, worker.Process.Kill())
			wasKilled(t, worker.Wait())
		}
		state("gone", false, true, 0)
	}
	release, err := d.HoldLife("WS01")
	must(t, err)
	state("we ourselves", true, false, os.Getpid())
	release()
	state("let go", false, true, 0)
}

// Those who ask whether a worker is alive don't take each other for it, and don't keep a new one out.
func TestLivenessAskedByMany(t *testing.T) {
	d := newRun(t)
	release, err := d.HoldLife("WS01")
	must(t, err)
	release()
	asking, err := wait(t.Context(), d.liveFile("WS01"), os.O_RDONLY, false)
	must(t, err)
	eq(t, "alive while another asks", d.Alive("WS01"), false)
	held := make(chan error)
	go func() {
		release, err := d.HoldLife("WS01")
		if err == nil {
			release()
		}
		held <- err
	}()
	asking()
	must(t, <-held)
}

// The pid of an earlier worker is never told as that of the one who has the lock: it is written before the lock is taken.
func TestLivePIDIsTheHolders(t *testing.T) {
	d := newRun(t)
	write(t, d.liveFile("WS01"), strconv.Itoa(1<<22+1)+"\n")
	eq(t, "pid of a dead one", d.LivePID("WS01"), 0)
	looking, err := wait(t.Context(), d.liveFile("WS01"), os.O_RDONLY, false) // keeps the new one from the lock for a moment
	must(t, err)
	wake, stop := d.Changes("live")
	defer stop()
	var release func()
	held := make(chan error)
	go func() {
		release, err = d.HoldLife("WS01")
		held <- err
	}()
	for read(t, d.liveFile("WS01")) != strconv.Itoa(os.Getpid())+"\n" {
		eq(t, "pid before the lock is taken", d.LivePID("WS01"), 0)
		select {
		case <-wake:
		case err := <-held:
			t.Fatalf("the pid was not written before the lock was taken: %v", err)
		}
	}
	looking()
	for !d.Alive("WS01") {
		<-wake // taking the lock is an event, too
	}
	must(t, <-held)
	defer release()
	eq(t, "pid", d.LivePID("WS01"), os.Getpid())
}

// A lock that can't be tested counts as held.
func TestLivenessInDoubt(t *testing.T) {
	d := newRun(t)
	must(t, os.Symlink("WS01.lock", d.liveFile("WS01"))) // a loop
	eq(t, "alive", d.Alive("WS01"), true)
	eq(t, "pid", d.LivePID("WS01"), 0)
	if _, err := d.HoldLife("WS01"); err == nil {
		t.Error("the lock was had")
	}
	must(t, os.RemoveAll(d.Path+"/live"))
	if _, err := d.HoldLife("WS01"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
