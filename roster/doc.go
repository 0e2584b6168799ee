// Package roster holds the nouns of a fleet and every rule about them.
//
// A State is a snapshot of one run: who (workstreams), what (tasks) and where
// (leases). Each rule is a method that moves the State from one sound snapshot
// to the next and notes what happened as events. The package reads no clock,
// opens no file and starts no program: State.Now is the time, and whether a
// worker is alive is asked through a function that the caller hands in. So a
// rule is tested with a literal State, and commands, hooks and screens can
// share it under one lock (package roster/rundir).
//
// What it guarantees: a file is leased to at most one workstream; a request by
// an earlier incarnation of a worker changes nothing; leases end in the same
// transition that ends their task or their worker.
// What it doesn't: a lease is mutual exclusion, not permission. A write that
// was allowed a moment before its worker was declared dead can't be recalled.
package roster
