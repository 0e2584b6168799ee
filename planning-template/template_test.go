package planningtemplate

import (
	"strings"
	"testing"
)

// CFN-108, CFN-109, CFN-110: the files of a run have a section, or a step, for each thing that upstream's have. Those
// about engines and data access are there under fleet's words, agents and databases.
func TestTemplatesAreWhole(t *testing.T) {
	for file, parts := range map[string][]string{
		"COORDINATION.md": {
			"## Messages are thin, files are fat", "## Who writes what", "A **claim** reserves", "## Git", "`fleet commit WS01",
			"## Migrations", "## Handing over", "before your context is compacted", "## Status words", "## Saying how it goes",
			"The master watches", "## Worktrees", "## Agents", "## Databases", "## You are a leaf",
		},
		"RUNBOOK.md": {
			"`fleet init <slug>`", "**Register**", "**Write the brief**", "**Start**", "--dry-run", "**Look**", "`fleet watch`",
			"`fleet db WS01`", "`fleet migrate-next WS01", "`fleet land WS01", "**Recover**", "**Hand over**", "--to spare", "**End**", "`fleet db-clean`",
		},
		"briefs/BRIEF_WS.md": {
			"You are workstream {{ws}}", "## Task\n{{task}}", "## Files\n{{claims}}", "## Commands", "## Done when\n- [ ] ",
			"`fleet commit {{ws}}", "`fleet heartbeat {{ws}}", "`fleet block {{ws}} \"…\"` asks for a person; then end your turn", "`fleet migrate-next {{ws}}", "You are a leaf",
		},
	} {
		text, err := Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s says nothing of %q", file, part)
			}
		}
	}
}
