// Package quiet keeps the terminal libraries from asking the terminal for its
// colours whenever the program starts.
//
// bubbletea does so as it is initialised, in every command, and waits for an answer
// that may not come. Go initialises packages in the order of their import paths,
// each after its own imports, so this one comes before it. The screen asks by itself.
package quiet

import "github.com/charmbracelet/lipgloss"

//nolint:gochecknoinits // the point of this package
func init() { lipgloss.SetHasDarkBackground(true) }
