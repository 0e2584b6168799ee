package hooks

import (
	"cmp"
	"context"
	"strings"

	"fleet/internal/git"
	"fleet/internal/proc"
	"fleet/roster"
)

// background starts the prompt by which an agent tells itself of work that it left in the background.
const background = "<task-notification>"

func (s *session) userPromptSubmit(ctx context.Context) ([]byte, error) {
	return nil, s.dir.Update(ctx, func(st *roster.State) error {
		if strings.HasPrefix(s.in.Prompt, background) {
			return st.Activity(s.ws, s.epoch)
		}
		return st.PromptSubmitted(s.ws, s.epoch, s.in.Prompt)
	})
}

func (s *session) stopFailure(ctx context.Context) ([]byte, error) {
	return nil, s.dir.Update(ctx, func(st *roster.State) error {
		return st.TurnFailed(s.ws, s.epoch, cmp.Or(s.in.LastMessage, s.in.Error, "the agent's turn failed"))
	})
}

// idlePrompt is sent a minute after a turn has ended. The row says that already.
const idlePrompt = "idle_prompt"

// asking are the notifications behind which a dialog waits for a person.
func asking(kind string) bool {
	switch kind {
	case "permission_prompt", "elicitation_dialog", "agent_needs_input", "worker_permission_prompt":
		return true
	}
	return false
}

func (s *session) notification(ctx context.Context) ([]byte, error) {
	return nil, s.dir.Update(ctx, func(st *roster.State) error {
		if asking(s.in.NotificationType) {
			return st.NeedsPerson(s.ws, s.epoch, s.in.NotificationType, s.in.Message)
		}
		if s.in.NotificationType == idlePrompt {
			return st.Activity(s.ws, s.epoch)
		}
		return st.Notified(s.ws, s.epoch, s.in.NotificationType, s.in.Message)
	})
}

// sessionStart notes the session. One that was compacted has forgotten most, and is led to where it stands.
func (s *session) sessionStart(ctx context.Context) ([]byte, error) {
	task := s.ws
	err := s.dir.Update(ctx, func(st *roster.State) error {
		if err := st.SessionUp(s.ws, s.epoch, s.in.SessionID, s.in.Source); err != nil {
			return err
		}
		w, err := st.Workstream(s.ws)
		if err == nil {
			task = cmp.Or(w.TaskID, task)
		}
		return err
	})
	if err != nil || s.in.Source != "compact" {
		return nil, err
	}
	return told("SessionStart", "Your context was compacted: "+s.dir.HandoffPrompt(s.ws, task)), nil
}

func (s *session) sessionEnd(ctx context.Context) ([]byte, error) {
	return nil, s.dir.Update(ctx, func(st *roster.State) error {
		return st.Notified(s.ws, s.epoch, "session_end", s.in.Reason)
	})
}

// preCompact writes the handoff while the agent's context is still whole.
func (s *session) preCompact(ctx context.Context) ([]byte, error) {
	var tree string
	err := s.dir.View(ctx, func(st *roster.State) error {
		if err := st.Fence(s.ws, s.epoch); err != nil {
			return err
		}
		w, err := st.Workstream(s.ws)
		if err == nil {
			tree = s.dir.Tree(w)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return nil, s.dir.WriteHandoff(ctx, s.ws, git.In(proc.Run, tree).Dirty(ctx))
}
