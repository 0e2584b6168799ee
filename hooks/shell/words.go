package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An argument is kept as the program gets it, but with these bytes in it for
// what is no text. They are control characters that no line of a person's has.
const (
	wild    = "\x01\x02\x03\x04" // the characters of meta where they make a glob
	meta    = "*?[]"
	unknown = "\x05" // any text: what can't be told
	quotes  = "\x06" // nothing, but an argument, if only an empty one
	gap     = "\x07" // what a shell splits an unquoted variable at
)

var (
	// asGlob is for a program that expands globs itself, quoted as they may be.
	asGlob = strings.NewReplacer("*", "\x01", "?", "\x02", "[", "\x03", "]", "\x04")

	// pattern writes a glob in the form of Target.Path.
	pattern = strings.NewReplacer(
		"\x01", "*", "\x02", "?", "\x03", "[", "\x04", "]",
		"*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, `\`, `\\`,
	)

	split   = strings.NewReplacer(" ", gap, "\t", gap, "\n", gap)
	unsplit = strings.NewReplacer(gap, " ", quotes, "")
)

func isGlob(arg string) bool { return strings.ContainsAny(arg, wild) }

func isKnown(arg string) bool { return !strings.Contains(arg, unknown) }

// abs is the path or glob that arg names from the current directory, and empty
// if that can't be told.
func (w *walker) abs(arg string) string {
	switch {
	case arg == "" || !isKnown(arg):
		return ""
	case path.IsAbs(arg):
		return path.Clean(arg)
	case w.dir == "":
		return ""
	}
	return path.Clean(w.dir + "/" + arg)
}

// args expands the words of a command.
func (w *walker) args(words []*syntax.Word) (args []string) {
	for _, word := range words {
		braced := *word // SplitBraces changes it
		syntax.SplitBraces(&braced)
		args = w.braces(args, nil, braced.Parts)
	}
	return args
}

// braces appends the arguments of each word that the lists in parts stand for:
// a{b,c} is ab and ac. A sequence like {1..9} stays in, and is unknown.
func (w *walker) braces(args []string, done, parts []syntax.WordPart) []string {
	if w.fuel -= len(done) + len(parts) + 1; w.fuel < 0 {
		return args
	}
	for i, part := range parts {
		if list, ok := part.(*syntax.BraceExp); ok && !list.Sequence {
			done = slices.Concat(done, parts[:i])
			for _, elem := range list.Elems {
				args = w.braces(args, done, slices.Concat(elem.Parts, parts[i+1:]))
			}
			return args
		}
	}
	for arg := range strings.SplitSeq(w.text(slices.Concat(done, parts), false), gap) {
		if arg != "" {
			args = append(args, unsplit.Replace(arg))
		}
	}
	return args
}

// single expands a word where the shell makes one argument of it in any case.
func (w *walker) single(word *syntax.Word) string {
	return unsplit.Replace(w.text(word.Parts, false))
}

// text is what the parts of a word come to.
func (w *walker) text(parts []syntax.WordPart, quoted bool) string {
	var text strings.Builder
	for i, part := range parts {
		piece := unknown
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted || i > 0 || !strings.HasPrefix(p.Value, "~") { // a home directory is not shared
				piece = unquote(p.Value, quoted)
			}
		case *syntax.SglQuoted:
			if !p.Dollar || !strings.Contains(p.Value, `\`) {
				piece = quotes + p.Value
			}
		case *syntax.DblQuoted:
			piece = quotes + w.text(p.Parts, true)
		case *syntax.ParamExp:
			if piece = w.param(p); !quoted {
				piece = split.Replace(piece)
			}
		case *syntax.CmdSubst:
			if isPwd(p) && w.dir != "" {
				piece = w.dir
			}
		case *syntax.ExtGlob: // !(a|b): more than it matches, but no less
			piece = wild[:1]
		}
		if w.fuel -= len(piece) + 1; w.fuel < 0 {
			return unknown
		}
		text.WriteString(piece)
	}
	return text.String()
}

// unquote takes out the backslashes that quote, and marks metacharacters that act.
func unquote(text string, quoted bool) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch n := strings.IndexByte(meta, c); {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("\\\"$`", text[i+1]) >= 0):
			i++
			c = text[i]
		case n >= 0 && !quoted:
			c = wild[n]
		}
		out = append(out, c)
	}
	return string(out)
}

// param is the value of a plain $name or ${name}. A glob that was assigned acts
// even where the name is quoted: in "for f in *.go" the name means the matches.
func (w *walker) param(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil {
		return unknown
	}
	if value, ok := w.vars[p.Param.Value]; ok {
		return value
	}
	if p.Param.Value == "PWD" && w.dir != "" {
		return w.dir
	}
	return unknown
}

func isPwd(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 {
		return false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "pwd"
}
