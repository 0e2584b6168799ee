package roster

import "testing"

func withNumbers(numbers ...string) *State {
	s := &State{Now: now, Leases: LeaseMap{}}
	for i, id := range s.FreeIDs(len(numbers)) {
		s.Workstreams = append(s.Workstreams, Workstream{ID: id, Name: id, Status: Pending, MigrationNum: numbers[i]})
	}
	return s
}

// CFN-59, CFN-60, CFN-61.
func TestReserveMigration(t *testing.T) {
	for _, c := range []struct {
		what     string
		reserved []string // of WS02, WS03, …
		names    []string
		want     string
	}{
		{"nothing", nil, nil, "0001"},
		{"no name with a number", nil, []string{"README.md", "x_01", "_1", "12", "12.sql", "1a_x", " 9_x", "-3_x"}, "0001"},
		{"two digits", nil, []string{"07_x"}, "08"},
		{"leading zeros are no octal", nil, []string{"010_x.sql", "009_y.sql"}, "011"},
		{"four", nil, []string{"0001_a", "0007_g", "0003_c"}, "0008"},
		{"the widest counts", nil, []string{"7_x", "0003_y"}, "0008"},
		{"past the width", nil, []string{"99_x"}, "100"},
		{"a time", nil, []string{"20260131120000_x"}, "20260131120001"},
		{"zero", nil, []string{"0_x"}, "1"},
		{"reserved", []string{"", "0009"}, []string{"0008_x"}, "0010"},
		{"reserved, with none written", []string{"0001"}, nil, "0002"},
		{"reserved with another width", []string{"12"}, []string{"0007_x"}, "0013"},
		{"written since", []string{"0003"}, []string{"0005_x"}, "0006"},
	} {
		s := withNumbers(append([]string{""}, c.reserved...)...)
		got, err := s.ReserveMigration("WS01", c.names)
		must(t, err)
		eq(t, c.what, got, c.want)
		eq(t, c.what+": row", row(t, s, "WS01").MigrationNum, c.want)
		eq(t, c.what+": events", said(s), []string{"migration_reserved WS01 number=" + c.want})
	}
}

// CFN-61.
func TestReserveMigrationRefuses(t *testing.T) {
	for _, c := range []struct {
		what     string
		reserved []string
		names    []string
		ws, says string
	}{
		{"unknown", []string{""}, nil, "WS09", "WS09 is not in the roster"},
		{"a second one", []string{"0004"}, nil, "WS01", "WS01 has reserved migration 0004 already"},
		{"no number in the roster", []string{"", "x"}, nil, "WS01", `migration_num of WS02 is "x": want a number`},
		{"no number at all", []string{""}, []string{"1000000000000000000_x"}, "WS01", `the number of "1000000000000000000_x" is too great`},
		{"nor this", []string{""}, []string{"99999999999999999999_x"}, "WS01", `the number of "99999999999999999999_x" is too great`},
	} {
		s := withNumbers(c.reserved...)
		_, err := s.ReserveMigration(c.ws, c.names)
		if err == nil || KindOf(err) != Data || err.Error() != c.says {
			t.Errorf("%s: %v", c.what, err)
		}
		eq(t, c.what+": row", row(t, s, "WS01").MigrationNum, c.reserved[0])
		eq(t, c.what+": events", said(s), []string(nil))
	}
}
