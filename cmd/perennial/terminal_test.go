package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestTerminalShowsControlCharactersAsText(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ in, want string }{
		"plain text":                   {"Kafé 店　🧋\tok\n", "Kafé 店　🧋\tok\n"},
		"a sequence that clears":       {"a\x1b[2Jb", `a\u001b[2Jb`},
		"a carriage return":            {"paid\rlate", `paid\u000dlate`},
		"backspace and delete":         {"a\b\x7f", `a\u0008\u007f`},
		"a control of the upper half":  {"a\u009b2J", `a\u009b2J`},
		"text that runs backwards":     {"a\u202egpj.exe", `a\u202egpj.exe`},
		"a tag outside the first part": {"a\U000e0041", `a\udb40\udc41`},
		"bytes that are no character":  {"a\xff", `a\u00ff`},
	} {
		var whole, parts bytes.Buffer
		(&terminal{to: &whole}).Write([]byte(row.in))
		split := &terminal{to: &parts}
		for i := range len(row.in) {
			split.Write([]byte{row.in[i]})
		}
		if whole.String() != row.want || parts.String() != row.want {
			t.Errorf("%s: %q, in parts %q, want %q", name, whole.String(), parts.String(), row.want)
		}
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&terminal{to: &out}).Encode("\x1b\x7f\u0085\u202e"); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != "\x1b\x7f\u0085\u202e" {
		t.Errorf("JSON comes back as %q, %v", back, err)
	}
}

func TestOneLineRemovesLineBreaks(t *testing.T) {
	t.Parallel()
	if got := oneLine("a\nb\tc\r"); got != `a\nb\tc\r` {
		t.Errorf("got %q", got)
	}
}
