package tui

import "github.com/charmbracelet/bubbles/key"

// keyMap are the keys that move about the screen. What acts on the run has its
// keys in the table of actions. A key has one meaning, whatever is in focus, except
// while a line is being typed or a question is open.
type keyMap struct {
	Up, Down, Top, Bottom, PageUp, PageDown key.Binding
	Focus, Filter, Details, Search          key.Binding
	Palette, Help, Theme, Quit              key.Binding
	Enter, Leave                            key.Binding
}

func bind(keys []string, shown, help string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help))
}

func newKeyMap() keyMap {
	return keyMap{
		Up:       bind([]string{"up", "k"}, "↑/k", "select the one above"),
		Down:     bind([]string{"down", "j"}, "↓/j", "select the one below"),
		Top:      bind([]string{"home", "g"}, "g", "the first one; the oldest lines"),
		Bottom:   bind([]string{"end", "G"}, "G", "the last one; follow the log"),
		PageUp:   bind([]string{"pgup", "ctrl+u"}, "pgup", "scroll the log back"),
		PageDown: bind([]string{"pgdown", "ctrl+f"}, "pgdn", "scroll the log forth"),
		Focus:    bind([]string{"tab"}, "tab", "workers, tasks, log or waits"),
		Filter:   bind([]string{"f"}, "f", "log of the selected worker alone, or of all"),
		Details:  bind([]string{"v"}, "v", "every detail in the log, or what matters"),
		Search:   bind([]string{"/"}, "/", "search the log"),
		Palette:  bind([]string{":", "ctrl+p"}, ":", "all actions, by name"),
		Help:     bind([]string{"?"}, "?", "keys"),
		Theme:    bind([]string{"T"}, "T", "colours for a light or a dark ground"),
		Quit:     bind([]string{"q", "ctrl+c"}, "q", "leave; the workers go on"),
		Enter:    bind([]string{"enter"}, "enter", "send a message to the selected worker"),
		Leave:    bind([]string{"esc"}, "esc", "back; no filter, no search"),
	}
}

// list is every binding, in the order of the help.
func (k *keyMap) list() []key.Binding {
	return []key.Binding{
		k.Up, k.Down, k.Top, k.Bottom, k.PageUp, k.PageDown, k.Focus, k.Filter, k.Details, k.Search,
		k.Enter, k.Palette, k.Help, k.Theme, k.Leave, k.Quit,
	}
}
