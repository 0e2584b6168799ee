package shell

import "strings"

// find follows find … -delete and find … -exec. What it would find is told as
// a glob: each root, any depth, each -name.
func (w *walker) find(args []field) {
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n].text, "-") && args[n].text != "(" && args[n].text != "!" {
		n++
	}
	roots, tests := args[:n], args[n:]
	if n == 0 {
		roots = []field{literal(".")}
	}
	var names []field
	for i := 0; i < len(tests); i++ {
		switch tests[i].text {
		case "!", "-not":
			i++ // what is not to be found narrows no glob
		case "-name", "-iname":
			if i++; i < len(tests) {
				names = append(names, tests[i].asGlob())
			}
		case "-delete":
			if len(names) > 0 {
				w.execFound([]field{literal("rm"), literal("{}")}, roots, names)
				continue
			}
			for _, root := range roots {
				w.write(root, true)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			start := i + 1
			for i < len(tests) && tests[i].text != ";" && tests[i].text != "+" {
				i++
			}
			w.execFound(tests[start:max(start, i)], roots, names)
		}
	}
}

// execFound runs a command with the globs of what is found in place of its {}.
func (w *walker) execFound(command, roots, names []field) {
	if len(names) == 0 {
		names = []field{literal("*").asGlob()}
	}
	var args []field
	for _, arg := range command {
		if w.fuel--; w.fuel < 0 {
			return
		}
		if arg.text != "{}" {
			args = append(args, arg)
			continue
		}
		for _, root := range roots {
			for _, name := range names {
				if w.fuel -= 16; w.fuel < 0 {
					return
				}
				args = append(args, root.child(literal("**").asGlob()).child(name))
			}
		}
	}
	w.run(args)
}
