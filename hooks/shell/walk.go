package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"fleet/hooks/effect"
)

// walker goes through a script in the order in which a shell would run it.
type walker struct {
	state
	report effect.Report
	seen   map[any]bool // the targets and tramples in report
	fuel   int          // effort left: loops and variables can multiply a short line
}

// state is what a subshell gets a copy of and can't change for its parent.
type state struct {
	dir  string            // working directory; empty if unknown
	back string            // the one before
	vars map[string]string // not changed, but replaced
}

func (w *walker) bind(name, value string) {
	w.fuel -= len(w.vars)
	w.vars = maps.Clone(w.vars)
	w.vars[name] = value
}

// walk goes through one node, down to the commands that are run to make up the
// words in it.
func (w *walker) walk(node syntax.Node) {
	if w.fuel--; w.fuel < 0 {
		return
	}
	before := w.state
	switch n := node.(type) {
	case *syntax.Stmt:
		for _, r := range n.Redirs { // opened before the command runs
			w.walk(r)
		}
		if n.Cmd != nil {
			w.walk(n.Cmd)
		}
		if n.Background {
			w.state = before
		}
	case *syntax.Redirect:
		w.redirect(n)
		w.children(n)
	case *syntax.CallExpr:
		w.children(n)
		if len(n.Args) == 0 {
			w.assign(n.Assigns)
		} else {
			w.run(w.args(n.Args))
		}
	case *syntax.DeclClause:
		w.children(n)
		w.assign(n.Args)
	case *syntax.BinaryCmd:
		for _, side := range [...]*syntax.Stmt{n.X, n.Y} {
			w.walk(side)
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				w.state = before
			}
		}
	case *syntax.IfClause: // branches each on its own, since one at most is run
		w.stmts(n.Cond)
		before = w.state
		w.stmts(n.Then)
		w.state = before
		if n.Else != nil {
			w.walk(n.Else)
		}
	case *syntax.ForClause:
		w.loop(n)
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.CoprocClause, *syntax.CaseItem,
		*syntax.FuncDecl: // taken to be called, with arguments unknown
		w.children(n)
		w.state = before
	default:
		w.children(n)
	}
}

func (w *walker) children(of syntax.Node) {
	syntax.Walk(of, func(n syntax.Node) bool {
		if n != nil && n != of {
			w.walk(n)
		}
		return n == of
	})
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.walk(s)
	}
}

func (w *walker) loop(n *syntax.ForClause) {
	w.walk(n.Loop)
	words, ok := n.Loop.(*syntax.WordIter)
	if !ok || !words.InPos.IsValid() { // over numbers, or over "$@"
		w.stmts(n.Do)
		return
	}
	for _, item := range w.args(words.Items) {
		w.bind(words.Name.Value, item)
		w.stmts(n.Do)
	}
}

func (w *walker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc: // these read
	default:
		file := w.single(r.Word)
		if r.Op == syntax.DplOut && strings.Trim(file, "0123456789-") == "" {
			return // >&2 and >&- are no files, >&log is one
		}
		w.write(file, "", false)
	}
}

func (w *walker) assign(list []*syntax.Assign) {
	for _, a := range list {
		switch {
		case a.Name == nil || a.Naked:
		case a.Append || a.Index != nil || a.Array != nil:
			w.bind(a.Name.Value, unknown)
		case a.Value == nil:
			w.bind(a.Name.Value, "")
		default:
			w.bind(a.Name.Value, w.single(a.Value))
		}
	}
}
