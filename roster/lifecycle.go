package roster

import (
	"cmp"
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
	Spare int    // the spare that is called to be the worker; 0 is none
	Over  bool   // after HandOver, which began the incarnation
}

// Launch starts a new incarnation of a workstream's worker and returns its epoch.
// Whatever an earlier one left (leases, a task in hand) is freed, unless that handed
// it over. That no worker of this workstream runs is for the caller to know: it holds
// the liveness lock.
func (s *State) Launch(id string, l Launch) (epoch int, err error) {
	w, err := s.unlanded(id)
	if err != nil {
		return 0, err
	}
	note := noteOver
	if !l.Over {
		s.endWork(w, ErrInfra, "replaced")
		w.Epoch++
		note = ""
	}
	if w.Brain != l.Brain { // the limit was another's
		w.ParkedUntil = Time{}
	}
	w.Brain, w.Mode, w.Tree, w.SessionID, w.Notes = l.Brain, l.Mode, l.Tree, "", note
	w.Heartbeat = s.Now.Unix()
	if w.Status != Done {
		s.setStatus(w, Pending, note)
	}
	s.touch(w)
	data := map[string]any{"epoch": w.Epoch, "brain": l.Brain, "mode": l.Mode, "tree": l.Tree}
	if l.Spare > 0 {
		data["spare"] = l.Spare
	}
	s.Note(WorkerSpawned, id, "", data)
	return w.Epoch, nil
}

// unlanded is a workstream that can have a worker.
func (s *State) unlanded(id string) (*Workstream, error) {
	w, err := s.Workstream(id)
	if err == nil && w.Status == Landed {
		err = Refusef("%s has landed", id).Hinted("add a new workstream for further work")
	}
	return w, err
}

// HandOver ends the present incarnation of a workstream for the next one, which goes on
// where it is: the task in hand is given to nobody else, nothing comes before it, and the
// files stay held. Its worker, if one runs, is for the caller to end.
func (s *State) HandOver(id string) error {
	w, err := s.unlanded(id)
	if err != nil {
		return err
	}
	if t := s.Task(w.TaskID); t != nil && t.InHand() {
		t.Pinned, t.Priority, t.UpdatedAt = true, maxPriority, Time{s.Now}
	}
	if w.manned() {
		s.Note(WorkerExited, id, w.TaskID, map[string]any{"epoch": w.Epoch, "code": 0, "stopped": true, "reason": noteOver})
	}
	s.endTask(w, notItsFault, noteOver)
	w.Epoch, w.Heartbeat = w.Epoch+1, s.Now.Unix()
	s.keepLeases(w)
	w.Notes = noteOver
	if w.Status != Done {
		s.setStatus(w, Pending, noteOver)
	}
	return nil
}

// overTime is how long a worker may take to end and the next one to start, while what was handed over stays held.
const overTime = 30 * time.Second

// isBetween reports whether a workstream was handed over just now, so that it has no worker for a moment.
func (s *State) isBetween(w *Workstream) bool {
	return w.HandedOver() && s.Now.Sub(time.Unix(w.Heartbeat, 0)) < overTime
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
	if s.Now.Before(w.ParkedUntil.Time) { // a new start doesn't lift a limit
		s.setStatus(w, Blocked, noteLimit+" until "+w.ParkedUntil.String())
		return nil
	}
	s.setStatus(w, to, "")
	s.takeTask(w, s.nextTask(w, anyTask))
	s.wakes = true
	return nil
}

// PromptSubmitted notes that the agent took a prompt: the proof that a message arrived.
// A task of the workstream starts with it, if the prompt names its brief or the session knows it already.
func (s *State) PromptSubmitted(id string, epoch int, prompt string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	s.Note(PromptSubmitted, id, w.TaskID, map[string]any{"prompt": Title(prompt), "bytes": len(prompt)})
	s.work(w, prompt)
	return nil
}

// work sets a workstream to work, on the task that its prompt is about.
func (s *State) work(w *Workstream, prompt string) {
	if w.betweenSessions() {
		return
	}
	meant := func(t *Task) bool {
		return strings.Contains(prompt, BriefName(t.ID)) || t.SessionID != "" && t.SessionID == w.SessionID
	}
	t := s.Task(w.TaskID)
	if t == nil {
		t = s.nextTask(w, meant)
	}
	if t != nil && meant(t) {
		s.takeTask(w, t)
		s.startTask(w, t)
	}
	w.Notes, w.ParkedUntil = clearedNote(w.Notes), Time{}
	s.setStatus(w, Working, "")
}

// Activity renews the heartbeat, at most every HeartbeatEvery. A worker that acts
// no longer waits: its dialog was answered, or the limit that it met is over.
func (s *State) Activity(id string, epoch int) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	if age := s.Now.Sub(time.Unix(w.Heartbeat, 0)); age >= HeartbeatEvery || age < 0 { // the clock was set back
		w.Heartbeat = s.Now.Unix()
	}
	if w.Asks() || w.Parked() || w.Status == Blocked && strings.HasPrefix(w.Notes, noteError) {
		s.work(w, "")
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
	if !w.saysBlocked() && !w.betweenSessions() {
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
	s.endTurn(w, Outcome{OK: true, Summary: message})
	return nil
}

// endTurn ends the attempt that was running, if one was. The attempts of a headless
// worker are judged by its wrapper, which knows how the session ended.
func (s *State) endTurn(w *Workstream, o Outcome) {
	t := s.Task(w.TaskID)
	switch {
	case w.Mode == Headless:
		s.touch(w)
	case t != nil && t.Status == TaskRunning:
		o.DurationMS, o.SessionID = max(0, s.Now.Sub(t.StartedAt.Time).Milliseconds()), w.SessionID
		s.endAttempt(w, t, o)
	default:
		if t == nil {
			w.TaskID = ""
		}
		s.endLeases(w, "turn ended")
		s.toRest(w, clearedNote(Title(o.Summary)))
		s.wakes = true
	}
}

// TurnFailed notes that the agent's turn ended in an error of its service or a limit.
func (s *State) TurnFailed(id string, epoch int, reason string) error {
	w, err := s.current(id, epoch)
	if err != nil {
		return err
	}
	w.Heartbeat = s.Now.Unix()
	if w.Mode == Headless {
		s.touch(w)
		return nil
	}
	s.endLeases(w, reason)
	if until, limited := s.limited(s.Task(w.TaskID), Outcome{Kind: ErrAgent, Reason: reason}); limited {
		s.endTask(w, ErrInfra, reason)
		s.park(w, until, reason)
		return nil
	}
	s.endTask(w, ErrAgent, reason)
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
		s.endWrite(w, l, stamp)
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
		s.endWork(w, notItsFault, "stopped")
		if w.Live() {
			s.setStatus(w, Pending, "stopped")
		}
	} else {
		reason := fmt.Sprintf("worker exited with code %d", e.Code)
		switch {
		case e.Code < 0 && e.LastLines != "": // what kept it from running
			reason = "worker failed: " + Title(e.LastLines)
		case e.Code == 0 && w.Mode == Headless && w.TaskID == "": // nothing is left to do, and its note says how that ended
			reason = cmp.Or(w.Notes, reason)
		}
		s.bury(w, reason, e.Code == 0)
	}
	if w.Status == Done {
		w.Heartbeat = 0 // nobody is there, should it have more to do
	}
	w.Epoch++
	return nil
}

// Stopped ends the incarnation of a worker that was asked to end, and is gone without having said so itself.
func (s *State) Stopped(id string) error {
	w, err := s.Workstream(id)
	if err != nil || !w.manned() {
		return err
	}
	return s.WorkerExited(id, w.Epoch, Exit{Code: -1, Stopped: true})
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
	s.endWork(w, ErrInfra, reason)
	if w.Status == Landed || w.Status == Done && clean {
		return
	}
	s.setStatus(w, Dead, reason)
}

// endWork frees what a workstream holds and has in hand.
func (s *State) endWork(w *Workstream, kind ErrorKind, reason string) {
	s.releaseLeases(w, reason)
	s.endTask(w, kind, reason)
}

// endTask gives back what a workstream has in hand.
func (s *State) endTask(w *Workstream, kind ErrorKind, reason string) {
	if t := s.Task(w.TaskID); t != nil && t.InHand() {
		s.requeue(w, t, kind, reason)
	}
	w.TaskID = ""
	s.wakes = true
}

// restStatus is where a workstream stands between two turns: at work while it has
// a task in hand, done when all of its own tasks are.
func (s *State) restStatus(w *Workstream) Status {
	switch {
	case w.Status == Landed:
		return Landed
	case w.TaskID != "":
		return Working
	}
	done := false
	for t := range rows(s.Tasks) {
		if !t.Pinned || t.Workstream != w.ID || t.Status == TaskCancelled {
			continue
		}
		if t.Status != TaskDone {
			return Started
		}
		done = true
	}
	if done {
		return Done
	}
	return Started
}

// inTurn reports whether a workstream has begun something that the end of its turn will end.
func (s *State) inTurn(w *Workstream) bool {
	return w.TaskID != "" || slices.ContainsFunc(s.Held(w.ID), func(l Lease) bool { return !l.Kept() })
}

func (s *State) holds(w *Workstream, path string) bool {
	l, held := s.Leases.Get(path)
	return held && l.WS == w.ID
}

// clearedNote keeps a note from being read as a report of a rule's own.
func clearedNote(note string) string {
	for _, p := range []string{noteBlocked, noteAsks, noteDone, noteError, noteVeto, noteLimit, noteOver} {
		if strings.HasPrefix(note, p) {
			return ""
		}
	}
	return note
}
