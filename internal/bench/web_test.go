package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	planningtemplate "fleet/planning-template"
	"fleet/roster"
	"fleet/roster/rundir"
)

const (
	followers  = 100
	eventsFor  = 10 * time.Second
	writeEvery = 20 * time.Millisecond
	batch      = 20 // events written each time: 1,000 a second
	rows       = 1000
	states     = 40 // times that the state is asked for
)

// served measures fleet serve: how far its listeners are behind a busy log, and what the state of a large run costs.
func served(dir, fleet string) error {
	d, err := rundir.Create(filepath.Join(dir, "served"), "bench", planningtemplate.Files, rundir.ConfigText(nil))
	if err != nil {
		return err
	}
	err = d.Update(context.Background(), func(s *roster.State) error {
		for i := 1; i <= rows; i++ {
			if err := s.Add(roster.NewWorkstream{ID: wsID(i), Text: "bench", Brain: "scripted"}); err != nil {
				return err
			}
			if i > workstreams {
				continue
			}
			if _, err := s.Launch(wsID(i), roster.Launch{Brain: "scripted", Mode: roster.Interactive, Tree: roster.MainTree}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	cmd := exec.Command(fleet, "--run-dir", d.Path, "serve", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	url, pid := strings.TrimSpace(url), strconv.Itoa(cmd.Process.Pid)
	state, size, err := stateCost(d, url, pid)
	if err != nil {
		return err
	}
	lags, spent, err := streamed(d, url, pid)
	if err != nil {
		return err
	}
	fmt.Printf("\nfleet serve, %d workstreams\n", rows)
	fmt.Printf("/state                %s of CPU, %d kB   goal ≤ 20 ms\n", ms(state), size/1000)
	fmt.Printf("/events/stream        %d events to each of %d clients, %s behind at p50, %s at most   goal ≤ 1 s\n",
		len(lags)/followers, followers, ms(median(lags)), ms(quantile(lags, 1)))
	fmt.Printf("                      at %.0f events a second for %.0f %% of a core\n", batch/writeEvery.Seconds(), 100*float64(spent)/float64(eventsFor))
	return nil
}

// stateCost is what the server spends on a state that is not the one of before.
func stateCost(d *rundir.Dir, url, pid string) (cost time.Duration, size int64, err error) {
	for round := range states + 1 {
		if round == 1 { // the first one made it grow
			cost = must(cpu(pid))
		}
		if err := d.Update(context.Background(), func(s *roster.State) error { return s.Heartbeat(wsID(1), fmt.Sprint(round)) }); err != nil {
			return 0, 0, err
		}
		resp, err := http.Get(url + "state")
		if err != nil {
			return 0, 0, err
		}
		size, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return 0, 0, err
		}
	}
	return (must(cpu(pid)) - cost) / states, size, nil
}

// streamed writes events while many listen. It tells how late each of them heard of each, and what that cost the server.
func streamed(d *rundir.Dir, url, pid string) (lags []time.Duration, spent time.Duration, err error) {
	last, err := d.LastEvent()
	if err != nil {
		return nil, 0, err
	}
	const writes = int(eventsFor / writeEvery)
	heard := make([][]time.Duration, followers)
	var all sync.WaitGroup
	for i := range followers {
		resp, err := http.Get(fmt.Sprintf("%sevents/stream?since=%d", url, last))
		if err != nil {
			return nil, 0, err
		}
		defer func() { _ = resp.Body.Close() }()
		all.Go(func() { heard[i] = hear(resp.Body, writes*batch) })
	}
	before := must(cpu(pid))
	for range writes {
		round := time.Now()
		err := d.Update(context.Background(), func(s *roster.State) error {
			for i := range batch {
				s.Note(roster.FileChanged, wsID(1+i), "", map[string]any{"path": "some/file.go", "tool": "Write"})
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		time.Sleep(writeEvery - time.Since(round))
	}
	all.Wait()
	for i, h := range heard {
		if len(h) != writes*batch {
			return nil, 0, fmt.Errorf("listener %d has heard %d of %d events", i, len(h), writes*batch)
		}
		lags = append(lags, h...)
	}
	return lags, must(cpu(pid)) - before, nil
}

// hear is how late each of so many events comes. A stream that ends earlier has fewer.
func hear(stream io.Reader, n int) (lags []time.Duration) {
	for in := bufio.NewScanner(stream); len(lags) < n && in.Scan(); {
		line, isData := strings.CutPrefix(in.Text(), "data: ")
		if !isData {
			continue
		}
		var e roster.Event
		if json.Unmarshal([]byte(line), &e) != nil {
			return lags
		}
		lags = append(lags, time.Since(e.At.Time))
	}
	return lags
}
