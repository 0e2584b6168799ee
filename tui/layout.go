package tui

// box is a rectangle of the screen, its frame included; h 0 is one that isn't shown.
type box struct{ y, w, h int }

// layout is how the screen is divided. A small one drops panels, the least needed first.
type layout struct {
	alerts             int // lines
	workers, side, log box // side is right of the workers: the detail of the selected one
	bottom             box // right of the log: tasks or waits
	detail, small      bool
}

const (
	minWidth, minHeight = 60, 15
	wide                = 110 // from here on there are two columns
	tall                = 20
)

// layout divides the screen as it is now.
func (s *Screen) layout() layout {
	var l layout
	w, h := s.width, s.height
	if l.small = w < minWidth || h < minHeight; l.small {
		return l
	}
	if s.snap != nil {
		l.alerts = min(len(s.snap.alerts), 1+h/20)
	}
	top := 1 + l.alerts
	room := h - top - 2 // the input line and the legend
	rows := 1
	if s.snap != nil {
		rows = max(1, len(s.snap.rows))
	}
	upper := min(max(rows+2, 5), room-5)
	if w >= wide {
		upper = min(max(upper, room*3/5), room-6)
	} else if h >= tall {
		upper = min(upper, room*3/5)
	}
	l.workers = box{top, w, upper}
	l.log = box{top + upper, w, room - upper}
	if w >= wide {
		l.detail = true
		l.workers.w = w * 11 / 20
		l.side = box{top, w - l.workers.w, upper}
		l.log.w = w * 11 / 20
		l.bottom = box{l.log.y, w - l.log.w, l.log.h}
	}
	return l
}
