// Package rundir keeps the state of a run in plain files, planning/fleet-<slug>/,
// and is the only package that opens them.
//
// Every change goes through Update: take the lock, finish what a crashed writer
// left, load, apply one transition of package roster, commit. A commit touches
// several files and is still one step: the new files are written beside the old
// ones, .tx.json names them and holds the lines to append, and its rename is the
// moment of the commit. Whoever takes the lock next finishes what was begun, so a
// crash or kill -9 at any point leaves the old state or the new one, never a mix.
//
// The lock is flock on .roster.lock, which is never renamed and never removed.
// Readers who only want to look need no lock: a table is replaced whole, or has
// lines added at its end, as the log has. The last line of a file that is being
// added to has no newline yet; what comes before it is whole.
package rundir
