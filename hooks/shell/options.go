package shell

import "strings"

// options maps the options of a command, without dashes, to their values.
type options map[string]field

// has tells whether one of names, a list separated by spaces, was given.
func (o options) has(names string) bool {
	_, ok := o.value(names)
	return ok
}

func (o options) value(names string) (field, bool) {
	for name := range strings.FieldsSeq(names) {
		if value, ok := o[name]; ok {
			return value, true
		}
	}
	return field{}, false
}

// getopt takes a command line apart. spec lists the options that have a value,
// separated by spaces: "f:" has one, "i::" has one only if it is attached. A
// leading "+" ends the options at the first operand; a leading "-" reads -word
// as one option, as Go's flag package does, not as letters.
func getopt(args []field, spec string) (opts options, operands []field) {
	opts = options{}
	for len(args) > 0 {
		arg, text := args[0], args[0].text
		isOperand := len(text) < 2 || text[0] != '-'
		if isOperand && strings.HasPrefix(spec, "+") {
			return opts, args
		}
		args = args[1:]
		switch {
		case isOperand:
			operands = append(operands, arg)
		case text == "--" && operands == nil:
			return opts, args
		case text == "--":
			return opts, append(operands, args...)
		case text[1] == '-' || strings.HasPrefix(spec, "-"):
			name, value, attached := strings.Cut(strings.TrimLeft(text, "-"), "=")
			opts[name] = literal(value)
			if !attached && arity(spec, name) == 1 && len(args) > 0 {
				opts[name], args = args[0], args[1:]
			}
		default:
			args = opts.letters(text[1:], args, spec)
		}
	}
	return opts, operands
}

// letters reads options that share a dash, the last one perhaps with its
// value, and returns the arguments that are left.
func (o options) letters(letters string, args []field, spec string) []field {
	for i := range len(letters) {
		name, rest := letters[i:i+1], letters[i+1:]
		n := arity(spec, name)
		switch {
		case n == 0:
			o[name] = field{}
			continue
		case n == 1 && rest == "" && len(args) > 0:
			o[name], args = args[0], args[1:]
		default:
			o[name] = literal(rest)
		}
		break
	}
	return args
}

// arity is the number of colons that spec gives to an option.
func arity(spec, name string) int {
	for item := range strings.FieldsSeq(strings.TrimLeft(spec, "+-")) {
		if bare := strings.TrimRight(item, ":"); bare == name {
			return len(item) - len(bare)
		}
	}
	return 0
}
