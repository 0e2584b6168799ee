package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// field is one argument as the program gets it. The zero field stands for
// arguments that can't be told.
type field struct {
	text  string // without its quotes; of a glob, in the form of Target.Path
	glob  bool
	known bool
}

func literal(text string) field { return field{text: text, known: true} }

// asGlob is f for a program that expands globs itself, quoted as they may be.
func (f field) asGlob() field {
	f.glob = f.glob || strings.ContainsAny(f.text, "*?[")
	return f
}

// escaped is the text of f as a glob, whether f is one or not.
func (f field) escaped() string {
	if f.glob {
		return f.text
	}
	return escape(f.text)
}

// child is what a directory f gets when src is put into it.
func (f field) child(src field) field {
	switch {
	case !f.known || !src.known:
		return field{}
	case f.glob || src.glob:
		return field{text: f.escaped() + "/" + path.Base(src.escaped()), glob: true, known: true}
	}
	return literal(f.text + "/" + path.Base(src.text))
}

// abs is the path or glob that f names from the current directory, and empty
// if that can't be told.
func (w *walker) abs(f field) string {
	switch {
	case f.text == "" || !f.known:
		return ""
	case path.IsAbs(f.text):
		return path.Clean(f.text)
	case w.dir == "":
		return ""
	case f.glob:
		return path.Clean(escape(w.dir) + "/" + f.text)
	}
	return path.Clean(w.dir + "/" + f.text)
}

const metacharacters = `*?[]{}\`

func escape(s string) string {
	if !strings.ContainsAny(s, metacharacters) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(metacharacters, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescape takes out each backslash that stands before one of these bytes; no
// bytes mean any.
func unescape(s, before string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (before == "" || strings.IndexByte(before, s[i+1]) >= 0) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}

// fields expands the words of a command to its arguments.
func (w *walker) fields(words []*syntax.Word) []field {
	out := make([]field, 0, len(words))
	for _, word := range words {
		split := *word // SplitBraces changes it
		syntax.SplitBraces(&split)
		out = w.braces(out, nil, split.Parts)
	}
	return out
}

// braces appends the fields of each word that the lists in parts stand for:
// a{b,c} is ab and ac. A sequence like {1..9} stays in, and is unknown.
func (w *walker) braces(out []field, done, parts []syntax.WordPart) []field {
	if w.fuel -= len(done) + len(parts) + 1; w.fuel < 0 {
		return out
	}
	for i, part := range parts {
		if list, ok := part.(*syntax.BraceExp); ok && !list.Sequence {
			done = slices.Concat(done, parts[:i])
			for _, elem := range list.Elems {
				out = w.braces(out, done, slices.Concat(elem.Parts, parts[i+1:]))
			}
			return out
		}
	}
	return w.expand(out, slices.Concat(done, parts), true)
}

// single expands a word where the shell makes one field of it in any case.
func (w *walker) single(word *syntax.Word) field {
	return w.expand(nil, word.Parts, false)[0]
}

// expand appends to out what parts come to; with split, an unquoted variable
// may be several fields or none.
func (w *walker) expand(out []field, parts []syntax.WordPart, split bool) []field {
	b := builder{w: w, out: out, split: split, some: !split}
	if len(parts) > 0 {
		lit, ok := parts[0].(*syntax.Lit)
		b.unknown = ok && strings.HasPrefix(lit.Value, "~") // a home directory is not shared
	}
	b.parts(parts, false)
	if b.unknown {
		return append(out, field{})
	}
	b.flush()
	return b.out
}

// builder puts fields together from the parts of one word.
type builder struct {
	w       *walker
	out     []field
	text    []byte // of the field at hand, escaped
	bracket bool   // an unquoted [ was seen
	glob    bool
	some    bool // there is a field at hand, if only an empty one
	split   bool
	unknown bool
}

func (b *builder) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				b.add(escape(unescape(p.Value, "\\\"$`")), false)
			} else {
				b.add(p.Value, false)
			}
		case *syntax.SglQuoted:
			b.some = true
			b.unknown = b.unknown || p.Dollar && strings.Contains(p.Value, `\`)
			b.add(escape(p.Value), false)
		case *syntax.DblQuoted:
			b.some = true
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			f := b.w.param(p)
			b.unknown = b.unknown || !f.known
			b.add(f.escaped(), b.split && !quoted)
		case *syntax.CmdSubst:
			b.unknown = b.unknown || !isPwd(p) || b.w.dir == ""
			b.add(escape(b.w.dir), b.split && !quoted)
		case *syntax.ExtGlob: // !(a|b): more than it matches, but no less
			b.add("*", false)
		default:
			b.unknown = true
		}
	}
}

// add takes a piece in which backslashes quote and other metacharacters act.
func (b *builder) add(piece string, split bool) {
	if b.w.fuel -= len(piece) + 1; b.w.fuel < 0 {
		b.unknown = true
		return
	}
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		if split && (c == ' ' || c == '\t' || c == '\n') {
			b.flush()
			continue
		}
		b.some = true
		b.text = append(b.text, c)
		if c == '\\' && i+1 < len(piece) {
			i++
			b.text = append(b.text, piece[i])
			continue
		}
		b.bracket = b.bracket || c == '['
		b.glob = b.glob || c == '*' || c == '?' || c == ']' && b.bracket
	}
}

// flush ends the field at hand.
func (b *builder) flush() {
	if !b.some {
		return
	}
	f := field{text: string(b.text), glob: b.glob, known: true}
	if !b.glob {
		f.text = unescape(f.text, "")
	}
	b.out = append(b.out, f)
	b.text, b.bracket, b.glob, b.some = b.text[:0], false, false, false
}

// param is the value of a plain $name or ${name}. It keeps the glob that was
// assigned, quoted or not: in "for f in *.go" the name means the matches.
func (w *walker) param(p *syntax.ParamExp) field {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil {
		return field{}
	}
	for b := w.vars; b != nil; b = b.next {
		w.fuel--
		if b.name == p.Param.Value {
			return b.value
		}
	}
	if p.Param.Value == "PWD" && w.dir != "" {
		return literal(w.dir)
	}
	return field{}
}

func isPwd(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 {
		return false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "pwd"
}
