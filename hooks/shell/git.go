package shell

import (
	"path"
	"slices"
	"strings"
)

// The reasons and ways out that several verbs share.
const (
	whyIndex  = "the index is shared by every worker of this checkout"
	whyBranch = "it moves the branch and the files under every worker of this checkout"
	whyFiles  = "it throws away the changes of every worker of this checkout"
	whyRefs   = "other workers rely on the refs of this repository"

	useCommit = "Leave your changes in the working tree; the master commits them."
	useLand   = "Leave it to the master."
	useNames  = "Name your own files."
	useBranch = "Stay on this branch."
)

// git sorts out one git command: the files that it names and overwrites are
// targets, and what reaches beyond them is a trample.
func (w *walker) git(args []field) {
	opts, args := getopt(args, "+C: c: git-dir: work-tree: namespace: config-env:")
	if len(args) == 0 {
		return
	}
	before := w.state
	if dir, ok := opts.value("C work-tree"); ok {
		w.chdir(dir)
	}
	verb, args := args[0].text, args[1:]
	switch verb {
	case "add", "stage":
		w.gitAdd(args)
	case "checkout":
		w.gitCheckout(args)
	case "restore":
		w.gitRestore(args)
	case "reset":
		w.gitReset(args)
	case "rm", "clean":
		w.gitRemove(verb, args)
	case "mv":
		w.copies("mv", args)
	case "config":
		w.gitConfig(args)
	default:
		opts, ops := getopt(args, "m: F: C: c: s: X: u: b: onto: strategy: message: file: author: date:")
		w.gitVerb(verb, opts, ops)
	}
	w.state = before
}

// gitVerb reports the verbs that act on more than files by name.
func (w *walker) gitVerb(verb string, opts options, ops []field) {
	first := ""
	if len(ops) > 0 {
		first = ops[0].text
	}
	switch verb {
	case "commit":
		if !opts.has("dry-run") {
			w.trample("git commit", whyIndex+", and a commit takes all that is in it", useCommit)
		}
	case "stash":
		if first != "list" && first != "show" && first != "create" {
			w.trample("git stash", "the stash is shared, and takes every worker's changes along", useCommit)
		}
	case "merge", "rebase", "pull", "cherry-pick", "revert", "am":
		w.trample("git "+verb, whyBranch, useLand)
	case "switch", "sparse-checkout", "read-tree":
		w.trample("git "+verb, whyBranch, useBranch)
	case "bisect":
		if first != "log" && first != "view" && first != "visualize" {
			w.trample("git bisect", whyBranch, useBranch)
		}
	case "apply": // else it is left to the audit like patch: its files are in the patch
		if opts.has("index cached 3way 3") {
			w.trample("git apply --index", whyIndex, "Leave out --index, --cached and --3way.")
		}
	case "worktree":
		switch first {
		case "add", "remove", "prune", "move", "repair":
			w.trample("git worktree "+first, "fleet keeps the worktrees of a run", "Work where you are.")
		}
	case "branch":
		if opts.has("D d delete M m move f force") {
			w.trample("git branch -D, -m or -f", whyRefs, "Leave the branch as it is.")
		}
	case "update-ref", "filter-branch", "filter-repo":
		w.trample("git "+verb, whyRefs, "")
	case "symbolic-ref":
		if len(ops) > 1 {
			w.trample("git symbolic-ref", whyBranch, useBranch)
		}
	}
}

func (w *walker) gitConfig(args []field) {
	opts, ops := getopt(args, "f: file: type:")
	isHooks := func(f field) bool { return strings.EqualFold(f.text, "core.hooksPath") }
	if !slices.ContainsFunc(ops, isHooks) || opts.has("get get-all") || ops[0].text == "get" {
		return
	}
	if len(ops) > 1 || opts.has("unset unset-all") {
		w.trample("git config core.hooksPath", "the hooks guard every worker of this repository", "")
	}
}

func (w *walker) gitAdd(args []field) {
	opts, paths := getopt(args, "chmod: pathspec-from-file:")
	switch {
	case opts.has("n dry-run"):
	case opts.has("A all u update") && len(paths) == 0:
		w.trample("git add -A", whyIndex, useNames)
	case w.anyWhole(paths):
		w.trample("git add .", whyIndex, useNames)
	}
}

func (w *walker) gitCheckout(args []field) {
	args, paths, dashed := cutDashes(args)
	opts, ops := getopt(args, "b: B: orphan: conflict:")
	moves := opts.has("b B orphan detach d track t")
	switch {
	case opts.has("p patch") || dashed || moves:
	case len(ops) == 1 && !ops[0].known:
		return // a branch or files: it can't be told
	case len(ops) > 0 && (isFile(ops[0]) || w.anyWhole(ops[:1])):
		paths = ops
	case len(ops) > 1:
		paths = ops[1:]
	}
	switch {
	case len(paths) > 0:
		w.discard("git checkout", paths)
	case moves || opts.has("f force") || len(ops) > 0:
		w.trample("git checkout", whyBranch, useBranch+" For files, say `git checkout -- FILE`.")
	}
}

func (w *walker) gitRestore(args []field) {
	opts, paths := getopt(args, "s: source: conflict:")
	switch {
	case opts.has("p patch"):
	case !opts.has("S staged") || opts.has("W worktree"):
		w.discard("git restore", paths)
	case w.anyWhole(paths):
		w.trample("git restore --staged .", whyIndex, useNames)
	}
}

func (w *walker) gitReset(args []field) {
	args, paths, dashed := cutDashes(args)
	opts, ops := getopt(args, "")
	for _, mode := range [...]string{"hard", "merge", "keep"} {
		if opts.has(mode) {
			w.trample("git reset --"+mode, whyFiles, "Restore your own files by name: `git restore FILE`.")
			return
		}
	}
	switch {
	case dashed:
	case len(ops) == 1 && (!ops[0].known || isFile(ops[0]) || w.anyWhole(ops)):
		paths = ops
	case len(ops) > 1:
		paths = ops[1:]
	}
	if !opts.has("p patch") && (len(paths) == 0 || w.anyWhole(paths)) {
		w.trample("git reset", whyIndex, "Unstage your own files by name: `git restore --staged FILE`.")
	}
}

func (w *walker) gitRemove(verb string, args []field) {
	opts, paths := getopt(args, "e: exclude:")
	switch {
	case opts.has("n dry-run"):
	case verb == "clean" && len(paths) == 0:
		w.trample("git clean", "it deletes the new files of every worker of this checkout", useNames)
	case w.anyWhole(paths) || !opts.has("cached"):
		w.discard("git "+verb, paths)
	}
}

// discard reports that what paths hold is lost, by name or as a whole.
func (w *walker) discard(command string, paths []field) {
	if w.anyWhole(paths) {
		w.trample(command+" .", whyFiles, useNames)
		return
	}
	for _, p := range paths {
		if !strings.HasPrefix(p.text, ":") {
			w.write(p.asGlob(), true)
		}
	}
}

// anyWhole tells whether one of paths is the current directory or holds it, by
// whatever name.
func (w *walker) anyWhole(paths []field) bool {
	return slices.ContainsFunc(paths, func(f field) bool {
		clean := path.Clean(f.text)
		switch {
		case f.text == "":
			return false
		case f.text == "*" || f.text == ":" || f.text == ":/" || f.text == ":(top)":
			return true
		case path.IsAbs(clean) && w.dir != "":
			return clean == "/" || strings.HasPrefix(w.dir+"/", clean+"/")
		}
		return clean == "." || clean == ".." || strings.HasSuffix(clean, "/..")
	})
}

// cutDashes splits args at the --, after which there are only paths.
func cutDashes(args []field) (before, after []field, found bool) {
	i := slices.IndexFunc(args, func(f field) bool { return f.text == "--" })
	if i < 0 {
		return args, nil, false
	}
	return args[:i], args[i+1:], true
}

// isFile guesses whether what may be a branch as well is a file: by the way it
// is written, or by an extension that is no number (v1.2).
func isFile(f field) bool {
	ext := strings.TrimPrefix(path.Ext(f.text), ".")
	isPath := strings.HasPrefix(f.text, ".") || strings.HasPrefix(f.text, "/") || strings.HasSuffix(f.text, "/")
	hasExt := ext != "" && (ext[0] < '0' || ext[0] > '9') && !strings.ContainsAny(f.text, "~^@:")
	return f.glob || isPath || hasExt
}
