package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func bracketed(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// T3, T4 and T5, PAINS rows 8, 13, 19 and 21: one paste, no byte changed, and
// Enter is a carriage return of its own.
func TestPasteIsByteExact(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	lines := []string{"1", "", "  two  ", "\ttab", "#{x} #(date) %H $HOME ~ `id`", `back\slash\`, "quotes ' \" '", "ünïcödé", "🙂👩‍👩‍👧 ⠋", "-p -r", "C-m Enter", "end;"}
	for name, text := range map[string]string{
		"12 lines": strings.Join(lines, "\n"), "newline at the end": "x\n", "semicolon": ";", "dash": "-",
		"100 kB": strings.Repeat("0123456789abcdef\n", 6_000) + ";",
	} {
		id, file := openRaw(t, s)
		if err := s.Paste(t.Context(), id, text); err != nil {
			t.Fatal(err)
		}
		holds(t, file, bracketed(text))
		if err := s.Enter(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		holds(t, file, bracketed(text)+"\r")
		if left := must(t, s, []string{"list-buffers"}); left != "" {
			t.Errorf("%s: buffers are left: %s", name, left)
		}
	}
}

// A program that did not ask for brackets gets none, and still no Enter.
func TestPasteWithoutBrackets(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	file := filepath.Join(t.TempDir(), "received")
	sp := spec(t)
	sp.Args = []string{"sh", "-c", `stty raw -echo; printf '\033]2;plain\007'; exec cat >` + file}
	id := mustOpen(t, s, sp)
	await(t, s, id, func(p Pane) bool { return p.Title == "plain" })
	if err := s.Paste(t.Context(), id, "one\ntwo;"); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "one\ntwo;")
}

// T11, PAINS row 12: no mode of tmux's keeps text or Enter from the program.
func TestTypingLeavesModes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, file := openRaw(t, s)
	want := ""
	for _, modes := range [][][]string{
		{{"copy-mode", "-t", string(id)}},
		{{"choose-tree", "-t", string(id)}},
		{{"choose-tree", "-t", string(id)}, {"copy-mode", "-t", string(id)}},
		{{"clock-mode", "-t", string(id)}},
	} {
		must(t, s, modes...)
		await(t, s, id, func(p Pane) bool { return p.InMode })
		if err := s.Paste(t.Context(), id, "hello"); err != nil {
			t.Fatal(err)
		}
		want += bracketed("hello")
		holds(t, file, want)
		must(t, s, modes...)
		if err := s.Enter(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		want += "\r"
		holds(t, file, want)
		if p := await(t, s, id, opened); p.InMode {
			t.Errorf("after %v the pane is in a mode still", modes)
		}
	}
}

// A person who has synchronized the panes of a window does not make an Enter
// that is meant for one pane reach the others.
func TestTypingReachesOnePane(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	other, untouched := openRaw(t, s)
	id, file := openRaw(t, s)
	must(t, s, []string{"set-option", "-w", "-t", string(id), "synchronize-panes", "on"})
	if err := errors.Join(s.Paste(t.Context(), id, "hello"), s.Enter(t.Context(), id), s.Paste(t.Context(), other, "last")); err != nil {
		t.Fatal(err)
	}
	holds(t, file, bracketed("hello")+"\r")
	holds(t, untouched, bracketed("last"))
}

// PAINS row 9: callers that paste at once do not take each other's text.
func TestConcurrentPastes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var wg sync.WaitGroup
	for i := range 4 {
		id, file := openRaw(t, s)
		wg.Go(func() {
			want := ""
			for n := range 5 {
				text := fmt.Sprintf("pane %d, text %d", i, n)
				want += bracketed(text)
				if err := s.Paste(t.Context(), id, text); err != nil {
					t.Error(err)
				}
			}
			eventuallyHolds(t, file, want)
		})
	}
	wg.Wait()
}

// eventuallyHolds is holds for goroutines, which must not end the test.
func eventuallyHolds(t *testing.T, file, want string) {
	var got []byte
	err := patiently(t, func() (bool, error) {
		got, _ = os.ReadFile(file)
		return string(got) == want, nil
	})
	if err != nil {
		t.Errorf("got %q, not %q", got, want)
	}
}

// PAINS row 5: nothing is typed where no program listens. A paste to a pane
// whose program has ended takes a tmux 3.3a down, with every other pane.
func TestTypingAtNobodyIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	live := mustOpen(t, s, spec(t))
	sp := spec(t)
	sp.Args = []string{"true", "x"}
	dead := mustOpen(t, s, sp)
	await(t, s, dead, func(p Pane) bool { return p.Dead })
	for id, want := range map[PaneID]error{dead: ErrDead, "%99": ErrNoPane, "": ErrNoPane, "fleet": ErrNoPane, "%0;": ErrNoPane, "=fleet:%0": ErrNoPane} {
		if err := s.Paste(t.Context(), id, "secret"); !errors.Is(err, want) {
			t.Errorf("Paste to %q: %v", id, err)
		}
		if err := s.Enter(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Enter to %q: %v", id, err)
		}
	}
	if left := must(t, s, []string{"list-buffers"}); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
	if p := await(t, s, live, opened); p.Dead {
		t.Errorf("%+v", p)
	}
	if err := newServer(t).Paste(t.Context(), "%0", "x"); !errors.Is(err, ErrNoPane) {
		t.Errorf("Paste to no server: %v", err)
	}
}

// An escape could close the bracket and turn the rest of the text into keys.
func TestPasteRefusesKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, file := openRaw(t, s)
	for _, text := range []string{"", "a\x1b[201~\rb", "a\r", "\x03", "\x00", "\x7f", "\u009b201~"} {
		if err := s.Paste(t.Context(), id, text); err == nil {
			t.Errorf("Paste took %q", text)
		}
	}
	if err := s.Enter(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "\r")
}
