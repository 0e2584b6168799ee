package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Spare is the name under which the k-th spare of a workstream lives (see
// HoldLife), and which its pane bears.
func Spare(ws string, k int) string { return sparePrefix(ws) + strconv.Itoa(k) }

// IsSpare reports whether a name is that of a spare of a workstream.
func IsSpare(name, ws string) bool { return strings.HasPrefix(name, sparePrefix(ws)) }

func sparePrefix(ws string) string { return ws + "-spare" }

// Spares lists the spares of a workstream that stand by, the lowest first.
func (d *Dir) Spares(ws string) []int {
	entries, err := os.ReadDir(filepath.Dir(d.liveFile(ws)))
	if err != nil {
		return nil
	}
	var standing []int
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), ".lock")
		number, ok := strings.CutPrefix(name, sparePrefix(ws))
		if k, err := strconv.Atoi(number); ok && err == nil && d.Alive(name) {
			standing = append(standing, k)
		}
	}
	slices.Sort(standing)
	return standing
}
