//go:build !linux

package doctor

import "fleet/roster/rundir"

// fileSystem can't tell here what the run dir is on.
func fileSystem(*rundir.Dir) Row {
	return Row{"run-fs", Advisory, "not known on this system: keep the repository on a local disk"}
}
