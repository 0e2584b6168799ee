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
	ID         string        `json:"id"`
	Brain      string        `json:"brain"`
	Phase      string        `json:"phase"`       // for people: lanes of one phase are shown together
	PromptFile string        `json:"prompt_file"` // absolute
	Worktree   bool          `json:"worktree"`
	Base       string        `json:"base,omitempty"`     // the branch at which its worktree starts; empty is the run's
	Isolated   bool          `json:"isolated,omitempty"` // it competes with others, and neither takes nor respects leases
	NoGuard    bool          `json:"no_guard,omitempty"` // the prompt is sent as it is
	Schema     string        `json:"schema,omitempty"`   // of the reply: a file, absolute
	Repair     bool          `json:"repair,omitempty"`   // a reply that doesn't fit the schema is asked for once more
	Model      string        `json:"model,omitempty"`
	Effort     string        `json:"effort,omitempty"`
	MaxTurns   int           `json:"max_turns"`
	BudgetUSD  float64       `json:"budget_usd,omitempty"`
	Timeout    time.Duration `json:"timeout,omitempty"` // nanoseconds
	Key        string        `json:"key"`
	Imported   string        `json:"imported_from,omitempty"` // the folder of a workflow that was another program's
}

// Native is the brain of packets that were imported. They can't be asked again.
const Native = "native"

// DefaultMaxTurns bounds a lane that sets no bound.
const DefaultMaxTurns = 100

// DefaultTimeout is for lanes, which are larger than tasks of the graph.
const DefaultTimeout = time.Hour

// repairTurns bound a repair, which only has to write its last reply anew.
const repairTurns = 3

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`) })

// CheckID reports whether id can name a lane.
func CheckID(id string) error {
	if !idPattern().MatchString(id) || strings.HasSuffix(id, repairSuffix) {
		return roster.Usagef("lane id %.70q: want a-z, 0-9 and -, at most 63, and no %s at the end", id, repairSuffix)
	}
	return nil
}

// keyVersion changes with what goes into a key.
const keyVersion = "v2:"

// KeyOf is the key of a packet: prompt is as sent, schema the content of its file. The id is part of it,
// since what a lane has changed is on a branch of its own. The phase is left out on purpose, and so is
// where files are: neither changes what an agent answers.
func (p *Packet) KeyOf(prompt, schema []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", p.ID, p.Brain, prompt)
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

const repairSuffix = "-repair"

// Repaired is the packet that asks the agent of p once more for a reply that was not valid. It is about that alone.
func (p *Packet) Repaired() Packet {
	r := *p
	r.ID, r.MaxTurns, r.NoGuard, r.Repair = p.ID+repairSuffix, repairTurns, true, false
	return r
}

// Owner is the id of the lane that a packet belongs to: its own, or that of the lane whose reply it repairs.
func Owner(id string) string { return strings.TrimSuffix(id, repairSuffix) }
