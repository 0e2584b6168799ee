package doctor

import (
	"fmt"
	"syscall"

	"fleet/roster/rundir"
)

// network file systems, by their magic number in statfs(2).
var network = map[int64]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x01021997: "9p", 0x65735546: "fuse", 0x00c36400: "ceph",
}

// fileSystem warns of network file systems, on which flock is a gamble.
func fileSystem(d *rundir.Dir) Row {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.Path, &s); err != nil {
		return Row{"run-fs", Fail, err.Error()}
	}
	if kind, ok := network[s.Type&0xffffffff]; ok {
		return Row{"run-fs", Advisory, kind + ": locks on network file systems are a gamble; keep the repository on a local disk"}
	}
	return Row{"run-fs", OK, fmt.Sprintf("local (type %#x)", s.Type)}
}
