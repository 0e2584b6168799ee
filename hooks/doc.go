// Package hooks answers the events of an agent's own hook system: it reads the
// event as JSON from stdin, lets package roster decide, and prints at most one
// JSON object.
//
// The write check is the heart of the product and fails closed: an event that
// can't be read, a state that can't be had in time, a panic, all deny the write
// and say why. Every other event fails open, since losing a note is better than
// stopping an agent. A hook of a worker is called with the workstream's id as its
// argument; without one it serves a session of the operator's, which may write
// whatever no worker holds.
package hooks
