package notify

import (
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// The most characters of what a merchant writes.
const (
	MaxNewsSubject = 150
	MaxNewsText    = 5000
)

// News is what a merchant writes to customers. A blank line begins a paragraph.
type News struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Check refuses news without words, or with too many, as Invalid.
func (n News) Check() error {
	for _, part := range []struct {
		field, is string
		most      int
	}{{"subject", n.Subject, MaxNewsSubject}, {"text", n.Text, MaxNewsText}} {
		if count := utf8.RuneCountInString(strings.TrimSpace(part.is)); count < 1 || count > part.most || !utf8.ValidString(part.is) {
			return fault.New(fault.Invalid, "%s has %d characters and must have 1 to %d", part.field, count, part.most).Entity("message").Code("newsInvalid").Field(part.field)
		}
	}
	if strings.ContainsAny(strings.TrimSpace(n.Subject), "\r\n") {
		return fault.New(fault.Invalid, "subject is one line").Entity("message").Code("newsInvalid").Field("subject")
	}
	return nil
}
