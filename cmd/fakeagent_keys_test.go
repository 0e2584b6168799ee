package cmd_test

import (
	"bufio"
	"io"
	"strings"
)

// key is one thing that came from the terminal: a key by its name, or a paste.
type key struct {
	name string // "enter", "ctrl-c", "ctrl-u", "esc", "up", "down", "backspace", "paste", or "text"
	text string // of a paste or of a typed character
}

// readKeys turns the bytes of a terminal in raw mode into keys until it closes.
func readKeys(in io.Reader, out chan<- key) {
	defer close(out)
	r := bufio.NewReader(in)
	for {
		c, _, err := r.ReadRune()
		if err != nil {
			return
		}
		switch c {
		case '\r':
			out <- key{name: "enter"}
		case 3:
			out <- key{name: "ctrl-c"}
		case 21:
			out <- key{name: "ctrl-u"}
		case 127, 8:
			out <- key{name: "backspace"}
		case 27:
			out <- escape(r)
		default: // a newline, which a terminal makes of an Enter that came too early, is text
			out <- key{name: "text", text: string(c)}
		}
	}
}

// escape reads what follows an ESC.
func escape(r *bufio.Reader) key {
	if r.Buffered() == 0 {
		return key{name: "esc"}
	}
	var seq strings.Builder
	for {
		b, err := r.ReadByte()
		if err != nil {
			return key{name: "esc"}
		}
		seq.WriteByte(b)
		if b >= '@' && b != '[' && b != 'O' {
			break
		}
	}
	switch seq.String() {
	case "[A", "OA":
		return key{name: "up"}
	case "[B", "OB":
		return key{name: "down"}
	case "[200~":
		return key{name: "paste", text: pasted(r)}
	}
	return key{name: "esc " + seq.String()}
}

const pasteEnd = "\x1b[201~"

func pasted(r *bufio.Reader) string {
	var text strings.Builder
	for !strings.HasSuffix(text.String(), pasteEnd) {
		b, err := r.ReadByte()
		if err != nil {
			break
		}
		text.WriteByte(b)
	}
	return strings.TrimSuffix(text.String(), pasteEnd)
}
