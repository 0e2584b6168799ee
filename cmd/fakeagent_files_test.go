package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// faults are what can go wrong. They are read anew whenever one of them could matter.
type faults struct {
	WS string `json:"ws"` // the worker that they are for; empty is any

	StartWhen   string `json:"start_when"`   // it shows nothing until this path exists
	ExitCode    int    `json:"exit_code"`    // it ends at once with this code
	TrustDialog bool   `json:"trust_dialog"` // it asks whether the folder is trusted, unless told that it is

	PasteBurstMS  int  `json:"paste_burst_ms"`  // an Enter sooner than this after a paste is eaten
	SwallowEnters int  `json:"swallow_enters"`  // so many Enters are eaten
	Strand        bool `json:"strand"`          // what was pasted stays in the box, whatever is pressed
	DialogOnPaste bool `json:"dialog_on_paste"` // a permission dialog comes up under a paste, which is lost

	PermissionDialog bool   `json:"permission_dialog"` // it asks before every step; Enter approves
	NotifyMS         int    `json:"notify_ms"`         // how long a permission dialog is up before it notifies; 0 is never
	Limit            bool   `json:"limit"`             // every turn ends at the usage limit
	ResetsIn         string `json:"resets_in"`         // then in so much time it is over; at 3pm if empty
	DieAfterSteps    int    `json:"die_after_steps"`   // it is killed (SIGKILL) once it has made so many steps
	IgnoreSignals    bool   `json:"ignore_signals"`    // it ignores SIGTERM and SIGHUP
}

// load reads the control file. A misspelt fault is an error, since it would prove nothing.
func load() (faults, error) {
	var f faults
	path := os.Getenv(envControl)
	if path == "" {
		return f, nil
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	if f.WS != "" && f.WS != os.Getenv("FLEET_WS") {
		return faults{}, nil
	}
	return f, nil
}

// record is a line of the log.
type record struct {
	WS   string   `json:"ws,omitempty"`
	Kind string   `json:"kind"` // start, key, paste, swallowed, submit, queued, shell, slash, answer, exit
	Key  string   `json:"key,omitempty"`
	Text string   `json:"text,omitempty"`
	PID  int      `json:"pid,omitempty"`
	Code int      `json:"code,omitempty"`
	Args []string `json:"args,omitempty"`
}

// truth is the log. Several workers may share the file: a record is one write.
type truth struct{ file *os.File }

func newTruth() *truth {
	path := os.Getenv(envLog)
	if path == "" {
		return &truth{}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	return &truth{file: f}
}

func (t *truth) write(r record) {
	if t.file == nil {
		return
	}
	r.WS = os.Getenv("FLEET_WS")
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		panic(err)
	}
	if _, err := t.file.Write(line.Bytes()); err != nil {
		panic(err)
	}
}
