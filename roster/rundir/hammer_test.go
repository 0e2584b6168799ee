package rundir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"fleet/roster"
)

// check asks for leases as a hook does: quickly first, and with everything if something is in the way.
func check(ctx context.Context, d *Dir, ws string, epoch int, paths ...string) (denials []roster.Denial, err error) {
	r := roster.WriteRequest{WS: ws, Epoch: epoch, Paths: paths, Tool: "Write"}
	whole := false
	err = d.UpdateLeases(ctx, func(s *roster.State) error {
		r.Alive = func(string) bool { return true }
		if whole {
			r.Alive = d.Alive
		}
		denials = s.AcquireLeases(r)
		if len(denials) > 0 && !whole {
			whole = true
			return ErrWantTasks
		}
		return nil
	})
	return denials, err
}

// ruled drops the error of a rule, which is an answer like another.
func ruled(err error) error {
	var rule *roster.Error
	if errors.As(err, &rule) {
		return nil
	}
	return err
}

// hammerChild is a worker in a hurry: run dir, workstream, number of operations, seed. It prints a line every ten.
func hammerChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	ws := args[1]
	n, _ := strconv.Atoi(args[2])
	seed, _ := strconv.ParseUint(args[3], 10, 64)
	random := rand.New(rand.NewPCG(seed, 0))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := d.HoldLife(ws); err != nil {
		return err
	}
	epoch := 0
	begin := func() error {
		return d.Update(ctx, func(s *roster.State) error {
			if _, err := s.Workstream(ws); err != nil {
				if err := s.Add(roster.NewWorkstream{ID: ws, Text: "hurry"}); err != nil {
					return err
				}
			}
			err := start(s, ws)
			w, _ := s.Workstream(ws)
			epoch = w.Epoch
			return err
		})
	}
	path := func() string { return fmt.Sprintf("d%d/f%d", random.IntN(4), random.IntN(8)) }
	ops := []func() error{
		func() error {
			return d.Update(ctx, func(s *roster.State) error { return s.TurnEnded(ws, epoch, "there") })
		},
		func() error {
			return d.Update(ctx, func(s *roster.State) error { return s.PromptSubmitted(ws, epoch, "go") })
		},
		func() error {
			return ruled(d.Update(ctx, func(s *roster.State) error { return s.Claim(ws, []string{path()}) }))
		},
		func() error {
			return ruled(d.Update(ctx, func(s *roster.State) error { _, _, err := s.Release(ws, []string{path()}); return err }))
		},
		func() error {
			return d.Update(ctx, func(s *roster.State) error { _, _, err := s.Release(ws, nil); return err })
		},
		func() error {
			return d.Update(ctx, func(s *roster.State) error { return s.FileWritten(ws, epoch, path(), "Write", "1:1") })
		},
		func() error {
			if err := d.Update(ctx, func(s *roster.State) error { return s.WorkerExited(ws, epoch, roster.Exit{Code: 1}) }); err != nil {
				return err
			}
			return begin()
		},
		func() error { return d.View(ctx, sound) },
	}
	if err := begin(); err != nil {
		return err
	}
	for i := range n {
		if k := random.IntN(2 * len(ops)); k < len(ops) {
			err = ops[k]()
		} else {
			_, err = check(ctx, d, ws, epoch, path(), path())
		}
		if err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if i%10 == 9 {
			fmt.Println(i)
		}
	}
	return nil
}

// CF-20, CF-146: eight processes at once, three of which are killed over and over in the middle of whatever they do.
// At no moment does a reader, with the lock or without, see anything but a sound run, and at the end nothing was lost.
func TestHammer(t *testing.T) {
	const processes, operations = 8, 200
	d := newRun(t)
	var workers sync.WaitGroup
	for i := range processes {
		workers.Go(func() {
			ws := fmt.Sprintf("WS%02d", i+1)
			for life := 0; ; life++ {
				worker := child(t, "hammer", d.Path, ws, strconv.Itoa(operations), strconv.Itoa(100*i+life))
				out, err := worker.StdoutPipe()
				if err == nil {
					err = worker.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				doomed := i < 3 && life < 5
				for done := bufio.NewScanner(out); done.Scan(); {
					if doomed && done.Text() != "9" {
						_ = worker.Process.Kill()
					}
				}
				if err := worker.Wait(); !doomed {
					if err != nil {
						t.Errorf("%s: %v", ws, err)
					}
					return
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		workers.Wait()
		close(finished)
	}()
	last := int64(0)
	for looks := 0; ; looks++ {
		must(t, d.View(patient(t.Context()), sound))
		must(t, legible(d))
		id, err := d.LastEvent()
		must(t, err)
		if id < last {
			t.Fatalf("the last event was %d, and is %d", last, id)
		}
		last = id
		select {
		case <-finished:
			t.Logf("%d looks at %d events", looks, len(logged(t, d)))
			noRemainingCommit(t, d)
			return
		default:
		}
	}
}

func noRemainingCommit(t *testing.T, d *Dir) {
	t.Helper()
	if _, err := os.Stat(d.file(txFile)); err == nil {
		t.Error("a commit is left to be finished")
	}
}

// crowd starts processes that play a part, for WS00, WS01 and so on, and once all are ready returns how to
// tell them all the same line and hear what each answers, and how to let them end.
func crowd(t *testing.T, d *Dir, part string, processes int) (ask func(line string) []string, dismiss func()) {
	t.Helper()
	var end []func()
	var tell []*bufio.Writer
	var hear []*bufio.Scanner
	for i := range processes {
		one := child(t, part, d.Path, fmt.Sprintf("WS%02d", i))
		in, err := one.StdinPipe()
		must(t, err)
		out, err := one.StdoutPipe()
		must(t, err)
		must(t, one.Start())
		end = append(end, func() { must(t, errors.Join(in.Close(), one.Wait())) })
		tell, hear = append(tell, bufio.NewWriter(in)), append(hear, bufio.NewScanner(out))
	}
	answer := func(i int) string {
		if !hear[i].Scan() {
			t.Fatalf("process %d does not answer", i)
		}
		return hear[i].Text()
	}
	for i := range processes {
		eq(t, "it says", answer(i), "ready")
	}
	ask = func(line string) []string {
		for _, w := range tell {
			_, err := w.WriteString(line + "\n")
			must(t, errors.Join(err, w.Flush()))
		}
		answers := make([]string, processes)
		for i := range answers {
			answers[i] = answer(i)
		}
		return answers
	}
	return ask, func() {
		for _, fn := range end {
			fn()
		}
	}
}

// raceChild asks for each path that it is told, and prints who has it.
func raceChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	if _, err := d.HoldLife(args[1]); err != nil {
		return err
	}
	fmt.Println("ready")
	for paths := bufio.NewScanner(os.Stdin); paths.Scan(); {
		denials, err := check(ctx, d, args[1], 1, paths.Text())
		switch {
		case err != nil:
			return err
		case len(denials) == 0:
			fmt.Println(args[1])
		default:
			fmt.Println(denials[0].Reason, denials[0].Holder)
		}
	}
	return nil
}

// CF-146, PAINS 99, 101: the lease of a worker that was killed goes to the next who asks, in one
// transaction with its burial, and what the dead one still sends is refused.
func TestLeaseOfAKilledWorker(t *testing.T) {
	d := atWork(t)
	holder := child(t, "live", d.Path, "WS01")
	in, err := holder.StdinPipe()
	must(t, err)
	defer func() { _ = in.Close() }()
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	must(t, err)
	denials, err := check(t.Context(), d, "WS02", 1, "a.go")
	must(t, err)
	eq(t, "while it lives", denials, []roster.Denial{{Path: "a.go", Reason: roster.DenyHeld, Holder: "WS01", HolderTask: "WS01"}})

	must(t, holder.Process.Kill())
	wasKilled(t, holder.Wait())
	before, err := d.LastEvent()
	must(t, err)
	denials, err = check(t.Context(), d, "WS02", 1, "a.go")
	must(t, err)
	eq(t, "once it is gone", denials, []roster.Denial(nil))
	var told []roster.EventType
	var at []roster.Time
	for e, err := range d.Events(before) {
		must(t, err)
		told, at = append(told, e.Type), append(at, e.At)
	}
	eq(t, "told", told, []roster.EventType{roster.WorkerExited, roster.LeaseReleased, roster.TaskRequeued, roster.StatusChanged, roster.LeaseAcquired})
	eq(t, "one transaction", at[0], at[4])
	denials, err = check(t.Context(), d, "WS01", 1, "c.go")
	must(t, err)
	eq(t, "the zombie", denials, []roster.Denial{{Path: "c.go", Reason: roster.DenyStale}})
	eq(t, "leases", look(t, d).Leases, []string{"b.go WS02", "a.go WS02"})
}

// CF-145, and the race of PAINS 105: of 32 processes that ask for one path, one gets it, the others are told who, and the table has one row.
func TestRace(t *testing.T) {
	const processes, rounds = 32, 50
	d := newRun(t)
	update(t, d, func(s *roster.State) error {
		for i := range processes {
			ws := fmt.Sprintf("WS%02d", i)
			if err := errors.Join(s.Add(roster.NewWorkstream{ID: ws, Text: "race"}), start(s, ws)); err != nil {
				return err
			}
		}
		return nil
	})
	ask, dismiss := crowd(t, d, "race", processes)
	defer dismiss()
	for round := range rounds {
		path := fmt.Sprintf("f%d.go", round)
		winner, denied := "", make(map[string]int)
		for _, a := range ask(path) {
			if strings.HasPrefix(a, "WS") {
				eq(t, "the winner before this one", winner, "")
				winner = a
			} else {
				denied[a]++
			}
		}
		eq(t, "what the others were told", denied, map[string]int{"held " + winner: processes - 1})
		eq(t, "rows", strings.Count(read(t, d.file(leasesFile)), "\n"+path+"\t"), 1)
	}
	count := make(map[roster.EventType]int)
	for _, e := range logged(t, d) {
		count[e.Type]++
	}
	eq(t, "granted", count[roster.LeaseAcquired], rounds)
	eq(t, "denied", count[roster.LeaseDenied], rounds*(processes-1)) // CF-72
}

// assignChild takes each task that it is told, and prints who has it: itself, or "no".
func assignChild(args []string) error {
	d, ctx, err := opened(args)
	if err != nil {
		return err
	}
	ws := args[1]
	fmt.Println("ready")
	for tasks := bufio.NewScanner(os.Stdin); tasks.Scan(); {
		mine := false
		err := d.Update(ctx, func(s *roster.State) (err error) {
			mine, err = s.Apply(roster.Decision{Do: roster.DoAssign, WS: ws, Epoch: 1, Task: tasks.Text()})
			if mine && err == nil {
				err = s.StartTask(ws, 1, tasks.Text(), 1, 0)
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case mine:
			fmt.Println(ws)
		default:
			fmt.Println("no")
		}
	}
	return nil
}

// Of 32 processes that have all seen that a task is free, one gets it, 200 times over (CF-39, CF-146).
func TestOneTaskForMany(t *testing.T) {
	t.Parallel() // it waits more than it works
	const processes, rounds = 32, 200
	d := newRun(t)
	update(t, d, func(s *roster.State) error {
		for i := range processes {
			ws := fmt.Sprintf("WS%02d", i)
			if err := s.AddSlot(roster.NewWorkstream{ID: ws, Brain: "scripted"}); err != nil {
				return err
			}
			if _, err := s.Launch(ws, roster.Launch{Brain: "scripted", Mode: roster.Headless}); err != nil {
				return err
			}
			if err := s.SessionUp(ws, 1, "", "pane"); err != nil {
				return err
			}
		}
		return nil
	})
	ask, dismiss := crowd(t, d, "assign", processes)
	defer dismiss()
	for round := range rounds {
		task := fmt.Sprintf("T%d", round)
		// Not by AddTasks, which would let the scheduler give it out at once.
		update(t, d, func(s *roster.State) error {
			s.Tasks = []roster.Task{{ID: task, Title: task, Status: roster.TaskPending, MaxAttempts: 3}}
			return nil
		})
		var winners []string
		for _, a := range ask(task) {
			if a != "no" {
				winners = append(winners, a)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("%s was given to %q", task, winners)
		}
		update(t, d, func(s *roster.State) error {
			if w := s.Task(task).Workstream; w != winners[0] {
				return fmt.Errorf("%s says that it has %s, and the table says %s", winners[0], task, w)
			}
			applied, err := s.Complete(winners[0], 1, task, 1, roster.Outcome{OK: true})
			if err == nil && !applied {
				err = errors.New("its end doesn't count")
			}
			return err
		})
	}
	count := make(map[roster.EventType]int)
	for _, e := range logged(t, d) {
		count[e.Type]++
	}
	eq(t, "assigned", count[roster.TaskAssignedTo], rounds)
	eq(t, "started", count[roster.TaskStarted], rounds)
	eq(t, "succeeded", count[roster.TaskSucceeded], rounds)
}
