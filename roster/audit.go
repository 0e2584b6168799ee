package roster

import "fmt"

// FileStamp describes a file's present content well enough to see that somebody
// wrote to it: modification time in nanoseconds and size. A missing file is "gone".
func FileStamp(modNanos, size int64, exists bool) string {
	if !exists {
		return "gone"
	}
	return fmt.Sprintf("%d:%d", modNanos, size)
}

// Shell describes a tool that has run and may have written anything.
type Shell struct {
	Tool string
	// Stamp returns what the file of a path is now, and when it was last written (Unix nanoseconds, 0 if it is gone).
	Stamp func(path string) (stamp string, modNanos int64)
	Since int64 // Unix nanoseconds at which the tool started; 0 is any time
}

// ForeignWrite is a file that changed although another workstream holds it.
type ForeignWrite struct {
	Path   string `json:"path"`
	Holder string `json:"holder"`
}

// ShellRan settles what a shell command did: to files that others hold, which are
// returned, and to those of its own workstream, which enter the ledger. Who wrote
// a file that nobody holds can't be told; it waits for the commit.
func (s *State) ShellRan(id string, epoch int, sh Shell) ([]ForeignWrite, error) {
	w, err := s.current(id, epoch)
	if err != nil {
		return nil, err
	}
	found, err := s.Audit(id, epoch, sh)
	if err != nil {
		return nil, err
	}
	for _, l := range s.Held(id) {
		s.settle(w, l, sh)
	}
	return found, nil
}

// settle notes what a file is now that a write is over, if it is another file than before.
func (s *State) settle(w *Workstream, l Lease, sh Shell) {
	stamp, _ := sh.Stamp(l.Path)
	if stamp == l.Stamp {
		return
	}
	s.Note(FileChanged, w.ID, w.TaskID, map[string]any{"path": l.Path, "tool": sh.Tool})
	s.endWrite(w, l, stamp)
}

// endWrite notes in a lease what the file is after a write of its holder's.
func (s *State) endWrite(w *Workstream, l Lease, stamp string) {
	if l.Stamp == stampCommitted+stamp {
		s.dropLeases(w, []string{l.Path}, "committed")
		return
	}
	l.Stamp = stamp
	s.Leases.Put(l)
}

// Audit looks for files that others hold and that changed, in the time that is
// asked about, after their holder's last write. What it finds is told once: the
// lease takes the new stamp. A file whose holder is in the middle of a write can't be judged.
func (s *State) Audit(id string, epoch int, sh Shell) ([]ForeignWrite, error) {
	w, err := s.current(id, epoch)
	if err != nil {
		return nil, err
	}
	var changed []Lease
	for l := range s.Leases.All() {
		if l.WS == id || l.underWay() || !s.sameTree(w, l.WS) {
			continue
		}
		if now, at := sh.Stamp(l.Path); now != l.Stamp && (at == 0 || at >= sh.Since) {
			l.Stamp = now
			changed = append(changed, l)
		}
	}
	found := make([]ForeignWrite, 0, len(changed))
	for _, l := range changed {
		s.Leases.Put(l)
		found = append(found, s.foreign(w, sh.Tool, l.Path, l.WS))
	}
	return found, nil
}

// sameTree reports whether a workstream works in the same checkout as w: in another
// one the file of that name is another file.
func (s *State) sameTree(w *Workstream, other string) bool {
	o, err := s.Workstream(other)
	return err == nil && o.Tree == w.Tree
}

func (s *State) foreign(w *Workstream, tool, path, holder string) ForeignWrite {
	s.Note(ForeignWriteFound, w.ID, w.TaskID, map[string]any{"path": path, "holder": holder, "tool": tool})
	return ForeignWrite{Path: path, Holder: holder}
}
