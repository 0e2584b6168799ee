package cmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fleet/roster"
)

func newMigrateNext(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "migrate-next <WSxx> <dir>", GroupID: "git",
		Short: "Reserve the next number of a migration for a workstream",
		Long: `Prints the number after every one that a file in the folder begins with (0007_x)
and every one that a workstream has reserved, and reserves it. No file is made.
A folder that isn't here is looked for at the root of the repository. A workstream
has one number.`,
		Example: "  fleet migrate-next WS01 db/migrations",
		Args:    args(2, 2),
		RunE:    func(c *cobra.Command, args []string) error { return a.migrateNext(c, args[0], args[1]) },
	}
}

func (a *app) migrateNext(c *cobra.Command, ws, dir string) error {
	d, err := a.dir(c.Context())
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil && !filepath.IsAbs(dir) {
		dir = filepath.Join(d.Root, dir)
	}
	var number string
	err = a.update(c.Context(), ws, func(s *roster.State) error {
		// Read under the lock: a file that was written with a number of this run is seen, or its number is in the roster.
		names, err := namesIn(dir)
		if err == nil {
			number, err = s.ReserveMigration(ws, names)
		}
		return err
	})
	if err == nil {
		_, err = fmt.Fprintln(a.out, number)
	}
	return err
}

func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, roster.Dataf("the migrations can't be read: %v", err).Hinted("want a folder, seen from here or from the root of the repository")
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
