package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/renameio/v2"

	"fleet/roster"
)

const maxSlug = 40 // it becomes part of socket, session and branch names

// CheckSlug reports whether a slug can name a run.
func CheckSlug(slug string) error {
	if len(slug) > maxSlug || !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`).MatchString(slug) {
		return roster.Usagef("slug %.60q: want a-z, 0-9, _ and -, a letter or digit first, at most %d", slug, maxSlug)
	}
	return nil
}

// PathOf is the run dir of a slug below the root of a repository.
func PathOf(root, slug string) string { return filepath.Join(root, "planning", "fleet-"+slug) }

// Create makes the run dir planning/fleet-<slug> below root, whole or not at all.
// files are the texts that a run starts with; config is its fleet.env.
func Create(root, slug string, files fs.FS, config string) (*Dir, error) {
	if err := CheckSlug(slug); err != nil {
		return nil, err
	}
	if _, err := parseConfig(envFile, config); err != nil {
		return nil, err
	}
	final := PathOf(root, slug)
	taken := roster.Dataf("%s exists already", final).Hinted("choose another slug, or go on with it: fleet status --run-dir %s", final)
	if _, err := os.Lstat(final); err == nil {
		return nil, taken
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(final), ".fleet-"+slug+"-*")
	if err != nil {
		return nil, err
	}
	if err := fill(tmp, files, config); err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, final); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = taken // by somebody who was quicker
		}
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return Open(final)
}

func fill(dir string, files fs.FS, config string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	for _, sub := range []string{"briefs", "results", "handoffs", "lanes", "live", "hooks", "logs"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		envFile:      config,
		rosterFile:   headerLine(rosterColumns(), nil),
		tasksFile:    headerLine(taskColumns(), nil),
		leasesFile:   headerLine(leaseColumns(), nil),
		eventsFile:   "",
		lockFile:     "",
		".gitignore": "# A run is this machine's; git keeps none of it.\n*\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), text, 0o644)
	})
}

// Write replaces one of the run's files that have a single writer: briefs, settings, state of a reader.
func (d *Dir) Write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(path, text, 0o644)
}
