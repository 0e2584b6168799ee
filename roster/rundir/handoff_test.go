package rundir

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fleet/roster"
)

// CFN-16, CFN-83, CFN-84.
func TestWriteHandoff(t *testing.T) {
	d := atWork(t)
	must(t, d.WriteHandoff(t.Context(), "WS01", []string{"changed    a.go", "untracked  b.go"}))
	text := read(t, d.Handoff("WS01"))
	want := handoffBegins + "\nWS01 the task of WS01 WS01 working `api` `a.go` - 20"
	if !strings.HasPrefix(text, want) {
		t.Errorf("handoff %q, want %q…", text, want)
	}
	eq(t, "dirty files", strings.HasSuffix(text, "\n    changed    a.go\n    untracked  b.go\n"+handoffEnds+"\n"), true)
	events := look(t, d).Events
	eq(t, "event", events[len(events)-1], fmt.Sprint(begun+1)+" handoff_written WS01 planning/fleet-test/handoffs/HANDOFF_WS01.md")
	fails(t, d.WriteHandoff(t.Context(), "WS09", nil), roster.Data, "WS09")

	write(t, d.Handoff("WS01"), "what the agent wrote\n")
	must(t, os.Remove(d.file("handoffs/HANDOFF_WS.md")))
	must(t, d.WriteHandoff(t.Context(), "WS01", []string{"(clean)"}))
	text = read(t, d.Handoff("WS01"))
	for _, want := range []string{"\n# Handoff of WS01: the task of WS01\n", "\n| migration_num | - |\n", "\n    (clean)\n", handoffEnds + "\n\nwhat the agent wrote\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the handoff without a template of the run's lacks %q:\n%s", want, text)
		}
	}
	eq(t, "a word without a value", strings.Contains(text, "{{"), false)
}

// CFN-84: what people and agents wrote into a handoff outlives the next one.
func TestMergeHandoff(t *testing.T) {
	part := func(s string) string { return handoffBegins + "\n" + s + "\n" + handoffEnds + "\n" }
	for _, c := range []struct{ name, written, want string }{
		{"none yet", "", part("new")},
		{"nothing of anybody's own", part("old"), part("new")},
		{"below", part("old") + "\nmine\n", part("new") + "\nmine\n"},
		{"above and below", "mine\n" + part("old") + "no newline", "mine\n" + part("new") + "no newline"},
		{"written over by the agent", "# Handoff\nmine\n", part("new") + "\n# Handoff\nmine\n"},
		{"the second mark was taken out", handoffBegins + "\nold\nmine\n", part("new") + "\nold\nmine\n"},
		{"the first mark was taken out", "old\n" + handoffEnds + "\nmine\n", part("new") + "\nold\n" + handoffEnds + "\nmine\n"},
		{"marks the wrong way round", handoffEnds + "\nmine\n" + handoffBegins + "\n", part("new") + "\n" + handoffEnds + "\nmine\n"},
		{"a mark in a sentence", "see " + handoffBegins + "\n" + part("old"), "see " + handoffBegins + "\n" + part("new")},
		{"line ends of another system", handoffBegins + "\r\nold\r\n" + handoffEnds + "\r\nmine\r\n", part("new") + "mine\r\n"},
	} {
		got := mergeHandoff(c.written, "\nnew\n\n")
		eq(t, c.name, got, c.want)
		eq(t, c.name+", again", mergeHandoff(got, "new"), c.want)
	}
}

// CFN-64: a spare stands by for as long as the process that holds its name lives.
func TestSpares(t *testing.T) {
	d := newRun(t)
	for _, name := range []string{Spare("WS01", 10), Spare("WS01", 2), Spare("WS011", 3), "WS01", "WS01-sparex"} {
		let, err := d.HoldLife(name)
		must(t, err)
		defer let()
	}
	let, err := d.HoldLife(Spare("WS01", 1))
	must(t, err)
	eq(t, "standing by", d.Spares("WS01"), []int{1, 2, 10})
	let()
	eq(t, "after one has gone", d.Spares("WS01"), []int{2, 10})
	eq(t, "of another", d.Spares("WS02"), []int(nil))
	eq(t, "a spare of its own", IsSpare(Spare("WS01", 2), "WS01") && !IsSpare(Spare("WS011", 2), "WS01") && !IsSpare("WS01", "WS01"), true)
}
