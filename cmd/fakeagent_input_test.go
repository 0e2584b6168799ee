package cmd_test

import (
	"strings"
	"time"
)

// press handles a key. over says that the program ends with the code.
func (a *agent) press(k key) (code int, over bool) {
	switch k.name {
	case "paste":
		a.log.write(record{Kind: "paste", Text: k.text})
	case "text":
		a.log.write(record{Kind: "key", Key: k.text})
	default:
		a.log.write(record{Kind: "key", Key: k.name})
	}
	if a.dialog != nil {
		return a.answer(k)
	}
	leaving := a.leaving
	a.leaving = false
	switch k.name {
	case "enter":
		return a.enter()
	case "ctrl-c":
		if leaving {
			return a.end("prompt_input_exit", 0), true
		}
		a.clear()
		a.leaving = true
	case "ctrl-u":
		a.clear()
	case "backspace":
		if r := []rune(a.draft); len(r) > 0 {
			a.draft = string(r[:len(r)-1])
		}
	case "text":
		a.draft += k.text
	case "paste":
		a.paste(k.text)
	}
	return 0, false
}

func (a *agent) clear() { a.draft, a.stranded, a.pasted = "", false, time.Time{} }

func (a *agent) paste(text string) {
	f := a.faults()
	if f.DialogOnPaste {
		d := permissionDialog("Bash")
		d.done = func(int) (int, bool) { return 0, false }
		a.dialog = d
		return
	}
	a.draft += text
	a.pasted, a.stranded = time.Now(), f.Strand
}

// answer is a key while a dialog is up: text is lost, and Enter takes what is chosen.
func (a *agent) answer(k key) (code int, over bool) {
	d := a.dialog
	switch k.name {
	case "up":
		d.choice = max(0, d.choice-1)
	case "down":
		d.choice = min(len(d.options)-1, d.choice+1)
	case "enter":
		a.dialog = nil
		a.log.write(record{Kind: "answer", Key: d.options[d.choice], Text: d.about})
		return d.done(d.choice)
	}
	return 0, false
}

func (a *agent) enter() (code int, over bool) {
	f := a.faults()
	switch {
	case strings.HasSuffix(a.draft, `\`):
		a.draft = strings.TrimSuffix(a.draft, `\`) + "\n"
		return 0, false
	case a.stranded, a.eaten < f.SwallowEnters, time.Since(a.pasted) < time.Duration(f.PasteBurstMS)*time.Millisecond:
		a.eaten++
		a.log.write(record{Kind: "swallowed"})
		return 0, false
	case strings.TrimSpace(a.draft) == "":
		return 0, false
	}
	p := prompt{text: a.draft, pasted: !a.pasted.IsZero()}
	a.clear()
	return a.submit(p)
}

// submit does with a text what the agent would: run it, obey it, or take it for a prompt.
func (a *agent) submit(p prompt) (code int, over bool) {
	word, _, more := strings.Cut(p.text, " ")
	switch {
	case p.text == "/exit":
		return a.end("prompt_input_exit", 0), true
	case strings.HasPrefix(p.text, "!"):
		a.log.write(record{Kind: "shell", Text: p.text}) // it would have run, unasked and ungated
	case strings.HasPrefix(word, "/") && !more && !strings.Contains(word[1:], "/"):
		a.log.write(record{Kind: "slash", Text: p.text})
	default:
		a.log.write(record{Kind: "submit", Text: p.text})
		if a.busy {
			a.queue = append(a.queue, p)
			return 0, false
		}
		a.take(p)
	}
	return 0, false
}
