package shell

// program tells how to read the arguments of a program. Lists are separated by
// spaces.
type program struct {
	names  string
	verbs  string // its first operand is one of these
	kind   kind
	valued string // the options that have a value, as for getopt
	needs  string // it does nothing without one of these
	unless string // it does nothing with one of these
	skip   int    // how many operands come before the command that it runs
	script string // its first operand is a script, unless one of these is given
	output string // the file is the value of one of these, and no operand is
	prefix string // what stands before a file
	deep   string // with one of these it goes through directories
	format bool   // it always does, and expands globs itself
}

// kind is what a program does with its operands.
type kind int

const (
	writes  kind = iota
	copies       // to the last one
	wraps        // runs them as a command
	pipes        // likewise, with what comes through a pipe
	evals        // runs them as a script
	shells       // runs the first one as a script
	assigns      // sets them as variables
	changes      // changes the directory
	finds
	gits
)

// programs are those known by name. What others write is left to the audit, as
// is what some choose themselves (tar, make, a formatter without arguments), and
// chmod and chown, which change no content.
var programs = []program{
	{names: "cd pushd popd", kind: changes, valued: "+"},
	{names: "read unset mapfile readarray", kind: assigns},
	{names: "eval", kind: evals, valued: "+"},
	{names: "sh bash zsh dash ksh", kind: shells, valued: "+ o O rcfile init-file", needs: "c"},
	{names: "git", kind: gits, valued: "+ C c git-dir work-tree namespace config-env"},
	{names: "find", kind: finds},

	{names: "builtin nohup setsid time", kind: wraps, valued: "+ f o"},
	{names: "command", kind: wraps, valued: "+", unless: "v V"}, // only asks where it is
	{names: "exec", kind: wraps, valued: "+ a"},
	{names: "sudo doas", kind: wraps, valued: "+ u g C D h p r t T U"},
	{names: "env", kind: wraps, valued: "+ u C S unset chdir split-string"},
	{names: "nice ionice", kind: wraps, valued: "+ n c adjustment"},
	{names: "stdbuf", kind: wraps, valued: "+ i o e input output error"},
	{names: "timeout", kind: wraps, valued: "+ s k signal kill-after", skip: 1},
	{names: "npx bunx uvx", kind: wraps, valued: "+ p c package call from with"},
	{names: "npm pnpm yarn bun uv poetry bundle", verbs: "run exec dlx x", kind: wraps, valued: "+"},
	{names: "python python3", kind: wraps, valued: "+ c W X", needs: "m"},
	{names: "xargs", kind: pipes, valued: "+ I n P L d a s E"},

	{names: "cp", kind: copies, valued: "t S target-directory suffix", deep: "r R recursive a archive"},
	{names: "mv ln", kind: copies, valued: "t S target-directory suffix"},
	{names: "install", kind: copies, valued: "t S target-directory suffix m o g mode owner group", unless: "d directory"},
	{names: "rsync", kind: copies, valued: "e f rsh filter exclude include exclude-from include-from files-from", unless: "n dry-run"},

	{names: "tee sponge rmdir unlink ed"},
	{names: "rm", deep: "r R recursive"},
	{names: "touch truncate shred", valued: "d t r s n date time reference size iterations"},
	{names: "dd", prefix: "of="},
	{names: "sed gsed", valued: "e f l i= expression file line-length", needs: "i in-place", script: "e f expression file"},
	{names: "perl ruby", valued: "e E i= 0= I M= m= l= F= C= r= x=", needs: "i", script: "e E"},
	{names: "awk gawk", valued: "i f F v include file assign field-separator", needs: "i=inplace include=inplace", script: "f file"},
	{names: "yq", verbs: "e eval", valued: "I o p", needs: "i inplace", script: "from-file"},
	{names: "yq", valued: "I o p", needs: "i inplace", script: "from-file"},
	{names: "patch", valued: "p i d o F D B z strip input fuzz", unless: "dry-run d directory o output"}, // else the patch says which
	{names: "sort", valued: "o k t S T output key", output: "o output"},
	{names: "curl", valued: "o H d X u A e b c F T x m w K r output", output: "o output"},
	{names: "wget", valued: "O o P U t T e i output-document", output: "O output-document"},

	{names: "gofmt goimports gofumpt shfmt", valued: "r i ln local lang modpath", needs: "w", format: true},
	{names: "clang-format", valued: "style fallback-style assume-filename", needs: "i", format: true},
	{names: "prettier", valued: "config ignore-path log-level parser plugin", needs: "w write", format: true},
	{names: "eslint", valued: "c f o config ext format rule rulesdir", needs: "fix", format: true},
	{names: "biome", verbs: "check format lint", valued: "config-path", needs: "write fix apply", format: true},
	{names: "ruff", verbs: "check", valued: "config select ignore line-length target-version", needs: "fix", format: true},
	{names: "ruff", verbs: "format", valued: "config line-length target-version", unless: "check diff", format: true},
	{names: "black isort rustfmt", valued: "l t config config-path edition line-length target-version profile", unless: "c check check-only diff", format: true},
}
