// Package e2e proves the main job on the real Claude Code, interactive in real
// tmux panes and headless, offline against a scripted Messages API. Its tests
// carry the build tag e2e; "make e2e" installs the pinned agent and runs them.
package e2e
