// Package planningtemplate holds the texts that a new run dir starts with: the
// rules for workers, the master's steps, and the forms of a brief, a handoff and the prompts of lanes.
package planningtemplate

import "embed"

// Files are the templates, by their path in the run dir.
//
//go:embed *.md briefs handoffs lanes
var Files embed.FS
