package roster

import (
	"fmt"
	"strconv"
)

// ReserveMigration gives a workstream the number after every one that a file of
// names begins with and every one that is reserved already, by whomever: a file
// that exists in another's worktree alone is covered by its reservation. The
// number is as wide as the widest among the files, four digits where there is none.
func (s *State) ReserveMigration(id string, names []string) (number string, err error) {
	w, err := s.Workstream(id)
	if err != nil {
		return "", err
	}
	if w.MigrationNum != "" {
		return "", Dataf("%s has reserved migration %s already", id, w.MigrationNum).Hinted("it is for one file; add the next to another workstream")
	}
	newest, width, err := newestMigration(names)
	if err != nil {
		return "", err
	}
	for other := range rows(s.Workstreams) {
		if other.MigrationNum == "" {
			continue
		}
		n, err := strconv.ParseInt(other.MigrationNum, 10, 64)
		if err != nil {
			return "", Dataf("migration_num of %s is %q: want a number", other.ID, other.MigrationNum)
		}
		newest = max(newest, n)
	}
	w.MigrationNum = fmt.Sprintf("%0*d", width, newest+1)
	s.touch(w)
	s.Note(MigrationReserved, id, w.TaskID, map[string]any{"number": w.MigrationNum})
	return w.MigrationNum, nil
}

// newestMigration is the greatest number that a name begins with, digits before
// an underscore, and the digits of the longest one.
func newestMigration(names []string) (newest int64, width int, err error) {
	for _, name := range names {
		digits := 0
		for digits < len(name) && '0' <= name[digits] && name[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits == len(name) || name[digits] != '_' {
			continue
		}
		n, err := strconv.ParseInt(name[:digits], 10, 64)
		if err != nil || n >= maxMigration {
			return 0, 0, Dataf("the number of %q is too great", name)
		}
		newest, width = max(newest, n), max(width, digits)
	}
	if width == 0 {
		width = 4
	}
	return newest, width, nil
}

// maxMigration leaves room for counting on: a number of this many digits is no number of a migration.
const maxMigration = 1e18
