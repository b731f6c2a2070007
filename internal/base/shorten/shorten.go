// Package shorten shortens texts for lists and messages.
package shorten

// Text returns a text of at most so many characters: the text itself, or its beginning and an
// ellipsis.
func Text(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
