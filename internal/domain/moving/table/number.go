package table

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decimal is the sign that decimals follow.
type decimal byte

// The signs.
const (
	unclear decimal = 0
	point   decimal = '.'
	comma   decimal = ','
)

// plain returns a number as digits with a decimal point, such as "-1234.50", when it is written
// with a decimal sign. Groups of digits may be separated by the other sign, spaces or apostrophes.
func (d decimal) plain(text string) (string, bool) {
	var b strings.Builder
	b.Grow(len(text))
	text, minus := strings.CutPrefix(text, "-")
	if minus {
		b.WriteByte('-')
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	whole, decimals, has := strings.Cut(text, string(rune(d)))
	if has && (decimals == "" || !digits(decimals)) {
		return "", false
	}
	switch group := strings.IndexFunc(whole, func(r rune) bool { return r < '0' || r > '9' }); {
	case whole == "" && has:
		b.WriteByte('0')
	case whole == "":
		return "", false
	case group < 0:
		b.WriteString(whole)
	default:
		sign := []rune(whole[group:])[0]
		parts := strings.Split(whole, string(sign))
		if !strings.ContainsRune(".,'\u2019 \u00a0\u202f", sign) || !grouped(parts) {
			return "", false
		}
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	if has {
		b.WriteByte('.')
		b.WriteString(decimals)
	}
	return b.String(), true
}

// grouped reports whether parts of a number are groups of three digits; all but the last may be
// of two digits, as in India.
func grouped(parts []string) bool {
	last := len(parts) - 1
	for i, p := range parts {
		switch n := len(p); {
		case !digits(p), i == 0 && (n < 1 || n > 3), i == last && n != 3, i > 0 && i < last && n != 2 && n != 3:
			return false
		}
	}
	return parts[0][0] != '0'
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// decimals returns how many decimals a number has that is written with a decimal point.
func decimals(number string) int {
	_, part, _ := strings.Cut(number, ".")
	return len(part)
}

// writtenWith returns the decimal sign that a number must be written with; unclear: both fit.
func writtenWith(text string) decimal {
	number, _ := apart(text)
	if !strings.ContainsAny(number, ".,") {
		return unclear
	}
	_, asPoint := point.plain(number)
	_, asComma := comma.plain(number)
	switch {
	case asPoint && !asComma:
		return point
	case asComma && !asPoint:
		return comma
	}
	return unclear
}

// abbreviations stand for a currency beside an amount, alone or before its sign.
var abbreviations = []string{
	"", "A", "AU", "C", "CA", "Fr", "Fr.", "Ft", "HK", "Kč", "Kr", "MX", "NZ", "R", "Rs", "Rs.", "S", "US",
	"kr", "kr.", "lei", "zł", "лв", "лв.",
}

func abbreviates(unit string) bool { return slices.Contains(abbreviations, unit) }

// apart separates a number from what stands beside it: nothing, or a unit such as "EUR" or "%".
// Signs of currencies are dropped, apart from that of the euro, which has one meaning only.
func apart(text string) (number, unit string) {
	from, to := strings.IndexAny(text, "0123456789"), strings.LastIndexAny(text, "0123456789")
	if from < 0 {
		return "", text
	}
	before, number, after := text[:from], text[from:to+1], text[to+1:]
	if before == "" && after == "" {
		return number, ""
	}
	head := strings.TrimRight(before, ".,")
	if last, _ := utf8.DecodeLastRuneInString(head); len(before)-len(head) == 1 && !unicode.IsLetter(last) { // as in .50
		number, before = before[len(head):]+number, head
	}
	for _, round := range []string{",-", ".-", ",\u2013", ".\u2013"} {
		after = strings.TrimPrefix(after, round)
	}
	if strings.Count(before, "-") == 1 {
		number, before = "-"+number, strings.Replace(before, "-", "", 1)
	} else if strings.Count(before, "+") == 1 {
		before = strings.Replace(before, "+", "", 1)
	}
	unit = strings.Map(func(r rune) rune {
		if r != '€' && unicode.Is(unicode.Sc, r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, before+after)
	return number, strings.Replace(unit, "€", "EUR", 1)
}
