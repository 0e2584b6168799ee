package shell

import "strings"

// options maps the options of a command, without dashes, to their values.
type options map[string]string

// has tells whether one of names was given; name=value asks for that value.
func (o options) has(names string) bool {
	for name := range strings.FieldsSeq(names) {
		name, want, _ := strings.Cut(name, "=")
		if value, ok := o[name]; ok && (want == "" || value == want) {
			return true
		}
	}
	return false
}

// value is that of the first of names that was given.
func (o options) value(names string) string {
	for name := range strings.FieldsSeq(names) {
		if value, ok := o[name]; ok {
			return value
		}
	}
	return ""
}

// in tells whether a list, separated by spaces, has a name. Most have not even
// its letters, and aren't taken apart.
func in(list, name string) bool {
	if !strings.Contains(list, name) {
		return false
	}
	for item := range strings.FieldsSeq(list) {
		if item == name {
			return true
		}
	}
	return false
}

// getopt takes a command line apart. valued lists the options that have a value,
// with a "=" those that have one only if it is attached; a "+" in it ends the
// options at the first operand. A word behind one dash is letters, of which the
// last may have a value, unless the word is in the list.
func getopt(args []string, valued string) (opts options, operands []string) {
	opts = options{}
	for len(args) > 0 {
		word := args[0]
		isOption := len(word) > 1 && word[0] == '-'
		switch {
		case word == "--":
			return opts, append(operands, args[1:]...)
		case !isOption && in(valued, "+"):
			return opts, args
		}
		args = args[1:]
		if !isOption {
			operands = append(operands, word)
			continue
		}
		name, value, attached := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if word[1] != '-' && !in(valued, name) {
			i := 1
			for ; i < len(word)-1 && !in(valued, word[i:i+1]) && !in(valued, word[i:i+1]+"="); i++ {
				opts[word[i:i+1]] = ""
			}
			name, value = word[i:i+1], word[i+1:]
			attached = value != ""
		}
		if !attached && in(valued, name) && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		opts[name] = value
	}
	return opts, operands
}
