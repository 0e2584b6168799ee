package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through statements in the order in which a shell would run them.
type walker struct {
	state
	report Report
	seen   map[any]bool // the targets and tramples in report
	depth  int          // scripts within scripts
	fuel   int          // effort left: loops and variables can multiply a short line
}

// state is what a subshell gets a copy of and can't change for its parent.
type state struct {
	dir  string // working directory; empty if unknown
	back string // the one before
	vars *binding
}

// binding gives a variable its value. A list of them, latest first, shares its
// tail with the lists of other states, so that a copy costs nothing.
type binding struct {
	name  string
	value field
	next  *binding
}

func (w *walker) bind(name string, value field) {
	w.vars = &binding{name, value, w.vars}
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// subshell walks a list whose changes of directory and variables are lost.
func (w *walker) subshell(list ...*syntax.Stmt) {
	before := w.state
	w.stmts(list)
	w.state = before
}

func (w *walker) stmt(s *syntax.Stmt) {
	if w.fuel -= 16; w.fuel < 0 {
		return
	}
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	before := w.state
	switch cmd := s.Cmd.(type) {
	case nil: // redirections alone
	case *syntax.CallExpr:
		w.substitutions(cmd)
		if len(cmd.Args) == 0 {
			w.assign(cmd.Assigns)
		} else {
			w.run(w.fields(cmd.Args))
		}
	case *syntax.DeclClause:
		w.substitutions(cmd)
		w.assign(cmd.Args)
	case *syntax.BinaryCmd:
		w.binary(cmd)
	case *syntax.Block:
		w.stmts(cmd.Stmts)
	case *syntax.Subshell:
		w.subshell(cmd.Stmts...)
	case *syntax.CoprocClause:
		w.subshell(cmd.Stmt)
	case *syntax.FuncDecl: // taken to be called, with arguments unknown
		w.subshell(cmd.Body)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			w.stmt(cmd.Stmt)
		}
	default:
		w.compound(cmd)
	}
	if s.Background {
		w.state = before
	}
}

// compound walks the clauses that branch and loop. Branches are walked each on
// its own, since one at most is run.
func (w *walker) compound(cmd syntax.Command) {
	switch cmd := cmd.(type) {
	case *syntax.IfClause:
		for c := cmd; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.subshell(c.Then...)
		}
	case *syntax.CaseClause:
		w.substitutions(cmd.Word)
		for _, item := range cmd.Items {
			w.subshell(item.Stmts...)
		}
	case *syntax.WhileClause:
		w.stmts(cmd.Cond)
		w.stmts(cmd.Do)
	case *syntax.ForClause:
		w.substitutions(cmd.Loop)
		iter, ok := cmd.Loop.(*syntax.WordIter)
		if !ok || !iter.InPos.IsValid() { // over numbers, or over "$@"
			w.stmts(cmd.Do)
			return
		}
		for _, item := range w.fields(iter.Items) {
			w.bind(iter.Name.Value, item)
			w.stmts(cmd.Do)
		}
	default: // [[ ]], (( )) and let run only what is substituted in them
		w.substitutions(cmd)
	}
}

func (w *walker) binary(cmd *syntax.BinaryCmd) {
	if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
		w.stmt(cmd.X)
		w.stmt(cmd.Y)
		return
	}
	w.subshell(cmd.X) // both sides of a pipe are subshells
	w.subshell(cmd.Y)
}

func (w *walker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		w.write(w.single(r.Word), false)
	case syntax.DplOut: // >&2 and >&- are no files, >&log is one
		if f := w.single(r.Word); strings.Trim(f.text, "0123456789-") != "" {
			w.write(f, false)
		}
	default: // these read
	}
	w.substitutions(r)
}

// substitutions walks the commands that are run to make up the words of node.
func (w *walker) substitutions(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		w.fuel--
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.subshell(n.Stmts...)
			return false
		case *syntax.ProcSubst:
			w.subshell(n.Stmts...)
			return false
		}
		return true
	})
}

func (w *walker) assign(list []*syntax.Assign) {
	for _, a := range list {
		switch {
		case a.Name == nil || a.Naked:
		case a.Append || a.Index != nil || a.Array != nil:
			w.bind(a.Name.Value, field{})
		case a.Value == nil:
			w.bind(a.Name.Value, literal(""))
		default:
			w.bind(a.Name.Value, w.single(a.Value))
		}
	}
}
