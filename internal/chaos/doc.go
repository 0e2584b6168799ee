// Package chaos proves the promises of a run under SIGKILL: workers, wrappers,
// hooks and "fleet run" itself are killed at random moments while a graph of
// tasks drains over real processes and real tmux panes. Its tests look for their
// victims in /proc, so they are for Linux alone.
package chaos
