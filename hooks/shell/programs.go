package shell

import "strings"

// rule tells which arguments of a program are files that it writes: the
// operands, unless anything else is said. Fields that hold options are lists
// separated by spaces.
type rule struct {
	spec   string // the options that have a value, as for getopt
	needs  string // it writes only with one of these
	unless string // it doesn't write with any of these
	script string // the first operand is a script, unless one of these is given
	value  string // the file is the value of one of these, and no operand is
	deep   string // with one of these it goes through directories
	format bool   // it always does, and expands globs itself
}

// ruleFor knows the programs by name. Those that choose their files themselves
// (tar, make, a formatter without arguments) are left to the audit, and so are
// chmod and chown, which change no content.
func ruleFor(name string) (rule, bool) {
	switch name {
	case "tee", "sponge", "rmdir", "unlink", "ed":
		return rule{}, true
	case "rm":
		return rule{deep: "r R recursive"}, true
	case "touch", "truncate", "shred":
		return rule{spec: "d: t: r: s: n: date: time: reference: size: iterations:"}, true
	case "sed", "gsed":
		return rule{spec: "e: f: l: i:: expression: file: line-length: in-place::", needs: "i in-place", script: "e f expression file"}, true
	case "perl", "ruby":
		return rule{spec: "e: E: i:: 0:: I: M:: m:: l:: F:: C:: r:: x::", needs: "i", script: "e E"}, true
	case "awk -i inplace":
		return rule{spec: "f: F: v: file: assign: field-separator:", script: "f file"}, true
	case "yq", "yq e", "yq eval":
		return rule{spec: "I: o: p:", needs: "i inplace", script: "from-file"}, true
	case "patch": // without an operand, only the patch says which files
		return rule{spec: "p: i: d: o: F: D: B: z: strip: input: directory: output: fuzz:", unless: "dry-run d directory o output"}, true
	case "sort":
		return rule{spec: "o: k: t: S: T: output: key:", value: "o output"}, true
	case "curl":
		return rule{spec: "o: H: d: X: u: A: e: b: c: F: T: x: m: w: K: r: output:", value: "o output"}, true
	case "wget":
		return rule{spec: "O: o: P: U: t: T: e: i: output-document:", value: "O output-document"}, true
	case "gofmt", "goimports", "gofumpt", "shfmt":
		return rule{spec: "-r: i: ln: local: lang: modpath:", needs: "w", format: true}, true
	case "clang-format":
		return rule{spec: "-style: fallback-style: assume-filename:", needs: "i", format: true}, true
	case "prettier":
		return rule{spec: "config: ignore-path: log-level: parser: plugin:", needs: "w write", format: true}, true
	case "eslint":
		return rule{spec: "c: f: o: config: ext: format: rule: rulesdir:", needs: "fix", format: true}, true
	case "biome check", "biome format", "biome lint":
		return rule{spec: "config-path:", needs: "write fix apply", format: true}, true
	case "black", "ruff format":
		return rule{spec: "c: l: t: config: line-length: target-version:", unless: "check diff c", format: true}, true
	case "ruff check":
		return rule{spec: "config: select: ignore: line-length: target-version:", needs: "fix", format: true}, true
	case "isort", "rustfmt":
		return rule{spec: "l: config: config-path: edition: profile:", unless: "c check check-only diff", format: true}, true
	}
	return rule{}, false
}

// program reports what a program writes that is known by name.
func (w *walker) program(name string, args []field) {
	switch {
	case name == "dd":
		for _, arg := range args {
			if to, ok := strings.CutPrefix(arg.text, "of="); ok {
				w.write(literal(to), false)
			}
		}
	case len(args) > 1 && args[1].text == "inplace" && (name == "awk" || name == "gawk"):
		name, args = "awk -i inplace", args[2:]
	case len(args) > 1 && (name == "ruff" || name == "biome" || name == "yq" && strings.HasPrefix(args[0].text, "e")):
		name, args = name+" "+args[0].text, args[1:]
	}
	r, ok := ruleFor(name)
	opts, files := getopt(args, r.spec)
	if !ok || opts.has(r.unless) || r.needs != "" && !opts.has(r.needs) {
		return
	}
	if r.value != "" {
		file, _ := opts.value(r.value)
		files = []field{file}
	}
	if r.script != "" && !opts.has(r.script) {
		files = dropScript(name, files)
	}
	for _, f := range files {
		if r.format {
			f = f.asGlob()
		}
		if f.text != "-" {
			w.write(f, r.format || opts.has(r.deep))
		}
	}
}

// dropScript takes the script off the operands. BSD's sed -i has the suffix of
// the backup before it, often an empty one; no script of sed's begins with a
// dot.
func dropScript(name string, files []field) []field {
	if name == "sed" && len(files) > 0 && files[0].known && (files[0].text == "" || files[0].text[0] == '.') {
		files = files[1:]
	}
	return files[min(1, len(files)):]
}
