package tui

import (
	"strings"

	"fleet/roster"
)

// treeTask is a task at its place in the graph, which is shown as an indented list.
type treeTask struct {
	task  *roster.TaskView
	depth int // the longest way from a task that depends on nothing
}

// tree lists the tasks, each after what it depends on and indented by how deep that goes.
func (s *Screen) tree() []treeTask {
	at := make(map[string]*roster.TaskView, len(s.snap.tasks))
	below := make(map[string][]*roster.TaskView)
	waiting := make(map[string]int)
	depth := make(map[string]int)
	for i := range s.snap.tasks {
		at[s.snap.tasks[i].ID] = &s.snap.tasks[i]
	}
	var next []*roster.TaskView
	for i := range s.snap.tasks {
		t := &s.snap.tasks[i]
		for _, d := range t.DependsOn {
			if at[d] != nil {
				waiting[t.ID]++
				below[d] = append(below[d], t)
			}
		}
		if waiting[t.ID] == 0 {
			next = append(next, t)
		}
	}
	var list []treeTask
	for len(next) > 0 {
		t := next[0]
		next = next[1:]
		list = append(list, treeTask{t, depth[t.ID]})
		var freed []*roster.TaskView
		for _, d := range below[t.ID] {
			depth[d.ID] = max(depth[d.ID], depth[t.ID]+1)
			if waiting[d.ID]--; waiting[d.ID] == 0 {
				freed = append(freed, d)
			}
		}
		next = append(freed, next...)
	}
	return list
}

// taskLines is the graph, around the selected task.
func (s *Screen) taskLines(h, w int) []string {
	tree := s.tree()
	at := 0
	for i, t := range tree {
		if t.task.ID == s.task {
			at = i
		}
	}
	s.top[onTasks] = window(s.top[onTasks], at, h, len(tree))
	var lines []string
	for i := s.top[onTasks]; i < len(tree) && len(lines) < h; i++ {
		lines = append(lines, s.taskLine(tree[i], w))
	}
	if len(lines) == 0 {
		lines = append(lines, s.theme.dim.Render("no tasks yet: a adds one"))
	}
	return lines
}

func (s *Screen) taskLine(t treeTask, w int) string {
	icon, style := "·", s.theme.dim
	switch t.task.Status {
	case roster.TaskAssigned, roster.TaskRunning:
		icon, style = "●", s.theme.busy
	case roster.TaskDone:
		icon, style = "✓", s.theme.good
	case roster.TaskGivenUp:
		icon, style = "!", s.theme.bad
	case roster.TaskBlockedUpstream, roster.TaskCancelled:
		icon, style = "×", s.theme.wait
	case roster.TaskPending:
		if t.task.Runnable {
			icon = "○"
		}
	}
	why := t.task.Workstream
	switch {
	case t.task.Status == roster.TaskPending && t.task.BlockedOn != "":
		why = "waits for " + t.task.BlockedOn
	case t.task.Status == roster.TaskGivenUp:
		why = string(t.task.ErrorKind)
	case len(t.task.Unmet) > 0 && !t.task.Terminal():
		why = "after " + strings.Join(t.task.Unmet, ", ")
	}
	indent := strings.Repeat("  ", min(t.depth, 8))
	whyW := min(24, w/3)
	text := cell(indent+icon+" "+t.task.ID+" "+roster.Flat(t.task.Title), w-whyW-1) + " "
	if s.focus == onTasks && t.task.ID == s.task {
		return s.theme.selected.Render(text + cell(roster.Flat(why), whyW))
	}
	return style.Render(text) + s.theme.dim.Render(cell(roster.Flat(why), whyW))
}
