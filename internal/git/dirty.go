package git

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fleet/roster"
)

const (
	dirtyTimeout = 4 * time.Second // half of what a hook may take, for one asks at the last moment
	dirtyShown   = 100
)

// Dirty tells people and agents what isn't committed in the checkout: a line a
// path, or one line that says why there is none.
func (g *Git) Dirty(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, dirtyTimeout)
	defer cancel()
	if _, err := g.Places(ctx); errors.Is(err, ErrNoRepo) && ctx.Err() == nil {
		return []string{"(not a git repository)"}
	}
	s, err := g.Status(ctx)
	switch {
	case err != nil:
		return []string{"(unknown: " + roster.Flat(err.Error()) + ")"}
	case len(s.Changes) == 0:
		return []string{"(clean)"}
	}
	var lines []string
	for i, c := range s.Changes {
		if i == dirtyShown {
			return append(lines, fmt.Sprintf("(and %d more: git status)", len(s.Changes)-i))
		}
		lines = append(lines, c.String())
	}
	return lines
}

// String is a change in a word and its path.
func (c Change) String() string {
	word := map[Kind]string{Tracked: "changed", Unmerged: "conflict", Untracked: "untracked", Nested: "repository"}[c.Kind]
	return fmt.Sprintf("%-10s %s", word, roster.Printable(c.Path))
}
