// Package sms knows how texts travel as SMS: in which alphabet, in how many segments, and how one is
// shortened. It sends nothing.
package sms

import (
	"strings"
	"unicode/utf16"
)

// How many characters a segment has: septets of the GSM alphabet, or UTF-16 units of UCS-2. Each
// segment of a longer text has a header, which takes some.
const (
	oneGSM  = 160
	moreGSM = 153
	oneUCS  = 70
	moreUCS = 67
)

// basic and extended are the characters of the default alphabet of GSM 03.38 and of its extension
// table. One of the extension is sent as two septets: the escape, then its own.
const (
	basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extended = "\f^{}\\[~]|€"
)

// septets returns how many septets a character takes, and false when the alphabet lacks it.
func septets(r rune) (int, bool) {
	switch {
	case strings.ContainsRune(basic, r):
		return 1, true
	case strings.ContainsRune(extended, r):
		return 2, true
	}
	return 0, false
}

// GSM reports whether a text has only characters of the GSM alphabet.
func GSM(text string) bool {
	for _, r := range text {
		if _, ok := septets(r); !ok {
			return false
		}
	}
	return true
}

// Segments returns in how many segments a text is sent; 0 for the empty text. A character that takes
// two units (of the extension, or beyond the Basic Multilingual Plane) is never split: a segment that
// has no room for both stays one unit short.
func Segments(text string) int {
	one, more, width := oneGSM, moreGSM, func(r rune) int { n, _ := septets(r); return n }
	if !GSM(text) {
		one, more, width = oneUCS, moreUCS, utf16.RuneLen
	}
	total, segments, room := 0, 0, 0
	for _, r := range text {
		n := max(width(r), 1) // what is no character is sent as U+FFFD
		total += n
		if n > room {
			segments, room = segments+1, more
		}
		room -= n
	}
	if total <= one {
		return min(total, 1)
	}
	return segments
}

// plain are typographic characters that the GSM alphabet lacks, with what is sent in their place.
var plain = strings.NewReplacer(
	"\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2007", " ", "’", "'", "‘", "'", "‚", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"–", "-", "—", "-", "‑", "-", "−", "-", "…", "...", "·", "-", "×", "x", "\u200e", "", "\u200f", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "",
	"â", "a", "ê", "e", "î", "i", "ô", "o", "û", "u", // French has août
)

// Plain writes typographic characters (quotes, dashes, spaces that do not break) as the GSM alphabet
// has them, letters with a circumflex without it, and white space as single spaces. Other letters stay
// as they are.
func Plain(text string) string { return strings.Join(strings.Fields(plain.Replace(text)), " ") }

// Most is in how many segments a text is sent at most.
const Most = 3

// Fit returns a text that ends with a link, in at most Most segments. A text that is too long is cut
// after a word; the link never is. The hint follows the link if it causes no segment more. All are
// plain.
func Fit(text, link, hint string) string {
	whole := joined(text, link)
	for Segments(whole) > Most && text != "" {
		text = shortened(text)
		whole = joined(text, link)
	}
	if hinted := joined(whole, hint); Segments(hinted) == Segments(whole) {
		return hinted
	}
	return whole
}

func joined(a, b string) string { return strings.TrimSpace(a + " " + b) }

// cutMark ends a text that was cut.
const cutMark = "..."

// shortened leaves out the last word of a text.
func shortened(text string) string {
	text = strings.TrimSuffix(text, cutMark)
	at := strings.LastIndexByte(text, ' ')
	if at < 0 {
		return ""
	}
	return strings.TrimRight(text[:at], " ,;:-.") + cutMark
}
