package shell

import "strings"

// copies follows the programs that take sources and a destination.
func (w *walker) copies(name string, args []field) {
	spec := "t: S: target-directory: suffix:"
	switch name {
	case "install":
		spec += " m: o: g: mode: owner: group:"
	case "rsync":
		spec = "e: f: rsh: filter: exclude: include: exclude-from: include-from: files-from:"
	}
	opts, files := getopt(args, spec)
	dest, inside := opts.value("t target-directory")
	switch {
	case name == "install" && opts.has("d directory"): // only makes directories
		return
	case name == "rsync" && opts.has("n dry-run"):
		return
	case inside || len(files) == 0:
	case name == "ln" && len(files) == 1:
		dest, inside = literal("."), true
	default:
		dest, files = files[len(files)-1], files[:len(files)-1]
	}
	if name == "rsync" && strings.Contains(dest.text, ":") {
		return // another machine
	}
	tree := name == "mv" || name == "rsync" || name == "cp" && opts.has("r R recursive a archive")
	inside = inside || len(files) > 1 || strings.HasSuffix(dest.text, "/")
	for _, src := range files {
		if name == "mv" {
			w.write(src, tree)
		}
		child := dest.child(src)
		switch {
		case name == "rsync" && strings.HasSuffix(src.text, "/"): // all in src, but not src
			w.write(dest, tree)
		case inside || src.glob && !dest.glob:
			w.write(child, tree)
		case opts.has("T no-target-directory"):
			w.write(dest, tree)
		default:
			w.writeInto(dest, child, tree)
		}
	}
}
