package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tx is a commit in progress. Once .tx.json bears it, it will be carried out in
// full, by this process or by the next one that takes the lock.
type tx struct {
	// Replace names files whose new content lies beside them, as .<name>.new.
	Replace []string `json:"replace,omitempty"`
	Append  []tail   `json:"append,omitempty"`
}

// tail is text that a file has from an offset on. Writing it twice is writing it once.
type tail struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// step is called at each point where a crash would leave something half done.
// Tests kill the process there.
var step = func(string) {}

// fsync makes what was written to a file survive a power cut. Tests see its calls.
var fsync = (*os.File).Sync

// commit carries out a change of several files as one step. content has the whole
// new text of those in replace; durable makes the change survive a power cut.
// After an error nothing has changed, unless it says otherwise.
func (d *Dir) commit(t tx, content map[string]string, durable bool) error {
	err := d.decide(t, content, durable)
	if err == nil {
		// Room may run out here, and nothing is visible yet under the lock.
		err = d.appendAll(t, durable)
	}
	if err != nil {
		if undone := d.takeBack(t); undone != nil {
			return fmt.Errorf("%w; and it could not be taken back, so the next command finishes it: %w", err, undone)
		}
		return fmt.Errorf("nothing changed: %w", err)
	}
	if err := d.finish(t, durable); err != nil {
		return fmt.Errorf("committed, but not in place yet, which is for the next command to do: %w", err)
	}
	return nil
}

// decide writes down what is to be done. It is done, come what may, once .tx.json is there.
func (d *Dir) decide(t tx, content map[string]string, durable bool) error {
	for _, name := range t.Replace {
		// A power cut may undo the change of a note, but must not leave an empty file in the place of who and what.
		if err := d.writeNew(name, content[name], durable || name != leasesFile); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	step("files written")
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := d.writeNew(txFile, string(text), durable); err != nil {
		return fmt.Errorf("write %s: %w", txFile, err)
	}
	step("commit written")
	if err := os.Rename(d.newName(txFile), d.file(txFile)); err != nil {
		return err
	}
	if durable {
		err = syncPath(d.Path)
	}
	step("committed")
	return err
}

func (d *Dir) appendAll(t tx, durable bool) error {
	for _, a := range t.Append {
		if err := d.append(a, durable); err != nil {
			return fmt.Errorf("append to %s: %w", a.File, err)
		}
		step("appended " + a.File)
	}
	return nil
}

// takeBack undoes a commit that has failed before any file was replaced.
func (d *Dir) takeBack(t tx) error {
	step("failed")
	for _, a := range t.Append {
		info, err := os.Stat(d.file(a.File))
		if err == nil && info.Size() > a.Offset {
			err = os.Truncate(d.file(a.File), a.Offset)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	step("tails taken back")
	if err := os.Remove(d.file(txFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range append(t.Replace, txFile) {
		_ = os.Remove(d.newName(name)) // one that stays is written over by the next commit
	}
	return nil
}

// finish puts the new files in place and ends the commit.
func (d *Dir) finish(t tx, durable bool) error {
	for _, name := range t.Replace {
		// One that is gone was put in place before a crash.
		if err := os.Rename(d.newName(name), d.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		step("replaced " + name)
	}
	if durable {
		if err := syncPath(d.Path); err != nil {
			return err
		}
	}
	return os.Remove(d.file(txFile))
}

// recover carries out what a crashed process had committed. The caller holds the lock.
func (d *Dir) recover() error {
	text, err := os.ReadFile(d.file(txFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var t tx
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("%s can't be read, so the commit in it can't be finished: %w", txFile, err)
	}
	if err := d.appendAll(t, true); err != nil {
		return fmt.Errorf("finish %s: %w", txFile, err)
	}
	return d.finish(t, true)
}

// interrupted reports whether a commit waits to be finished.
func (d *Dir) interrupted() bool {
	_, err := os.Lstat(d.file(txFile))
	return err == nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.Path, name) }

func (d *Dir) newName(name string) string {
	return d.file("." + strings.TrimPrefix(name, ".") + ".new")
}

// writeNew writes the content that a file is to have beside it.
func (d *Dir) writeNew(name, text string, durable bool) error {
	f, err := os.OpenFile(d.newName(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && durable {
		err = fsync(f)
	}
	return errors.Join(err, f.Close())
}

func (d *Dir) append(a tail, durable bool) error {
	f, err := os.OpenFile(d.file(a.File), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(a.Text), a.Offset)
	if err == nil && durable {
		err = fsync(f)
	}
	return errors.Join(err, f.Close())
}

func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(fsync(f), f.Close())
}
