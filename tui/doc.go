// Package tui is the master screen: one terminal that shows every worker of a run
// and lets a person steer any of them.
//
// It keeps nothing that the run dir lacks, so any number of screens may show one
// run, and closing one changes nothing. What it shows is read by commands beside
// the event loop (load.go), and what it does is a table of actions, each a call of
// package master that the command line makes as well (actions.go): Update only
// moves values, so that neither a slow disk nor a wedged tmux holds up a key.
package tui
