package tui

import (
	"slices"
	"strings"

	"fleet/internal/progress"
	"fleet/roster"
)

// eventLog is a stretch of the events file, and which of it is shown. The stretch
// has no holes; it grows at its end as events come, and at its start as somebody
// scrolls back, so that a log of any length opens at once.
type eventLog struct {
	events []told
	full   bool   // the first event of all is in it
	paging bool   // older ones are being read
	ws     string // only of this workstream
	query  string // only with this text, in lower case
	quiet  bool   // without the details
	back   int    // shown lines below the lowest one on the screen; 0 follows the end
}

// told is an event with what it says, which is asked at every frame and found out once.
type told struct {
	roster.Event
	what string
	tone progress.Tone
}

func say(e roster.Event) told {
	what, tone := progress.Say(e)
	return told{e, roster.Flat(what), tone}
}

func (l *eventLog) last() int64 {
	if len(l.events) == 0 {
		return 0
	}
	return l.events[len(l.events)-1].ID
}

func (l *eventLog) first() int64 {
	if len(l.events) == 0 {
		return 0
	}
	return l.events[0].ID
}

// add takes the events that have come since the last one.
func (l *eventLog) add(events []told) {
	if len(l.events) == 0 && len(events) > 0 {
		l.full = events[0].ID == 1
	}
	for _, e := range events {
		if e.ID <= l.last() {
			continue
		}
		l.events = append(l.events, e)
		if l.back > 0 && l.shows(e) {
			l.back++ // what somebody reads stays where it is
		}
	}
}

// trim forgets the oldest events once there are many, if the window is full without them.
func (l *eventLog) trim(height int) {
	if l.back > 0 || len(l.events) <= logMost {
		return
	}
	less := *l
	less.events, less.full = slices.Clone(l.events[len(l.events)-logMost/2:]), false
	if _, short := less.lines(height); !short {
		*l = less
	}
}

// addOlder takes the page before the first event.
func (l *eventLog) addOlder(m pageMsg) {
	l.paging = false
	if len(m.events) > 0 && m.events[len(m.events)-1].ID < l.first() {
		l.events = append(m.events, l.events...)
	}
	l.full = m.from == 0
}

func (l *eventLog) shows(e told) bool {
	if l.ws != "" && e.WS != l.ws || l.quiet && e.tone == progress.Quiet {
		return false
	}
	return l.query == "" || strings.Contains(strings.ToLower(e.WS+" "+e.Task+" "+string(e.Type)+" "+e.what), l.query)
}

// lines are the events that stand in a window of so many lines, oldest first.
// short says that there is room for more than the stretch has.
func (l *eventLog) lines(height int) (shown []told, short bool) {
	skip := l.back
	for i := len(l.events) - 1; i >= 0 && len(shown) < height; i-- {
		if !l.shows(l.events[i]) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		shown = append(shown, l.events[i])
	}
	slices.Reverse(shown)
	return shown, len(shown) < height && !l.full
}

// scroll moves by so many lines, up being more than 0, and stops at both ends.
func (l *eventLog) scroll(by, height int) {
	l.back = max(0, l.back+by)
	matching := 0
	for _, e := range l.events {
		if l.shows(e) {
			matching++
		}
	}
	l.back = min(l.back, max(0, matching-height))
}
