package web

import (
	"embed"
	"io/fs"
)

// page is the live monitor: index.html and what it loads, which lies beside it and needs nothing else.
//
//go:embed page
var page embed.FS

func pageFiles() (names []string) {
	files, err := fs.ReadDir(page, "page")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}
