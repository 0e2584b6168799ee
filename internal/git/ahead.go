package git

import (
	"context"
	"slices"
	"strings"
)

// Ahead is what a branch has that another revision hasn't.
type Ahead struct {
	Commits int
	Subject string // of the newest of them
}

// Ahead compares branches with a base, all in one call of git. A branch that is not
// there, or has nothing of its own, is not among the answers.
func (g *Git) Ahead(ctx context.Context, base string, branches []string) (map[string]Ahead, error) {
	args := []string{"log", "--ignore-missing", "--no-show-signature", "--decorate=full", "--format=%H%x00%P%x00%D%x00%s", "^" + base}
	for _, b := range branches {
		args = append(args, BranchRef(b))
	}
	out, err := g.git(ctx, append(args, "--")...)
	if err != nil || out == "" {
		return nil, err
	}
	parents := make(map[string][]string)
	heads := make(map[string]string)
	subjects := make(map[string]string)
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.SplitN(line, "\x00", 4)
		parents[f[0]], subjects[f[0]] = strings.Fields(f[1]), f[3]
		for ref := range strings.SplitSeq(f[2], ", ") {
			heads[strings.TrimPrefix(ref, "HEAD -> ")] = f[0]
		}
	}
	ahead := make(map[string]Ahead)
	for _, b := range branches {
		if head, ok := heads[BranchRef(b)]; ok {
			ahead[b] = Ahead{reach(parents, head), subjects[head]}
		}
	}
	return ahead, nil
}

// reach counts the commits from a head on, as far as their parents are known.
func reach(parents map[string][]string, head string) int {
	var seen []string
	for next := []string{head}; len(next) > 0; next = next[1:] {
		if _, known := parents[next[0]]; known && !slices.Contains(seen, next[0]) {
			seen = append(seen, next[0])
			next = append(next, parents[next[0]]...)
		}
	}
	return len(seen)
}
