package sms

import (
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// MaxPhone is how many characters a phone number may have as it is entered.
const MaxPhone = 40

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	spaced = strings.NewReplacer(" ", "", "\u00a0", "", "-", "", "(", "", ")", "", ".", "", "/", "")
)

// ParsePhone reads a phone number as a person writes it and returns it in E.164: a plus, the country
// code and the number, 7 to 15 digits. It fails with Invalid; field is the parameter at fault.
func ParsePhone(field, text string) (string, error) {
	number := spaced.Replace(strings.TrimSpace(text))
	if strings.HasPrefix(number, "00") {
		number = "+" + number[2:]
	}
	if len(text) > MaxPhone || !e164.MatchString(number) {
		return "", fault.New(fault.Invalid, "%.40q is not a phone number with its country code, such as +49 151 23456789", text).Code("phoneInvalid").Field(field)
	}
	return number, nil
}
