package roster

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// CleanClaim brings a path, directory or glob into the form in which claims are
// compared: relative to the repository, no leading ./ and no trailing /.
func CleanClaim(p string) (string, error) {
	p = strings.TrimSpace(p)
	switch {
	case p == "":
		return "", Usagef("a claim is empty")
	case Flat(p) != p:
		return "", Dataf("claim %q: control characters", p)
	case path.IsAbs(p):
		return "", Dataf("claim %q: want a path relative to the repository", p)
	case !doublestar.ValidatePattern(p):
		return "", Dataf("claim %q: malformed glob", p)
	}
	c := path.Clean(p)
	if c == ".." || strings.HasPrefix(c, "../") {
		return "", Dataf("claim %q: outside the repository", p)
	}
	return c, nil
}

// scope is the directory or file that a claim reaches at most: the literal part
// before its first component with a wildcard. "." is the whole repository.
func scope(claim string) string {
	i := strings.IndexAny(claim, wildcards)
	if i < 0 {
		return claim
	}
	if i = strings.LastIndexByte(claim[:i], '/'); i < 0 {
		return "."
	}
	return claim[:i]
}

const wildcards = "*?[{"

// Overlap reports whether two claims could cover one file. It errs on the side of yes.
func Overlap(a, b string) bool {
	a, b = scope(a), scope(b)
	return under(a, b) || under(b, a)
}

// Covers reports whether a claim covers a file: the same path, a directory above it, or a glob that matches.
// A * in a glob also crosses slashes.
func Covers(claim, file string) bool {
	if under(claim, file) {
		return true
	}
	if !strings.ContainsAny(claim, wildcards) {
		return false
	}
	if ok, _ := doublestar.Match(claim, file); ok {
		return true
	}
	flat := strings.NewReplacer("/", "\x00") // no separator is left that a * would stop at
	ok, _ := doublestar.Match(flat.Replace(claim), flat.Replace(file))
	return ok
}

// under reports whether p is dir, or lies below it.
func under(dir, p string) bool {
	return dir == "." || p == dir || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// Claim reserves paths for a workstream, all or none.
// A path that a live workstream other than id claims, or holds a lease under, is refused.
func (s *State) Claim(id string, paths []string) error {
	w, err := s.Workstream(id)
	if err != nil {
		return err
	}
	added, err := s.newClaims(w, paths)
	if err != nil || len(added) == 0 {
		return err
	}
	s.addClaims(w, added)
	return nil
}

// newClaims are those of some paths that w doesn't claim yet. All of them may be claimed.
func (s *State) newClaims(w *Workstream, paths []string) ([]string, error) {
	var added []string
	for _, p := range paths {
		c, err := CleanClaim(p)
		if err != nil {
			return nil, err
		}
		if slices.Contains(w.Claims, c) || slices.Contains(added, c) {
			continue
		}
		if err := s.claimable(w, c); err != nil {
			return nil, err
		}
		added = append(added, c)
	}
	return added, nil
}

func (s *State) addClaims(w *Workstream, added []string) {
	w.Claims = slices.Concat(w.Claims, added)
	s.touch(w)
	s.Note(ClaimAdded, w.ID, w.TaskID, map[string]any{"paths": added})
}

func (s *State) claimable(w *Workstream, c string) error {
	if other, theirs := s.claimant(w, func(theirs string) bool { return Overlap(c, theirs) }); other != nil {
		return Dataf("claim %q overlaps %q of %s (%s)", c, theirs, other.ID, other.Name).
			Hinted("choose a narrower path, or: fleet release %s %s", other.ID, theirs)
	}
	for l := range s.Leases.All() {
		if l.WS != w.ID && Covers(c, l.Path) {
			return Dataf("claim %q covers %q, which %s is writing", c, l.Path, l.WS).
				Hinted("wait for its task to end, or: fleet release %s %s", l.WS, l.Path)
		}
	}
	return nil
}

// claimant finds a live workstream other than w, and that claim of it which meets a condition.
func (s *State) claimant(w *Workstream, meets func(claim string) bool) (other *Workstream, claim string) {
	for other := range rows(s.Workstreams) {
		if other.ID == w.ID || !other.Live() {
			continue
		}
		if j := slices.IndexFunc(other.Claims, meets); j >= 0 {
			return other, other.Claims[j]
		}
	}
	return nil, ""
}

// yieldClaims gives up what others have claimed while w was not live, and its own claims didn't count.
func (s *State) yieldClaims(w *Workstream) {
	var kept, lost []string
	for _, c := range w.Claims {
		if other, _ := s.claimant(w, func(theirs string) bool { return Overlap(c, theirs) }); other != nil {
			lost = append(lost, c)
		} else {
			kept = append(kept, c)
		}
	}
	if len(lost) > 0 {
		w.Claims = kept
		s.Note(ClaimReleased, w.ID, w.TaskID, map[string]any{"paths": lost, "why": "claimed by others meanwhile"})
	}
}

// Release gives up claims and leases of a workstream: those named, or all of them when paths is empty.
// It returns what was given up.
func (s *State) Release(id string, paths []string) (claims, leases []string, err error) {
	w, err := s.Workstream(id)
	if err != nil {
		return nil, nil, err
	}
	if len(paths) == 0 {
		claims = w.Claims
		leases = s.releaseLeases(w, "released")
	}
	for _, p := range paths {
		c, err := CleanClaim(p)
		if err != nil {
			return nil, nil, err
		}
		held, claimed := s.holds(w, c), slices.Contains(w.Claims, c)
		if !held && !claimed {
			return nil, nil, Dataf("%s neither claims nor holds %q", id, c).Hinted("see: fleet leases; fleet status --tsv")
		}
		if held && !slices.Contains(leases, c) {
			leases = append(leases, c)
		}
		if claimed && !slices.Contains(claims, c) {
			claims = append(claims, c)
		}
	}
	if len(paths) > 0 {
		s.dropLeases(w, leases, "released")
	}
	if len(claims) > 0 {
		w.Claims = slices.DeleteFunc(slices.Clone(w.Claims), func(c string) bool { return slices.Contains(claims, c) })
		s.Note(ClaimReleased, id, w.TaskID, map[string]any{"paths": claims})
	}
	s.touch(w)
	return claims, leases, nil
}
