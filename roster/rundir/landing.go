package rundir

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

const landingFile = "land.json"

// Landing is a move of the base branch that is being made. It is written down
// before the branch moves, and forgotten when everything that follows is done, so that
// whoever comes after a kill can finish it.
type Landing struct {
	WS     string `json:"ws_id"`
	Revert bool   `json:"revert"` // it undoes an earlier one
	Base   string `json:"base"`   // the branch
	From   string `json:"from"`   // where it was
	To     string `json:"to"`     // the tested commit
	Branch string `json:"branch"` // the workstream's own; empty in the main checkout
	Lane   string `json:"lane"`   // the commit of that
	Tree   string `json:"tree"`   // its worktree, absolute
}

// Landing returns the one that was begun and not finished, or nil.
func (d *Dir) Landing() (*Landing, error) {
	text, err := os.ReadFile(d.file(landingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l Landing
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fileErr(landingFile, 0, "%v; look whether %s was moved, then remove it", err, "the base branch")
	}
	return &l, nil
}

// BeginLanding writes down what is about to be made.
func (d *Dir) BeginLanding(l Landing) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return d.Write(d.file(landingFile), append(text, '\n'))
}

// EndLanding forgets it.
func (d *Dir) EndLanding() error {
	err := os.Remove(d.file(landingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
