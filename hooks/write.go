package hooks

import (
	"context"
	"fmt"

	"fleet/hooks/effect"
	"fleet/roster"
	"fleet/roster/rundir"
)

const bashTool = "Bash"

// writes is what a tool call would write, in keys of the tree.
type writes struct {
	paths    []string // files
	trees    []string // directories, with everything below
	tramples []effect.Trample
}

// preToolUse is the write check.
func (s *session) preToolUse(ctx context.Context) ([]byte, error) {
	t, shared, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	var w writes
	switch s.in.ToolName {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", patchTool:
		if w.paths, err = t.keys(s.in.paths()); err != nil {
			return nil, err
		}
		if len(w.paths) == 0 {
			return nil, fmt.Errorf("%s names no file that could be read from its input", s.in.ToolName)
		}
	case bashTool:
		if w, err = shellWrites(t, s.in.ToolInput.Command, s.shell); err != nil {
			return nil, err
		}
		if shared && len(w.tramples) > 0 {
			return s.denyTrample(ctx, w.tramples[0])
		}
	default:
		return nil, fmt.Errorf("the write check doesn't know the tool %q", s.in.ToolName)
	}
	denials, err := s.acquire(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(denials) > 0 {
		return deny(denialText(denials)), nil
	}
	return allow(), nil
}

// tree is the checkout of this worker, and whether others work in it, too.
func (s *session) tree(ctx context.Context) (t tree, shared bool, err error) {
	root := s.dir.Root
	shared = true
	if s.ownTree {
		err = s.dir.View(ctx, func(st *roster.State) error {
			w, err := st.Workstream(s.ws)
			if err == nil {
				root = s.dir.Tree(w)
			}
			return err
		})
		if err != nil {
			return tree{}, false, err
		}
		shared = root == s.dir.Root
	}
	t, err = newTree(root, s.in.CWD)
	return t, shared, err
}

// acquire asks for the leases. The quick path reads who and which files; only
// where something stands in the way are the tasks read, too, and is it asked
// whether the other worker is alive.
func (s *session) acquire(ctx context.Context, w writes) (denials []roster.Denial, err error) {
	r := roster.WriteRequest{WS: s.ws, Epoch: s.epoch, Paths: w.paths, Trees: w.trees, Tool: s.in.ToolName}
	whole := false
	err = s.dir.UpdateLeases(ctx, func(st *roster.State) error {
		r.Alive = func(string) bool { return true }
		if whole {
			r.Alive = s.dir.Alive
		}
		denials = st.AcquireLeases(r)
		if len(denials) > 0 && !whole {
			whole = true
			return rundir.ErrWantTasks
		}
		return nil
	})
	return denials, err
}

func (s *session) denyTrample(ctx context.Context, t effect.Trample) ([]byte, error) {
	text := trampleText(t)
	err := s.dir.UpdateLeases(ctx, func(st *roster.State) error {
		if err := st.Fence(s.ws, s.epoch); err != nil {
			return err
		}
		st.Note(roster.ShellWriteDenied, s.ws, "", map[string]any{"command": t.Command, "why": t.Why})
		return nil
	})
	if roster.IsStale(err) {
		err = nil // the answer is no anyway
	}
	return deny(text), err
}

// shellWrites reads from a command line what it would write. One that can't be
// parsed has no writes that could be seen; the audit after the call looks.
func shellWrites(t tree, command string, shell Shell) (writes, error) {
	if shell == nil {
		return writes{}, errNoShell
	}
	report, err := shell(command, t.cwd)
	if err != nil {
		return writes{}, nil //nolint:nilerr // left to the audit
	}
	var w writes
	for _, path := range patchPaths(command) { // a patch that is handed to apply_patch in the shell
		if err := w.add(t, path, false); err != nil {
			return writes{}, err
		}
	}
	for _, target := range report.Writes {
		paths, wholeTree := expand(t, target)
		for _, path := range paths {
			if err := w.add(t, path, wholeTree); err != nil {
				return writes{}, err
			}
		}
	}
	for _, tr := range report.Tramples {
		if tr.Dir != "" {
			if key, err := t.key(tr.Dir); err != nil || key != "." && !roster.IsLocal(key) {
				continue // another repository
			}
		}
		w.tramples = append(w.tramples, tr)
	}
	return w, nil
}
