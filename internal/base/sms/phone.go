package sms

import (
	"regexp"
	"strings"
)

// MaxPhone is how many characters a phone number may have as a person writes it.
const MaxPhone = 40

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	spaced = strings.NewReplacer(" ", "", "\u00a0", "", "-", "", "(", "", ")", "", ".", "", "/", "")
)

// ParsePhone reads a phone number as a person writes it and returns it in E.164: a plus, the country
// code and the number, 7 to 15 digits. False: it is none.
func ParsePhone(text string) (string, bool) {
	number := spaced.Replace(strings.TrimSpace(text))
	if strings.HasPrefix(number, "00") {
		number = "+" + number[2:]
	}
	return number, len(text) <= MaxPhone && e164.MatchString(number)
}
