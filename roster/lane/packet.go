package lane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"fleet/roster"
)

// Packet is what one lane is asked, and how.
type Packet struct {
	ID         string   `json:"id"`
	Brain      string   `json:"brain"`
	Phase      string   `json:"phase"`       // for people: lanes of one phase are shown together
	PromptFile string   `json:"prompt_file"` // absolute
	Worktree   bool     `json:"worktree"`
	Base       string   `json:"base,omitempty"`     // the branch at which its worktree starts; empty is the run's
	Isolated   bool     `json:"isolated,omitempty"` // it competes with others, and neither takes nor respects leases
	NoGuard    bool     `json:"no_guard,omitempty"` // the prompt is sent as it is
	Schema     string   `json:"schema,omitempty"`   // of the reply: a file, absolute
	Repair     bool     `json:"repair,omitempty"`   // a reply that doesn't fit the schema is asked for once more
	Model      string   `json:"model,omitempty"`
	Effort     string   `json:"effort,omitempty"`
	MaxTurns   int      `json:"max_turns"`
	BudgetUSD  float64  `json:"budget_usd,omitempty"`
	Timeout    Duration `json:"timeout,omitzero"`
	Key        string   `json:"key"`
	Imported   string   `json:"imported_from,omitempty"` // the folder of a workflow that was another program's

	Text []byte `json:"-"` // the prompt, where that has no file yet
}

// Duration is a time span that JSON writes as people do: "1h30m".
type Duration struct{ time.Duration }

// MarshalText writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// Native is the brain of packets that were imported. They can't be asked again.
const Native = "native"

// Bounds of a lane that sets none. Lanes are larger than tasks of the graph.
const (
	DefaultMaxTurns = 100
	DefaultTimeout  = time.Hour
)

// repairTurns bound a repair, which only has to write its last reply anew.
const repairTurns = 3

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`) })

// Check says what is wrong with a packet by itself.
func (p *Packet) Check() error {
	switch {
	case !idPattern().MatchString(p.ID) || roster.CheckID(strings.ToUpper(p.ID)) == nil: // ws01 is what WS01 is called
		return roster.Usagef("lane id %.70q: want a-z, 0-9 and -, at most 63, and not as a workstream is called", p.ID)
	case p.Brain == Native && p.Imported == "":
		return roster.Usagef("%s is no agent that can be asked", Native)
	case p.Isolated && !p.Worktree:
		return roster.Usagef("an isolated lane needs a worktree: in the main checkout it would write what others hold")
	case p.MaxTurns < 0 || p.Timeout.Duration < 0 || p.BudgetUSD < 0:
		return roster.Usagef("a bound of a lane can't be less than 0")
	case p.Repair && p.Schema == "":
		return roster.Usagef("a repair is of a reply that doesn't fit a schema, and there is none")
	}
	return nil
}

// keyVersion changes with what goes into a key.
const keyVersion = "v2:"

// KeyOf is the key of a packet: agent is the brain with all that its profile says, prompt is as sent, schema the
// content of its file. The id is part of it, since what a lane has changed is on a branch of its own. The phase
// is left out on purpose, and so is where files are: neither changes what an agent answers.
func (p *Packet) KeyOf(agent string, prompt, schema []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", p.ID, agent, prompt)
	fmt.Fprintf(h, "turns=%d|wt=%t|schema=%x|effort=%s|model=%s|base=%s", p.MaxTurns, p.Worktree, sha256.Sum256(schema), p.Effort, p.Model, p.Base)
	return keyVersion + hex.EncodeToString(h.Sum(nil))
}

// Sent is the prompt of a packet as it is sent: the guard, the packet's own text, and the schema
// for an agent that can't be given one in another way.
func Sent(guard, packet, schema []byte) []byte {
	parts := [][]byte{}
	for _, part := range [][]byte{guard, packet} {
		if part = bytes.TrimSpace(part); len(part) > 0 {
			parts = append(parts, part)
		}
	}
	if len(schema) > 0 {
		parts = append(parts, fmt.Appendf(nil, "Your final reply is one JSON value that fits this JSON Schema, and nothing else:\n%s", bytes.TrimSpace(schema)))
	}
	return append(bytes.Join(parts, []byte("\n\n")), '\n')
}

// Repaired is the packet that asks the agent of p once more for a reply that was not valid, and for nothing else.
func (p *Packet) Repaired(prompt []byte) Packet {
	r := *p
	r.MaxTurns, r.NoGuard, r.Repair, r.Text = repairTurns, true, false, prompt
	return r
}
