package cmd

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"fleet/roster"
)

// printTable aligns rows under a header by the width that a terminal gives their characters.
func printTable(out io.Writer, header []string, rows [][]string) error {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{header}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(runewidth.FillRight(cell, widths[i]+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// view is one thing to show, to people or to programs.
type view struct {
	doc    any // of --json
	header []string
	rows   [][]string
}

func (v *view) row(cells ...string) { v.rows = append(v.rows, cells) }

func (v *view) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(out, v.doc)
	}
	return printTable(out, v.header, v.rows)
}

// orDash is a cell that isn't empty.
func orDash(s string) string { return cmp.Or(s, "-") }

// listOr joins values, or stands in for none.
func listOr(none string, values []string) string { return cmp.Or(strings.Join(values, ", "), none) }

// short cuts a text to a width, as a cell of a table.
func short(s string, width int) string { return runewidth.Truncate(roster.Flat(s), width, "…") }

// printJSON writes one document.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
