package planningtemplate

import (
	"strings"
	"testing"
)

// CFN-17, CFN-18, CFN-108, CFN-109, CFN-110: the files of a run have a section, or a step, for each thing that upstream's have. Those
// about engines and data access are there under fleet's words, agents and databases. FF-4 to FF-14, FF-29, FF-94, FF-95, FF-98, FF-99, FF-101: how to
// orchestrate is said in the master's steps; FF-100's caps of another program have no counterpart but --max-per-provider.
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
			"## Or fan out lanes", "**Preflight**: `fleet doctor --live`", "touch different files", "`FINAL REPLY: ", "No dates or random values", "Raise the effort before the model",
			"A weak verifier is worse than none", "don't poll", "Agents never talk to each other", "another provider's model", "bounded, sampled, skipped", "no bill", "subscription",
		},
		"lanes/GUARD.md": {
			"without a screen", "Use relative paths, and write nothing outside", "Read a file before you change it", "Change only the files", "Commit what you have done", "Never push", "Your last reply is the result",
		},
		"lanes/GUARD_NO_COMMIT.md": {"Use relative paths", "Do not commit", "FILES_CHANGED", "Your last reply is the result"},
		"lanes/REPAIR.md":          {"{{why}}", "{{reply}}", "corrected JSON value alone"},
		"lanes/JUDGE.md":           {"{{task}}", "{{candidates}}"},
		"lanes/REFUTE.md":          {"{{task}}", "{{reply}}", "{{diff}}", "not sure that the work holds, count it as refuted"},
		"lanes/ROUND.md":           {"{{task}}", "{{seen}}"},
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
