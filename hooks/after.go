package hooks

import (
	"context"
	"time"

	"fleet/hooks/settings"
	"fleet/roster"
)

// slack is how long after its command a hook may have started: a busy machine starts
// a process late, and an agent waits this long for it. A change that might have been
// the command's is told, since one that nobody is told of is lost.
const slack = settings.HostTimeout * time.Second

// postToolUse writes the ledger after a tool that writes, and audits after a shell command.
func (s *session) postToolUse(ctx context.Context) ([]byte, error) {
	t, _, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	if s.in.ToolName == bashTool {
		return s.afterShell(ctx, t)
	}
	tool := s.in.ToolName
	if s.in.Event == "PostToolUseFailure" {
		tool = "" // it has written nothing
	}
	keys, err := t.keys(s.in.paths())
	if err != nil {
		return nil, err
	}
	return nil, s.dir.Update(ctx, func(st *roster.State) error {
		for _, k := range keys {
			stamp, _ := t.stamp(k)
			if err := st.FileWritten(s.ws, s.epoch, k, tool, stamp); err != nil {
				return err
			}
		}
		return st.Activity(s.ws, s.epoch)
	})
}

// afterShell finds out what a shell command did to files, those that others hold above all.
func (s *session) afterShell(ctx context.Context, t tree) ([]byte, error) {
	since := time.Now().Add(-time.Duration(s.in.DurationMS)*time.Millisecond - slack).UnixNano()
	var found []roster.ForeignWrite
	err := s.dir.Update(ctx, func(st *roster.State) (err error) {
		found, err = st.ShellRan(s.ws, s.epoch, roster.Shell{Tool: s.in.ToolName, Stamp: t.stamp, Since: since})
		if err != nil {
			return err
		}
		return st.Activity(s.ws, s.epoch)
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return told(s.in.Event, foreignText(found)), nil
}
