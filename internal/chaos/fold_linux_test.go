package chaos

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"

	"fleet/roster"
)

// fold is a run as its events alone tell it.
type fold struct {
	last      int64
	tasks     map[string]taskRow
	workers   map[string]workerRow
	held      map[string]*span
	spans     map[string][]*span // of each path, in their order
	succeeded map[string]int
	denied    map[roster.DenyReason]int
	count     map[roster.EventType]int
}

type taskRow struct {
	Status   roster.TaskStatus
	WS       string
	Attempts int
}

type workerRow struct {
	Status roster.Status
	Epoch  int
	Task   string
}

// span is a lease from its event to that of its release.
type span struct {
	WS, Task string
	Epoch    int
	at       int    // among those of its path
	from, to int64  // events
	why      string // it ended
	wrote    bool   // a write in it was noted
}

func newFold() *fold {
	return &fold{
		tasks: map[string]taskRow{}, workers: map[string]workerRow{}, held: map[string]*span{},
		spans: map[string][]*span{}, succeeded: map[string]int{},
		denied: map[roster.DenyReason]int{}, count: map[roster.EventType]int{},
	}
}

func text(e roster.Event, key string) string { v, _ := e.Data[key].(string); return v }

func number(e roster.Event, key string) int { v, _ := e.Data[key].(float64); return int(v) }

// take applies one event, and says what is impossible about it.
func (f *fold) take(e roster.Event) error {
	if e.ID != f.last+1 {
		return fmt.Errorf("event %d comes after %d", e.ID, f.last)
	}
	f.last = e.ID
	f.count[e.Type]++
	switch e.Type {
	case roster.WorkstreamAdded, roster.WorkerSpawned, roster.WorkerExited, roster.StatusChanged:
		f.takeWorker(e)
	case roster.TaskCreated, roster.TaskAssignedTo, roster.TaskStarted, roster.TaskRequeued, roster.TaskSucceeded, roster.TaskFailed:
		return f.takeTask(e)
	case roster.LeaseAcquired, roster.LeaseReleased, roster.FileChanged:
		return f.takeLease(e)
	case roster.LeaseDenied:
		f.denied[roster.DenyReason(text(e, "reason"))]++
	case roster.TaskIsBlocked, roster.TaskIsCancelled:
		return fmt.Errorf("event %d: nothing fails or is cancelled here, and yet %+v", e.ID, e)
	}
	return nil
}

func (f *fold) takeWorker(e roster.Event) {
	w := f.workers[e.WS]
	switch e.Type {
	case roster.WorkstreamAdded:
		w.Status = roster.Pending
	case roster.WorkerSpawned:
		w.Epoch = number(e, "epoch")
	case roster.WorkerExited:
		w.Epoch = number(e, "epoch") + 1
	default:
		w.Status = roster.Status(text(e, "to"))
	}
	f.workers[e.WS] = w
}

func (f *fold) takeTask(e roster.Event) error {
	t, w := f.tasks[e.Task], f.workers[e.WS]
	if over := t.Status == roster.TaskDone; over {
		return fmt.Errorf("event %d: %s has succeeded, and yet %s", e.ID, e.Task, e.Type)
	}
	w.Task = ""
	switch e.Type {
	case roster.TaskCreated:
		t.Status = roster.TaskPending
	case roster.TaskAssignedTo:
		if t.Status != roster.TaskPending || f.workers[e.WS].Task != "" {
			return fmt.Errorf("event %d: %s is %+v, %s is %+v, and yet it is assigned", e.ID, e.Task, t, e.WS, f.workers[e.WS])
		}
		t.Status, t.WS, t.Attempts, w.Task = roster.TaskAssigned, e.WS, number(e, "attempt"), e.Task
	case roster.TaskStarted:
		t.Status, w.Task = roster.TaskRunning, e.Task
	case roster.TaskRequeued:
		t.Status = roster.TaskPending
		if text(e, "error_kind") == "" { // it was stopped, which doesn't count
			t.Attempts--
		}
	case roster.TaskSucceeded:
		t.Status = roster.TaskDone
		f.succeeded[e.Task]++
	default:
		return fmt.Errorf("event %d: %s has failed: %v", e.ID, e.Task, e.Data)
	}
	f.tasks[e.Task] = t
	if e.WS != "" {
		f.workers[e.WS] = w
	}
	return nil
}

func (f *fold) takeLease(e roster.Event) error {
	path := text(e, "path")
	l := f.held[path]
	switch e.Type {
	case roster.LeaseAcquired:
		if l != nil {
			return fmt.Errorf("event %d gives %s to %s, and %+v holds it", e.ID, path, e.WS, l)
		}
		l = &span{WS: e.WS, Task: e.Task, Epoch: f.workers[e.WS].Epoch, at: len(f.spans[path]), from: e.ID}
		f.held[path] = l
		f.spans[path] = append(f.spans[path], l)
	case roster.LeaseReleased:
		if l == nil || l.WS != e.WS {
			return fmt.Errorf("event %d takes %s from %s, and %+v holds it", e.ID, path, e.WS, l)
		}
		l.to, l.why = e.ID, text(e, "why")
		delete(f.held, path)
	default:
		if l != nil && l.WS == e.WS {
			l.wrote = true
		}
	}
	return nil
}

// differs says where the tables are not what the events make of them, and
// which lease has a holder that does not work on its task any more.
func (f *fold) differs(s *roster.State) error {
	tasks, workers, leases := map[string]taskRow{}, map[string]workerRow{}, map[string]span{}
	for _, t := range s.Tasks {
		tasks[t.ID] = taskRow{t.Status, t.Workstream, t.Attempts}
	}
	for _, w := range s.Workstreams {
		workers[w.ID] = workerRow{w.Status, w.Epoch, w.TaskID}
	}
	for l := range s.Leases.All() {
		if _, twice := leases[l.Path]; twice {
			return fmt.Errorf("%s has two leases", l.Path)
		}
		leases[l.Path] = span{WS: l.WS, Task: l.Task, Epoch: l.Epoch}
		if w := workers[l.WS]; l.Task == "" || w.Task != l.Task || w.Epoch != l.Epoch || !inHand(tasks[l.Task].Status) {
			return fmt.Errorf("the lease %+v has outlived its holder, which is %+v; the task is %+v", l, w, tasks[l.Task])
		}
	}
	held := map[string]span{}
	for path, l := range f.held {
		held[path] = span{WS: l.WS, Task: l.Task, Epoch: l.Epoch}
	}
	if maps.Equal(f.tasks, tasks) && maps.Equal(f.workers, workers) && maps.Equal(held, leases) {
		return nil
	}
	diff := cmp.Diff(f.tasks, tasks) + cmp.Diff(f.workers, workers) + cmp.Diff(held, leases, cmp.AllowUnexported(span{}))
	return fmt.Errorf("after event %d, what the events say (-) is not what the tables say (+):\n%s", f.last, diff)
}

func inHand(s roster.TaskStatus) bool { return s == roster.TaskAssigned || s == roster.TaskRunning }

// ended says what is wrong with a run that has been drained.
func (f *fold) ended(tasks int) error {
	for _, id := range slices.Sorted(maps.Keys(f.tasks)) {
		if t := f.tasks[id]; t.Status != roster.TaskDone || f.succeeded[id] != 1 {
			return fmt.Errorf("%s is %+v and has succeeded %d times", id, t, f.succeeded[id])
		}
	}
	if len(f.tasks) != tasks || len(f.held) > 0 {
		return fmt.Errorf("%d tasks of %d, and leases on %v", len(f.tasks), tasks, slices.Collect(maps.Keys(f.held)))
	}
	return nil
}
