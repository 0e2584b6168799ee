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
	Tool    string
	Changed []string // files that the agent saw change, where it tells
	// Stamp returns what the file of a path is now, and when it was last written (Unix nanoseconds, 0 if it is gone).
	Stamp func(path string) (stamp string, modNanos int64)
	Since int64 // Unix nanoseconds at which the tool started; 0 is any time
}

// ForeignWrite is a file that changed although another workstream holds or claims it.
type ForeignWrite struct {
	Path   string `json:"path"`
	Holder string `json:"holder"`
}

// ShellRan settles what a shell command did. Files that it changed and nobody
// holds are leased to its workstream, as if it had asked; files that others hold
// are returned. Its own writes, known before or not, enter the ledger.
func (s *State) ShellRan(id string, epoch int, sh Shell) ([]ForeignWrite, error) {
	w, err := s.current(id, epoch)
	if err != nil {
		return nil, err
	}
	found, err := s.Audit(id, epoch, sh)
	if err != nil {
		return nil, err
	}
	for _, p := range sh.Changed {
		if l, held := s.Leases.Get(p); held {
			if l.WS == id {
				s.settle(w, l, sh)
			}
			continue // the audit has compared a file of somebody else's with its holder's last write
		}
		if d, claimed := s.claimedByOther(w, func(c string) bool { return Covers(c, p) }); claimed {
			found = append(found, s.foreign(w, sh.Tool, p, d.Holder))
			continue
		}
		s.lease(w, p, sh.Tool)
		l, _ := s.Leases.Get(p)
		s.settle(w, l, sh)
	}
	var open []Lease
	for l := range s.Leases.All() {
		if l.WS == id && l.Stamp == "" {
			open = append(open, l)
		}
	}
	for _, l := range open {
		s.settle(w, l, sh)
	}
	return found, nil
}

// settle ends a write that was under way.
func (s *State) settle(w *Workstream, l Lease, sh Shell) {
	stamp, _ := sh.Stamp(l.Path)
	if stamp == l.Stamp {
		return
	}
	l.Stamp = stamp
	s.Leases.Put(l)
	s.Note(FileChanged, w.ID, w.TaskID, map[string]any{"path": l.Path, "tool": sh.Tool})
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
		if l.WS == id || l.Stamp == "" {
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

func (s *State) foreign(w *Workstream, tool, path, holder string) ForeignWrite {
	s.Note(ForeignWriteFound, w.ID, w.TaskID, map[string]any{"path": path, "holder": holder, "tool": tool})
	return ForeignWrite{Path: path, Holder: holder}
}
