package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// scriptCost bounds how many scripts within scripts are followed, and how deep.
const scriptCost = 1 << 13

// run follows one simple command: it looks through wrappers and into scripts,
// and reports what the program writes, if it is known.
func (w *walker) run(command []string) {
	if w.fuel -= len(command); len(command) == 0 || w.fuel < 0 {
		return
	}
	name := path.Base(command[0])
	known := slices.IndexFunc(programs, func(p program) bool {
		return in(p.names, name) && (p.verbs == "" || len(command) > 1 && in(p.verbs, command[1]))
	})
	if known < 0 {
		return
	}
	p := programs[known]
	if p.verbs != "" {
		command = command[1:]
	}
	opts, args := getopt(command[1:], p.valued)
	if opts.has(p.unless) || p.needs != "" && !opts.has(p.needs) {
		return
	}
	switch p.kind {
	case writes:
		w.writes(name, p, opts, args)
	case copies:
		w.copies(name, p, opts, args)
	case wraps:
		args = args[min(p.skip, len(args)):]
		for len(args) > 0 && (args[0] == "--" || strings.Contains(args[0], "=")) { // npm exec --, env A=b
			args = args[1:]
		}
		w.run(args)
	case pipes: // what comes through it isn't in sight
		if mark := opts["I"]; mark != "" {
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, mark, unknown)
			}
		} else {
			args = append(args, unknown)
		}
		w.run(args)
	case evals:
		w.script(strings.Join(args, " "), nil)
	case shells:
		if len(args) > 0 {
			before := w.state
			w.script(args[0], args[1:])
			w.state = before
		}
	case assigns:
		for _, arg := range args {
			w.bind(arg, unknown)
		}
	case changes:
		from := w.dir
		if to := strings.Join(args, " "); to == "-" || name == "popd" {
			w.dir = w.back
		} else {
			w.chdir(to) // nowhere is home
		}
		w.back = from
	case finds:
		w.find(command[1:])
	case gits:
		w.git(opts, args)
	}
}

// script walks text as a script that is part of this one, with $0 and so on.
func (w *walker) script(text string, args []string) {
	if w.fuel -= scriptCost + len(text); w.fuel < 0 {
		return
	}
	for i, arg := range args {
		w.bind(strconv.Itoa(i), arg)
	}
	if stmts, err := parse(text); err == nil {
		w.stmts(stmts)
	}
}

func (w *walker) chdir(to string) {
	w.dir = w.abs(to)
}

func (w *walker) writes(name string, p program, opts options, files []string) {
	if p.output != "" {
		files = []string{opts.value(p.output)}
	}
	if p.script != "" && !opts.has(p.script) {
		// BSD's sed -i has the suffix of the backup before its script, often an
		// empty one. No script of sed's begins with a dot.
		if name == "sed" && len(files) > 0 && (files[0] == "" || files[0][0] == '.') {
			files = files[1:]
		}
		files = files[min(1, len(files)):]
	}
	for _, f := range files {
		f, ok := strings.CutPrefix(f, p.prefix)
		if p.format {
			f = asGlob.Replace(f)
		}
		if ok && f != "-" {
			w.write(f, "", p.format || opts.has(p.deep))
		}
	}
}

func (w *walker) copies(name string, p program, opts options, files []string) {
	dest := opts.value("t target-directory")
	inside := dest != ""
	switch {
	case inside || len(files) == 0:
	case name == "ln" && len(files) == 1:
		dest, inside = ".", true
	default:
		dest, files = files[len(files)-1], files[:len(files)-1]
	}
	if name == "rsync" && strings.Contains(dest, ":") {
		return // another machine
	}
	deep := name == "mv" || name == "rsync" || opts.has(p.deep)
	inside = inside || len(files) > 1 || strings.HasSuffix(dest, "/")
	for _, src := range files {
		if name == "mv" {
			w.write(src, "", deep)
		}
		switch child := dest + "/" + path.Base(src); {
		case name == "rsync" && strings.HasSuffix(src, "/"): // all in src, but not src
			w.write(dest, "", deep)
		case inside || isGlob(src) && !isGlob(dest):
			w.write(child, "", deep)
		case opts.has("T no-target-directory"):
			w.write(dest, "", deep)
		default:
			w.write(dest, child, deep)
		}
	}
}

// find follows find … -delete and find … -exec. What it would find is told as
// globs: each root, any depth, each -name.
func (w *walker) find(args []string) {
	n := slices.IndexFunc(args, func(arg string) bool { return arg == "(" || arg == "!" || strings.HasPrefix(arg, "-") })
	if n < 0 {
		return // it only lists them
	}
	roots, tests, names := args[:n], args[n:], []string(nil)
	if n == 0 {
		roots = []string{"."}
	}
	for i := 0; i < len(tests); i++ {
		switch arg := tests[i]; {
		case in("! -not", arg):
			i++ // what is not to be found narrows no glob
		case in("-name -iname", arg) && i+1 < len(tests):
			i++
			names = append(names, asGlob.Replace(tests[i]))
		case arg == "-delete" && names == nil:
			for _, root := range roots {
				w.write(root, "", true)
			}
		case arg == "-delete":
			w.run(w.found([]string{"rm", "{}"}, roots, names))
		case in("-exec -execdir -ok -okdir", arg):
			start := i + 1
			for i < len(tests) && !in("; +", tests[i]) {
				i++
			}
			w.run(w.found(tests[min(start, i):i], roots, names))
		}
	}
}

// found is a command with the globs of what is found in place of its {}.
func (w *walker) found(command, roots, names []string) (out []string) {
	if names == nil {
		names = []string{asGlob.Replace("*")}
	}
	for _, arg := range command {
		if w.fuel--; arg != "{}" {
			out = append(out, arg)
			continue
		}
		for _, root := range roots {
			for _, name := range names {
				if w.fuel -= 16; w.fuel < 0 {
					return nil
				}
				out = append(out, root+asGlob.Replace("/**/")+name)
			}
		}
	}
	return out
}
