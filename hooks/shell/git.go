package shell

import (
	"cmp"
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
	whyTrees  = "fleet keeps the worktrees of a run"

	useCommit  = "Commit your own files with `fleet commit <your id> -m \"…\"`."
	useLand    = "Leave it to the master."
	useNames   = "Name your own files."
	useBranch  = "Stay on this branch."
	useRestore = "Restore your own files by name: `git restore FILE`."
	useUnstage = "Unstage your own files by name: `git restore --staged FILE`."
)

const (
	dryRun = "n dry-run"
	moves  = "b B orphan detach d track t" // with which checkout takes no file
)

// refusal says when a git verb acts on more than files by name.
type refusal struct {
	verbs        string
	bare         bool   // it is refused only without paths
	whole        bool   // it is only if one of its paths is the current directory, or more
	reads        string // it isn't with one of these as its first operand
	only         string // it is only with one of these, which then is part of its name
	needs        string // it is only with one of these options
	unless       string // it isn't with one of these
	as           string // what to call it, if not by its verb
	why, instead string
}

// refused is read from above, and the first that fits counts.
var refused = []refusal{
	{verbs: "commit", unless: "dry-run", why: whyIndex + ", and a commit takes all that is in it", instead: useCommit},
	{verbs: "stash", reads: "list show create", why: "the stash is shared, and takes every worker's changes along", instead: useCommit},
	{verbs: "merge rebase pull cherry-pick revert am", why: whyBranch, instead: useLand},
	{verbs: "switch sparse-checkout read-tree symbolic-ref", why: whyBranch, instead: useBranch},
	{verbs: "bisect", reads: "log view visualize", why: whyBranch, instead: useBranch},
	{verbs: "worktree", only: "add remove prune move repair", why: whyTrees, instead: "Work where you are."},
	{verbs: "branch", needs: "D d delete M m move f force", as: "branch -D, -m or -f", why: whyRefs, instead: "Leave the branch as it is."},
	{verbs: "update-ref filter-branch filter-repo", why: whyRefs},
	// Without these it is left to the audit like patch: its files are in the patch.
	{verbs: "apply", needs: "index cached 3way 3", as: "apply --index", why: whyIndex, instead: "Leave out --index, --cached and --3way."},
	{verbs: "config", as: "config core.hooksPath", why: "the hooks guard every worker of this repository"},

	{verbs: "add stage", bare: true, needs: "A all u update", unless: dryRun, as: "add -A", why: whyIndex, instead: useNames},
	{verbs: "add stage", whole: true, unless: dryRun, as: "add .", why: whyIndex, instead: useNames},
	{verbs: "checkout", bare: true, why: whyBranch, instead: useBranch + " For files, say `git checkout -- FILE`."},
	{verbs: "checkout", whole: true, as: "checkout .", why: whyFiles, instead: useNames},
	{verbs: "clean", bare: true, unless: dryRun, why: "it deletes the new files of every worker of this checkout", instead: useNames},
	{verbs: "clean", whole: true, unless: dryRun, as: "clean .", why: whyFiles, instead: useNames},
	{verbs: "reset", needs: "hard", as: "reset --hard", why: whyFiles, instead: useRestore},
	{verbs: "reset", needs: "merge", as: "reset --merge", why: whyFiles, instead: useRestore},
	{verbs: "reset", needs: "keep", as: "reset --keep", why: whyFiles, instead: useRestore},
	{verbs: "reset", bare: true, unless: "p patch", why: whyIndex, instead: useUnstage},
	{verbs: "reset", whole: true, unless: "p patch", why: whyIndex, instead: useUnstage},
	{verbs: "restore", whole: true, unless: "S staged p patch", as: "restore .", why: whyFiles, instead: useNames},
	{verbs: "restore", whole: true, needs: "W worktree", unless: "p patch", as: "restore .", why: whyFiles, instead: useNames},
	{verbs: "restore", whole: true, unless: "p patch", as: "restore --staged .", why: whyIndex, instead: useNames},
	{verbs: "rm", whole: true, unless: dryRun, as: "rm .", why: whyFiles, instead: useNames},
}

// gitValued are the options of a verb that have a value, and gitLong those of any.
var gitValued = map[string]string{
	"apply": "p C", "checkout": "b B", "clean": "e", "commit": "m F C c t", "config": "f", "restore": "s", "stash": "m", "symbolic-ref": "m",
}

const gitLong = " source conflict orphan exclude chmod pathspec-from-file message author date file type"

// git sorts out one git command: the files that it names and overwrites are
// targets, and what reaches beyond them is a trample.
func (w *walker) git(opts options, args []string) {
	if len(args) == 0 {
		return
	}
	before := w.state
	if dir := opts.value("C work-tree"); dir != "" {
		w.chdir(dir)
	}
	w.gitVerb(args[0], args[1:])
	w.state = before
}

func (w *walker) gitVerb(verb string, args []string) {
	opts, paths := getopt(args, gitValued[verb]+gitLong)
	first := strings.Join(paths[:min(1, len(paths))], "")
	switch verb {
	case "mv":
		w.run(append([]string{"mv"}, args...))
	case "symbolic-ref":
		if len(paths) < 2 {
			return
		}
	case "config":
		named := slices.ContainsFunc(paths, func(arg string) bool { return strings.EqualFold(arg, "core.hooksPath") })
		sets := len(paths) > 1 && first != "get" || opts.has("unset unset-all")
		if !named || !sets || opts.has("get get-all") {
			return
		}
	case "checkout", "reset": // the first operand may be a revision as well as a file
		switch dashes := slices.Index(args, "--"); {
		case verb == "checkout" && len(paths) == 0 && !opts.has("f force "+moves):
			return
		case dashes >= 0:
			paths = args[dashes+1:]
		case opts.has(moves):
			paths = nil
		case first != "" && !isFile(first) && !w.isWhole(first):
			paths = paths[1:]
		}
	}
	whole := slices.ContainsFunc(paths, w.isWhole)
	fits := func(r refusal) bool {
		return in(r.verbs, verb) && (!r.bare || len(paths) == 0) && (!r.whole || whole) &&
			!in(r.reads, first) && (r.only == "" || in(r.only, first)) && !opts.has(r.unless) && (r.needs == "" || opts.has(r.needs))
	}
	if i := slices.IndexFunc(refused, fits); i >= 0 {
		r := refused[i]
		command := cmp.Or(r.as, verb)
		if r.only != "" {
			command += " " + first
		}
		w.trample("git "+command, r.why, r.instead)
		return
	}
	index := verb == "restore" && (opts.has("p patch") || opts.has("S staged") && !opts.has("W worktree"))
	if !in("checkout clean restore rm", verb) || opts.has("cached "+dryRun) || index {
		return
	}
	for _, p := range paths {
		if !strings.HasPrefix(p, ":") {
			w.write(asGlob.Replace(p), "", true)
		}
	}
}

// isWhole tells whether a path is the current directory or holds it, by
// whatever name.
func (w *walker) isWhole(arg string) bool {
	clean := path.Clean(arg)
	switch {
	case arg == "" || !isKnown(arg):
		return false
	case path.IsAbs(clean) && w.dir != "":
		return clean == "/" || strings.HasPrefix(w.dir+"/", clean+"/")
	case clean == "." || clean == ".." || strings.HasSuffix(clean, "/.."):
		return true
	}
	return in(wild[:1]+" * : :/ :(top)", arg)
}

// isFile guesses whether what may be a branch as well is a file: by the way it
// is written, or by an extension that is no number (v1.2). What can't be told is
// no reason to refuse, and counts as one.
func isFile(arg string) bool {
	ext := strings.TrimPrefix(path.Ext(arg), ".")
	isPath := strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/") || strings.HasSuffix(arg, "/")
	hasExt := ext != "" && (ext[0] < '0' || ext[0] > '9') && !strings.ContainsAny(arg, "~^@:")
	return isPath || hasExt || isGlob(arg) || !isKnown(arg)
}
