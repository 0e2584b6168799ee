package rundir

import (
	"os"

	"fleet/roster"
)

// Stamp describes a file as it is now (see roster.FileStamp), and tells when it was written (Unix nanoseconds, 0 if it is gone).
func Stamp(path string) (stamp string, modNanos int64) {
	info, err := os.Stat(path)
	if err != nil {
		return roster.FileStamp(0, 0, false), 0
	}
	modNanos = info.ModTime().UnixNano()
	return roster.FileStamp(modNanos, info.Size(), true), modNanos
}
