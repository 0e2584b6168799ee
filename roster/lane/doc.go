// Package lane has the rules of lanes: a packet is a prompt for one agent, its key
// is a hash of all that its result depends on, and a journal remembers what each key
// has brought, so that asking again for what has not changed costs nothing.
//
// Like package roster it is pure: the files are roster/rundir's, and the agents are
// internal/master's.
package lane
