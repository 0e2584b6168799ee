package roster

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An agent whose service takes no more of it for a while is parked: it gets no task
// until the limit is over, and what it had in hand waits without losing an attempt.

// noteLimit begins the note of a parked worker; time, or any activity of its own, lifts it.
const noteLimit = "limit:"

// How long a worker is parked that wasn't told until when.
const (
	overloadWait = time.Minute
	limitWait    = 30 * time.Minute
	longestLimit = 8 * 24 * time.Hour // a weekly limit; what is further away was misread
)

var limits = sync.OnceValue(func() (p struct{ limit, overload, epoch, in, unit, at *regexp.Regexp }) {
	p.limit = regexp.MustCompile(`(?i)(usage|rate|session|weekly|hour)[ _-]?limit|limit reached|hit your limit|exceeded your (current )?quota|RESOURCE_EXHAUSTED|too many requests|(status|error|http|code)[ :=]*429\b`)
	p.overload = regexp.MustCompile(`(?i)overloaded|(status|error|http|code)[ :=]*529\b`)
	p.epoch = regexp.MustCompile(`\|(\d{10})\b`)
	p.in = regexp.MustCompile(`(?i)\b(?:in|after) ((?:\d+(?:\.\d+)? ?(?:days?|d|hours?|h|minutes?|min|m|seconds?|s|ms)\b[ ,]*(?:and )?)+)`)
	p.unit = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(ms|d|h|m|s)`)
	p.at = regexp.MustCompile(`(?i)(?:resets?|again|until)(?: at| on)? (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)?(?: \(([A-Za-z_/+-]+)\))?`)
	return p
})

// LimitReset reads from an agent's error when a limit of its service will be over.
// It is false for an error that isn't about a limit. A time of day is meant in the zone of now, unless the error names another.
func LimitReset(text string, now time.Time) (until time.Time, limited bool) {
	p := limits()
	wait := limitWait
	switch {
	case p.limit.MatchString(text):
	case p.overload.MatchString(text):
		wait = overloadWait
	default:
		return until, false
	}
	until = now.Add(wait)
	if m := p.epoch.FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // ten digits
		until = time.Unix(seconds, 0)
	} else if m := p.in.FindStringSubmatch(text); m != nil {
		until = now.Add(span(m[1]))
	} else if at, ok := clock(p.at.FindStringSubmatch(text), now); ok {
		until = at
	}
	if d := until.Sub(now); d <= 0 || d > longestLimit {
		until = now.Add(wait)
	}
	return until, true
}

// span adds up "3 days 4 hours 5.5s".
func span(text string) (d time.Duration) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond}
	for _, m := range limits().unit.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		d += time.Duration(n * float64(units[strings.ToLower(m[2])]))
	}
	return d
}

// clock is the next time of a day such as "3pm", "Dec 4th, 2026 3:05 PM" or "15:30 (Europe/Berlin)", as its pattern took it apart.
func clock(m []string, now time.Time) (at time.Time, ok bool) {
	if m == nil || m[5] == "" && m[6] == "" {
		return at, false // a bare number is no time
	}
	if zone, err := time.LoadLocation(m[7]); m[7] != "" && err == nil {
		now = now.In(zone)
	}
	hour, _ := strconv.Atoi(m[4])
	minute, _ := strconv.Atoi(m[5])
	if hour > 23 || minute > 59 || m[6] != "" && hour > 12 {
		return at, false
	}
	if m[6] != "" {
		hour %= 12
		if strings.EqualFold(m[6], "pm") {
			hour += 12
		}
	}
	year, month, day := now.Date()
	if m[1] == "" {
		at = time.Date(year, month, day, hour, minute, 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, true
	}
	named, err := time.Parse("Jan", m[1])
	day, _ = strconv.Atoi(m[2])
	if n, err := strconv.Atoi(m[3]); err == nil {
		year = n
	} else if named.Month() < month {
		year++
	}
	return time.Date(year, named.Month(), day, hour, minute, 0, 0, now.Location()), err == nil
}

// limited reads from how an attempt ended that a limit ended it, which is no fault of its task.
func (s *State) limited(t *Task, o Outcome) (until time.Time, limited bool) {
	if o.OK || o.Kind != ErrAgent && o.Kind != ErrInfra {
		return until, false
	}
	until, limited = LimitReset(o.Reason, s.Now.Local())
	if limited && t != nil {
		t.MaxAttempts++ // the attempts go on counting, since a report about an old one must not fit a new one
	}
	return until, limited
}

// park keeps a worker from getting tasks until its limit is over.
func (s *State) park(w *Workstream, until time.Time, reason string) {
	w.ParkedUntil = Time{until.UTC().Truncate(time.Millisecond)}
	s.Note(LimitReached, w.ID, "", map[string]any{"until": w.ParkedUntil, "reason": Title(reason)})
	s.setStatus(w, Blocked, noteLimit+" until "+w.ParkedUntil.String()+": "+Title(reason))
}

// Parked reports whether a limit still keeps the worker from tasks.
func (w *Workstream) Parked() bool {
	return w.Status == Blocked && strings.HasPrefix(w.Notes, noteLimit)
}
