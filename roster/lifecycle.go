package roster

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A worker's life, in the order in which its hooks and its wrapper report it:
// Launch, SessionUp, then turns (PromptSubmitted … TurnEnded or TurnFailed), at last WorkerExited.

// Launch describes a worker about to be started.
type Launch struct {
	Brain string
	Mode  string // Interactive or Headless
	Tree  string // "main", or the worktree relative to the main checkout
}

// Launch starts a new incarnation of a workstream's worker and returns its epoch.
// Whatever an earlier one left (leases, a task in hand) is freed. That no worker
// of this workstream runs is for the caller to know: it holds the liveness lock.
func (s *State) Launch(id string, l Launch) (epoch int, err error) {
	w, err := s.Workstream(id)
	if err != nil {
		return 0, err
	}
	if w.Status == Landed {
		return 0, Refusef("%s has landed", id).Hinted("add a new workstream for further work")
	}
	s.endWorker(w, ErrInfra, "replaced")
	w.Epoch++
	w.Brain, w.Mode, w.Tree, w.SessionID, w.Notes = l.Brain, l.Mode, l.Tree, "", ""
	w.Heartbeat = s.Now.Unix()
	if w.Status != Done {
		s.setStatus(w, Pending, "")
	}
	s.touch(w)
	s.Note(WorkerSpawned, id, "", map[string]any{"epoch": w.Epoch, "brain": l.Brain, "mode": l.Mode, "tree": l.Tree})
	return w.Epoch, nil
}

// SessionUp notes that the agent's session has started and that its hooks report.
// It may come again in one incarnation (a resumed, cleared or compacted session).
func (s *State) SessionUp(id string, epoch int, session, source string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.SessionID = session
	w.Heartbeat = s.Now.Unix()
	s.Note(WorkerUp, id, "", map[string]any{"epoch": epoch, "session_id": session, "source": source})
	s.touch(w)
	if w.Status == Working || w.saysBlocked() {
		return nil
	}
	to := s.restStatus(w)
	if s.inTurn(w) {
		to = Working // a dialog stood in the middle of it
	}
	w.Notes = clearedNote(w.Notes)
	s.setStatus(w, to, "")
	return nil
}

// PromptSubmitted notes that the agent took a prompt: the proof that a message arrived.
// A task that waits for this workstream starts with it.
func (s *State) PromptSubmitted(id string, epoch int, prompt string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	s.Note(PromptSubmitted, id, w.TaskID, map[string]any{"prompt": Title(prompt), "bytes": len(prompt)})
	s.work(w)
	return nil
}

// work sets a workstream to work, on the task that waits for it if there is one.
func (s *State) work(w *Workstream) {
	s.takeTask(w)
	w.Notes = clearedNote(w.Notes)
	s.setStatus(w, Working, "")
}

// Activity renews the heartbeat, at most every HeartbeatEvery. A worker that acts
// no longer waits: its dialog was answered, or the limit that it met is over.
func (s *State) Activity(id string, epoch int) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	if s.Now.Sub(time.Unix(w.Heartbeat, 0)) >= HeartbeatEvery {
		w.Heartbeat = s.Now.Unix()
	}
	if w.Asks() || w.Status == Blocked && strings.HasPrefix(w.Notes, noteError) {
		s.work(w)
	}
	return nil
}

// HeartbeatEvery is how old a heartbeat gets before a hook renews it.
const HeartbeatEvery = 5 * time.Second

// NeedsPerson notes that the agent waits for somebody to answer a dialog.
func (s *State) NeedsPerson(id string, epoch int, kind, message string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	s.Note(Notification, id, w.TaskID, map[string]any{"kind": kind, "message": message})
	if !w.saysBlocked() {
		s.setStatus(w, Blocked, noteAsks+" "+message)
	}
	return nil
}

// Notified notes a message of the agent that asks for nothing.
func (s *State) Notified(id string, epoch int, kind, message string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	s.Note(Notification, id, w.TaskID, map[string]any{"kind": kind, "message": message})
	return nil
}

// TurnEnded notes that the agent has finished its turn: the task in hand is over
// and its leases are free. A worker that reported itself blocked keeps both,
// since its task isn't over; a veto that still stands sends the task back.
func (s *State) TurnEnded(id string, epoch int, message string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	if w.saysBlocked() {
		s.touch(w)
		return nil
	}
	if w.Asks() {
		w.Notes = ""
	}
	if t := s.Task(w.TaskID); t != nil && t.BlockedOn != "" && !s.holds(w, t.BlockedOn) {
		s.vetoTurn(w, t)
		return nil
	}
	s.endTurn(w, clearedNote(Title(message)))
	return nil
}

func (s *State) vetoTurn(w *Workstream, t *Task) {
	reason := noteVeto + " " + t.BlockedOn
	if l, held := s.Leases.Get(t.BlockedOn); held {
		reason += " is held by " + l.WS
	}
	if !slices.Contains(t.Scope, t.BlockedOn) {
		t.Scope = slices.Concat(t.Scope, []string{t.BlockedOn})
	}
	s.releaseLeases(w, "veto")
	s.requeueTask(w, ErrVeto, reason)
	s.setStatus(w, Blocked, reason)
}

func (s *State) endTurn(w *Workstream, note string) {
	s.releaseLeases(w, "task ended")
	s.completeTask(w)
	s.setStatus(w, s.restStatus(w), note)
}

// TurnFailed notes that the agent's turn ended in an error of its service or a limit.
func (s *State) TurnFailed(id string, epoch int, reason string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	s.releaseLeases(w, "turn failed")
	s.requeueTask(w, ErrAgent, reason)
	s.setStatus(w, Blocked, noteError+" "+Title(reason))
	return nil
}

// FileWritten notes the end of a tool's write to a file that the workstream holds,
// and what the file looks like now (see FileStamp). No tool means that it wrote nothing.
func (s *State) FileWritten(id string, epoch int, path, tool, stamp string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	if tool != "" {
		s.Note(FileChanged, id, w.TaskID, map[string]any{"path": path, "tool": tool})
	}
	if l, held := s.Leases.Get(path); held && l.WS == id {
		l.Stamp = stamp
		s.Leases.Put(l)
	}
	return nil
}

// Exit tells how a worker ended.
type Exit struct {
	Code      int // exit code of the agent; -1 when unknown
	LastLines string
	Stopped   bool // somebody asked for it
}

// WorkerExited ends an incarnation: its leases are freed, its task waits again, and
// its epoch is over, so nothing that it still sends is believed.
func (s *State) WorkerExited(id string, epoch int, e Exit) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	s.Note(WorkerExited, id, w.TaskID, map[string]any{"epoch": epoch, "code": e.Code, "stopped": e.Stopped, "last_lines": e.LastLines})
	if e.Stopped {
		s.endWorker(w, notItsFault, "stopped")
		if w.Live() {
			s.setStatus(w, Pending, "stopped")
		}
	} else {
		s.bury(w, fmt.Sprintf("worker exited with code %d", e.Code), e.Code == 0)
	}
	w.Epoch++
	return nil
}

// MarkDead ends the incarnation of a worker that is gone without a word.
func (s *State) MarkDead(id string, epoch int, reason string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	s.markDead(w, reason)
	return nil
}

func (s *State) markDead(w *Workstream, reason string) {
	s.Note(WorkerExited, w.ID, w.TaskID, map[string]any{"epoch": w.Epoch, "code": -1, "reason": reason})
	s.bury(w, reason, false)
	w.Epoch++
}

// bury ends a worker that nobody stopped. One that had finished its work and left cleanly stays done.
func (s *State) bury(w *Workstream, reason string, clean bool) {
	s.endWorker(w, ErrInfra, reason)
	if w.Status == Landed || w.Status == Done && clean {
		return
	}
	s.setStatus(w, Dead, reason)
}

func (s *State) endWorker(w *Workstream, kind ErrorKind, reason string) {
	s.releaseLeases(w, reason)
	s.requeueTask(w, kind, reason)
}

// restStatus is where a workstream stands between two turns.
func (s *State) restStatus(w *Workstream) Status {
	if w.Status == Landed {
		return Landed
	}
	done := false
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Workstream == w.ID {
			if t.Status != TaskDone {
				return Started
			}
			done = true
		}
	}
	if done {
		return Done
	}
	return Started
}

// inTurn reports whether a workstream has begun something that the end of its turn will end.
func (s *State) inTurn(w *Workstream) bool {
	for l := range s.Leases.All() {
		if l.WS == w.ID {
			return true
		}
	}
	return w.TaskID != ""
}

func (s *State) holds(w *Workstream, path string) bool {
	l, held := s.Leases.Get(path)
	return held && l.WS == w.ID
}

// clearedNote keeps a note from being read as a report of a rule's own.
func clearedNote(note string) string {
	for _, p := range []string{noteBlocked, noteAsks, noteDone, noteError, noteVeto} {
		if strings.HasPrefix(note, p) {
			return ""
		}
	}
	return note
}
