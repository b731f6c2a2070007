package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// terminal writes to a terminal what may come from stores and their customers: characters
// that control it, with which a name could move the cursor or hide other text, are shown
// as text, such as \u001b, which is JSON's way too. Line ends and tabs are the program's
// own; what must stay in its line goes through oneLine.
type terminal struct {
	to   io.Writer
	rest []byte // the beginning of a character
}

// Write writes p with what controls a terminal as text.
func (t *terminal) Write(p []byte) (int, error) {
	text := append(t.rest, p...)
	t.rest = nil
	var out bytes.Buffer
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			t.rest = bytes.Clone(text)
			break
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\u%04x`, text[0])
		case r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out.Write(text[:size])
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	if _, err := t.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// oneLine shows the line ends and tabs of a text from outside as text, so that it can fake
// neither a line nor a column.
func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`, "\v", `\v`, "\f", `\f`, "\r", `\r`).Replace(s)
}
