package cmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"fleet/internal/master"
	"fleet/internal/progress"
	"fleet/roster"
)

// painter colours what a terminal shows, unless the user wants none.
func (a *app) painter() progress.Painter {
	return progress.Painter(a.getenv("NO_COLOR") == "" && term.IsTerminal(int(os.Stdout.Fd())))
}

// show tells of a run while it goes on: in a terminal as a table that is drawn
// anew, elsewhere in a line an event.
type show struct {
	app   *app
	fleet *master.Fleet
	paint progress.Painter
	began time.Time
	live  bool

	mu     sync.Mutex
	denied int      // writes, so far
	recent []string // the last lines, of a live show
	drawn  int      // lines that stand on the screen
}

// startShow begins to tell of what happens after an event. end tells the rest.
func (a *app) startShow(f *master.Fleet, after int64) (s *show, end func()) {
	s = &show{app: a, fleet: f, paint: a.painter(), began: time.Now(), live: term.IsTerminal(int(os.Stdout.Fd()))}
	ctx, cancel := context.WithCancel(context.Background())
	told := progress.Tell(ctx, f.Dir, after, s.event)
	var drawn sync.WaitGroup
	if s.live {
		drawn.Go(func() { s.draw(ctx) })
	}
	return s, func() {
		cancel()
		drawn.Wait()
		_ = told()
		s.erase()
	}
}

func (s *show) event(e roster.Event) error {
	s.say(s.paint.Line(e))
	if e.Type == roster.LeaseDenied {
		s.mu.Lock()
		s.denied++
		s.mu.Unlock()
	}
	return nil
}

// recentLines is how many events a live show keeps below its table.
const recentLines = 8

func (s *show) say(line string) {
	if line == "" {
		return
	}
	line = fmt.Sprintf("%6.1fs  %s", time.Since(s.began).Seconds(), line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		fmt.Fprintln(s.app.out, line)
		return
	}
	s.recent = append(s.recent, line)
	if len(s.recent) > recentLines {
		s.recent = s.recent[1:]
	}
}

const drawEvery = 250 * time.Millisecond

func (s *show) draw(ctx context.Context) {
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		width, height, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil {
			continue
		}
		var frame []string
		if err := s.fleet.Dir.View(ctx, func(st *roster.State) error {
			frame = s.frame(st, height-1)
			return nil
		}); err != nil {
			continue
		}
		s.put(frame, width)
	}
}

// frame is the table, as much of it as there is room for, what comes first what is
// being worked on, and the last lines.
func (s *show) frame(st *roster.State, height int) []string {
	s.mu.Lock()
	recent, denied := append([]string(nil), s.recent...), s.denied
	s.mu.Unlock()
	views := st.TaskViews()
	room := max(1, height-len(recent)-4)
	shown := make([]roster.TaskView, 0, room)
	for _, want := range []func(roster.TaskView) bool{
		func(v roster.TaskView) bool { return v.InHand() },
		func(v roster.TaskView) bool { return v.Status == roster.TaskPending },
		func(v roster.TaskView) bool { return v.Terminal() || v.Status == roster.TaskBlockedUpstream },
	} {
		for _, v := range views {
			if want(v) && len(shown) < room {
				shown = append(shown, v)
			}
		}
	}
	var b strings.Builder
	_ = printTable(&b, taskHeader, taskCells(shown))
	if more := len(views) - len(shown); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	fmt.Fprintf(&b, "\n%s · %s\n", progress.Summary(st, denied), time.Since(s.began).Truncate(time.Second))
	return append(strings.Split(strings.TrimRight(b.String(), "\n"), "\n"), recent...)
}

// put draws a frame over the one before.
func (s *show) put(frame []string, width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	b.WriteString("\r\x1b[J")
	for _, line := range frame {
		if runewidth.StringWidth(line) > width && !strings.Contains(line, "\x1b") {
			line = runewidth.Truncate(line, width, "…")
		}
		b.WriteString(line + "\n")
	}
	s.drawn = len(frame)
	fmt.Fprint(s.app.out, b.String())
}

// erase takes the live part off the screen, for the table that stays.
func (s *show) erase() {
	if s.drawn > 0 {
		fmt.Fprintf(s.app.out, "\x1b[%dA\r\x1b[J", s.drawn)
	}
}
