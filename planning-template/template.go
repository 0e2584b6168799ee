// Package planningtemplate holds the texts that a new run dir starts with: the
// rules for workers, the master's steps, and the forms of a brief and a handoff.
package planningtemplate

import "embed"

// Files are the templates, by their path in the run dir.
//
//go:embed *.md briefs handoffs
var Files embed.FS
