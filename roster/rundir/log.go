package rundir

import (
	"os"
	"strings"
)

// logTail is how much of the end of a log is looked at.
const logTail = 4096

// LastSaid is the last line that says something of what a workstream's worker wrote to stderr, "" if there is none.
func (d *Dir) LastSaid(ws string) string {
	f, err := os.Open(d.Log(ws))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	buf := make([]byte, min(info.Size(), logTail))
	n, err := f.ReadAt(buf, info.Size()-int64(len(buf)))
	if ignoreEOF(err) != nil {
		return ""
	}
	said := strings.TrimSpace(string(buf[:n]))
	return strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:])
}
