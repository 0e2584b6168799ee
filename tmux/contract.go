package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fleet/internal/proc"
)

// Fact is one thing that this package relies on tmux for.
type Fact struct {
	ID     string // one short word
	Name   string // a sentence that is true when OK
	OK     bool
	Detail string // what was seen instead; empty when OK
}

// Contract tries out, on a throw-away server of its own, whether the installed
// tmux behaves as this package needs it to. It takes a second or so, and 10 s at
// most for each fact. It leaves nothing behind.
func Contract(ctx context.Context, run proc.Runner) []Fact {
	dir, err := os.MkdirTemp("", "fleet-tmux-")
	if err != nil {
		return []Fact{{ID: "dir", Name: "a folder for the socket can be made", Detail: err.Error()}}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "s")
	l := lab{dir: dir, Server: &Server{
		run: run, flags: []string{"-S", socket, "-f", os.DevNull}, socket: socket, env: environ(), own: true, bare: true,
	}}
	// Where this fails tmux does, and every fact says so.
	defer func() { _ = l.KillServer(context.WithoutCancel(ctx)) }()

	var facts []Fact
	for _, f := range []struct {
		id, name string
		check    func(context.Context) error
	}{
		{
			"exit", "a program that fails at once leaves its exit code in the pane",
			l.shows("exit 3", func(p Pane) bool { return p.Dead && p.ExitCode == 3 }),
		},
		{
			"env", "a program gets its environment, and its title keeps UTF-8",
			l.shows(`printf '\033]2;%s\007' "$FACT"; exec sleep 60`, func(p Pane) bool { return p.Title == "⠋ ü;" }),
		},
		{
			"tags", "user options of a pane are listed with it",
			l.shows("exec sleep 60", func(p Pane) bool { return p.Tags == labTags }),
		},
		{"names", "an exact session name does not reach a longer one", l.names},
		{"paste", "a paste leaves copy mode and arrives bracketed, byte for byte", l.paste},
		{"dead", "a paste to a program that has ended is refused", l.dead},
		{"hook", "a killed program triggers the hook of its pane", l.hook},
		{"tiles", "six panes fit into 80x24", l.tiles},
	} {
		ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
		fact := Fact{ID: f.id, Name: f.name, OK: true}
		if err := f.check(ctx); err != nil {
			fact.OK, fact.Detail = false, err.Error()
		}
		cancel()
		facts = append(facts, fact)
	}
	return facts
}

// lab is the server that facts are tried on, and a folder for their files.
type lab struct {
	*Server
	dir string
}

var labTags = Tags{Run: "contract", WS: "WS01", Epoch: 7}

// start runs a shell script in a new pane, in a window of 80x24, and returns the
// pane once it is as wanted.
func (l lab) start(ctx context.Context, script string, wanted func(Pane) bool) (Pane, error) {
	id, err := l.Open(ctx, PaneSpec{
		Session: "contract", Window: "facts", Dir: l.dir, Env: []string{"FACT=⠋ ü;"},
		Args: []string{"sh", "-c", script}, Tags: labTags,
	})
	if err != nil {
		return Pane{}, err
	}
	if _, err := l.on(ctx, id, nil, []string{"resize-window", "-t", string(id), "-x", "80", "-y", "24"}); err != nil {
		return Pane{}, err
	}
	var p Pane
	err = poll(ctx, func() (found bool, err error) {
		p, found, err = l.Pane(ctx, id)
		return found && wanted(p), err
	})
	if err != nil {
		err = fmt.Errorf("the pane is %+v: %w", p, err)
	}
	return p, err
}

// poll asks until the answer is yes.
func poll(ctx context.Context, ask func() (bool, error)) error {
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func opened(Pane) bool  { return true }
func ended(p Pane) bool { return p.Dead }

// shows is the fact that a pane in which script runs comes to be as wanted.
func (l lab) shows(script string, wanted func(Pane) bool) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := l.start(ctx, script, wanted)
		return err
	}
}

func (l lab) names(ctx context.Context) error {
	if _, err := l.do(ctx, []string{"has-session", "-t", sessionTarget("contract")}); err != nil {
		return err
	}
	if _, err := l.do(ctx, []string{"has-session", "-t", sessionTarget("contra")}); err == nil {
		return errors.New("=contra reached the session contract")
	}
	return nil
}

func (l lab) paste(ctx context.Context) error {
	const text = "échø \"$HOME\" #{pid} \\\n\tit's;"
	const whole = "\x1b[200~" + text + "\x1b[201~"
	file := filepath.Join(l.dir, "pasted")
	reader := fmt.Sprintf(`stty raw -echo; printf '\033[?2004h\033]2;ready\007'; dd bs=1 count=%d of=%s`,
		len(whole), proc.Quote(file))
	p, err := l.start(ctx, reader, func(p Pane) bool { return p.Title == "ready" })
	if err != nil {
		return err
	}
	if _, err := l.on(ctx, p.ID, nil, []string{"copy-mode", "-t", string(p.ID)}); err != nil {
		return err
	}
	if err := l.Paste(ctx, p.ID, text); err != nil {
		return err
	}
	var got []byte
	err = poll(ctx, func() (bool, error) {
		got, _ = os.ReadFile(file)
		return len(got) == len(whole), nil
	})
	if err != nil || string(got) != whole {
		return errors.Join(fmt.Errorf("%q arrived as %q", whole, got), err)
	}
	return nil
}

func (l lab) dead(ctx context.Context) error {
	p, err := l.start(ctx, "exit 0", ended)
	if err != nil {
		return err
	}
	if err := l.Paste(ctx, p.ID, "x"); !errors.Is(err, ErrDead) {
		return errors.Join(errors.New("it was not refused"), err)
	}
	return nil
}

func (l lab) hook(ctx context.Context) error {
	p, err := l.start(ctx, "exec sleep 60", opened)
	if err != nil {
		return err
	}
	file := filepath.Join(l.dir, "died")
	if err := l.OnDeath(ctx, p.ID, []string{"touch", file}); err != nil {
		return err
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		_, ran := os.Stat(file)
		_, err := l.Panes(ctx) // the death may have been missed
		return ran == nil, err
	})
}

// tiles looks at the panes that the other facts left.
func (l lab) tiles(ctx context.Context) error {
	rows, err := l.rows(ctx)
	for _, r := range rows {
		if r.windowID != rows[0].windowID {
			return errors.New("a second window was needed")
		}
	}
	if err == nil && len(rows) != maxPanesPerWindow {
		return fmt.Errorf("%d panes were opened, not %d", len(rows), maxPanesPerWindow)
	}
	return err
}
