package shell

import (
	"path"
	"strconv"
	"strings"
)

// maxDepth bounds how deep sh -c and eval are followed.
const maxDepth = 8

// run follows one simple command: it looks through wrappers and into scripts,
// and hands the rest to those who know the program.
func (w *walker) run(args []field) {
	args = unwrap(args)
	if len(args) == 0 {
		return
	}
	name, args := path.Base(args[0].text), args[1:]
	switch name {
	case "cd", "pushd", "popd":
		w.changeDir(name, args)
	case "read", "unset", "mapfile", "readarray":
		for _, arg := range args {
			w.bind(arg.text, field{})
		}
	case "eval":
		w.eval(args)
	case "sh", "bash", "zsh", "dash", "ksh":
		opts, args := getopt(args, "+o: O: rcfile: init-file:")
		if opts.has("c") && len(args) > 0 {
			before := w.state
			for i, arg := range args[1:] {
				w.bind(strconv.Itoa(i), arg)
			}
			w.script(args[0])
			w.state = before
		}
	case "xargs": // the files come through a pipe, but git's verb is in sight
		_, args = getopt(args, "+I: n: P: L: d: a: s: E:")
		if args = unwrap(args); len(args) > 0 && args[0].text == "git" {
			w.git(append(args[1:], field{}))
		}
	case "git":
		w.git(args)
	case "find":
		w.find(args)
	case "cp", "mv", "ln", "install", "rsync":
		w.copies(name, args)
	default:
		w.program(name, args)
	}
}

// script walks text as a script that is part of this one.
func (w *walker) script(text field) {
	if w.fuel -= len(text.text); w.fuel < 0 || w.depth >= maxDepth {
		return
	}
	stmts, err := parse(text.text)
	if err != nil {
		return
	}
	w.depth++
	w.stmts(stmts)
	w.depth--
}

// eval walks the line that its arguments make together, if all are known.
func (w *walker) eval(args []field) {
	var line strings.Builder
	for _, arg := range args {
		if !arg.known {
			return
		}
		line.WriteString(arg.text + " ")
	}
	w.script(literal(line.String()))
}

func (w *walker) changeDir(name string, args []field) {
	_, args = getopt(args, "+")
	from := w.dir
	switch {
	case name == "popd" || len(args) == 1 && args[0].text == "-":
		w.dir = w.back
	case len(args) == 1:
		w.chdir(args[0])
	default: // home
		w.dir = ""
	}
	w.back = from
}

func (w *walker) chdir(to field) {
	w.dir = w.abs(to)
	if to.glob {
		w.dir = ""
	}
}

// unwrap drops the programs in front that only run what follows them.
func unwrap(args []field) []field {
	for len(args) > 0 {
		name := path.Base(args[0].text)
		spec, operands := wrapper(name)
		switch {
		case len(args) > 2 && runsNext(name, args[1].text):
			args = args[2:]
		case spec == "":
			return args
		default:
			opts, rest := getopt(args[1:], spec)
			if name == "command" && opts.has("v V") { // only asks where it is
				return nil
			}
			for (name == "env" || name == "sudo") && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
				rest = rest[1:]
			}
			args = rest[min(operands, len(rest)):]
		}
		if len(args) > 0 && args[0].text == "--" {
			args = args[1:]
		}
	}
	return args
}

// runsNext knows programs that run another one under a verb of theirs.
func runsNext(name, verb string) bool {
	switch name {
	case "python", "python3":
		return verb == "-m"
	case "npm", "pnpm", "yarn", "bun", "uv", "poetry", "bundle":
		return verb == "run" || verb == "exec" || verb == "dlx" || verb == "x"
	}
	return false
}

// wrapper gives the options of a program that runs another one, and how many
// operands of its own come first. Other programs have no spec.
func wrapper(name string) (spec string, operands int) {
	switch name {
	case "command", "builtin", "nohup", "setsid", "time":
		return "+f: o:", 0
	case "exec":
		return "+a:", 0
	case "sudo", "doas":
		return "+u: g: C: D: h: p: r: t: T: U:", 0
	case "env":
		return "+u: C: S: unset: chdir: split-string:", 0
	case "nice", "ionice":
		return "+n: c: adjustment:", 0
	case "stdbuf":
		return "+i: o: e: input: output: error:", 0
	case "timeout":
		return "+s: k: signal: kill-after:", 1
	case "npx", "bunx", "uvx":
		return "+p: c: package: call: from: with:", 0
	}
	return "", 0
}
