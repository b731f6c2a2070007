// Package sheet makes texts safe for the cells of spreadsheet programs.
package sheet

import (
	"regexp"
	"strings"
)

// number is what stays as it is although it may begin with a sign.
var number = regexp.MustCompile(`^[+-]?[0-9]+([.,][0-9]+)*%?$`)

// Cell returns a text as a cell that no spreadsheet program evaluates. A text that begins
// like a formula (with =, +, -, @, a tab, CR or LF, or their full-width forms, after any
// spaces) gets a leading apostrophe; a number keeps its sign.
func Cell(text string) string {
	if number.MatchString(text) {
		return text
	}
	trimmed := strings.TrimLeft(text, " \u00a0\u200b\ufeff")
	if trimmed != "" && strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", []rune(trimmed)[0]) {
		return "'" + text
	}
	return text
}

// Text returns the text that Cell made a cell of. A cell that Cell makes of no text stays as
// it is.
func Text(cell string) string {
	if text, found := strings.CutPrefix(cell, "'"); found && Cell(text) == cell {
		return text
	}
	return cell
}
