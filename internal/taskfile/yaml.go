package taskfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"fleet/roster"
)

const (
	maxSize = 4 << 20
	quotes  = "in quotes if it looks like a number or begins with &, * or !"
)

// document returns the root of the one document in a text.
func document(text []byte) (*yaml.Node, error) {
	if len(text) > maxSize {
		return nil, at(1, "the file is larger than %d MiB", maxSize>>20)
	}
	text = fromJSON(text)
	root, err := decode(text)
	if err == nil {
		return root, nil
	}
	// The decoder names the line before, the one where the list around it begins, or
	// none. What fails is the end of the shortest beginning that fails alike.
	lines := bytes.SplitAfter(text, []byte("\n"))
	line := 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, other := decode(bytes.Join(lines[:i+1], nil))
		return other != nil && other.Error() == err.Error()
	})
	message := err.Error()
	return nil, at(line, "%s", strings.TrimSpace(message[strings.LastIndex(message, ": ")+1:]))
}

// fromJSON replaces the escapes that JSON has and the decoder doesn't know: \/ and pairs of surrogates.
func fromJSON(text []byte) []byte {
	if !json.Valid(text) {
		return text
	}
	escape := regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|.)`)
	return escape.ReplaceAllFunc(text, func(e []byte) []byte {
		var s string
		if (e[1] == '/' || len(e) > 2) && json.Unmarshal([]byte(`"`+string(e)+`"`), &s) == nil {
			return []byte(s)
		}
		return e
	})
}

func decode(text []byte) (*yaml.Node, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("want a text file, in UTF-8")
	}
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) || err == nil && doc.Content[0].Tag == "!!null" {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, cmp.Or(err, errors.New("want one document, and a second one begins"))
	}
	return doc.Content[0], nil
}

// field is a key of a mapping and what to do with its value.
type field struct {
	key  string
	into any // a *string, a number, a list, refused, or a func(*yaml.Node) error
}

type (
	number struct {
		into *int
		most int // the least is 1
	}
	list struct {
		into    *[]string
		of      string
		repeats bool // an entry that is there already is kept
	}
	refused string // why
)

// mapping reads a mapping, whose name is for errors, by its keys.
func mapping(what string, n *yaml.Node, fields ...field) error {
	if n.Kind != yaml.MappingNode {
		return at(n.Line, "%s: want a mapping, with keys such as %s", what, fields[0].key)
	}
	lines := make(map[string]int)
	for pair := range slices.Chunk(n.Content, 2) {
		key := pair[0].Value
		if key == "file_scope" {
			key = "scope"
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 || pair[0].Kind != yaml.ScalarNode {
			return at(pair[0].Line, "unknown key %q in %s; want: %s", roster.Title(pair[0].Value), what, keys(fields))
		}
		if lines[key] > 0 {
			return at(pair[0].Line, "%s: line %d gives %s already", pair[0].Value, lines[key], key)
		}
		lines[key] = pair[0].Line
		if err := fields[i].read(pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func keys(fields []field) string {
	var list []string
	for _, f := range fields {
		if _, no := f.into.(refused); !no {
			list = append(list, f.key)
		}
	}
	return strings.Join(list, ", ")
}

func (f field) read(n *yaml.Node) error {
	switch into := f.into.(type) {
	case func(*yaml.Node) error:
		return into(n)
	case refused:
		return at(n.Line, "%s: %s", f.key, into)
	case *string:
		if !isText(n) {
			return at(n.Line, "%s: want a text, %s", f.key, quotes)
		}
		*into = n.Value
	case number:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(into.into) != nil || *into.into < 1 || *into.into > into.most {
			return at(n.Line, "%s: want a whole number from 1 to %d", f.key, into.most)
		}
	case list:
		seen := make(map[string]bool)
		return entries(f.key, into.of, n, func(n *yaml.Node) error {
			if !isText(n) || strings.TrimSpace(n.Value) == "" {
				return at(n.Line, "%s: want a list of %s, each a text, %s", f.key, into.of, quotes)
			}
			if into.repeats || !seen[n.Value] {
				*into.into = append(*into.into, n.Value)
			}
			seen[n.Value] = true
			return nil
		})
	}
	return nil
}

func entries(key, of string, n *yaml.Node, read func(*yaml.Node) error) error {
	if isText(n) {
		return at(n.Line, "%s: want a list of %s, not a single string", key, of)
	}
	if n.Kind != yaml.SequenceNode {
		return at(n.Line, "%s: want a list of %s", key, of)
	}
	for _, entry := range n.Content {
		if err := read(entry); err != nil {
			return err
		}
	}
	return nil
}

// isText is strict: &, * and ! have a meaning at the start of a text, which nobody means here.
func isText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Anchor == "" && n.Style&yaml.TaggedStyle == 0
}
