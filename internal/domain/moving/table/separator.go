package table

import (
	"encoding/csv"
	"strings"
)

// separators are those that are looked for, the most usual one first.
var separators = []rune{',', ';', '\t', '|'}

// separatorLines is how many lines are compared with the header to find the separator.
const separatorLines = 20

// findSeparator returns the separator by the first lines of a file. Named is set when the first
// line is one such as "sep=;", which only says it.
func findSeparator(start string) (found rune, named bool) {
	first, _, _ := strings.Cut(start, "\n")
	first = strings.Trim(first, "\"\r")
	for _, s := range separators {
		if strings.EqualFold(first, "sep="+string(s)) {
			return s, true
		}
	}
	found = separators[0]
	most, alike := 1, 0
	for _, s := range separators {
		columns, n := columnsBy(start, s)
		if columns > 1 && (n > alike || n == alike && columns > most) {
			found, most, alike = s, columns, n
		}
	}
	return found, false
}

// columnsBy returns how many columns the header has by a separator, and how many of the next
// lines have as many.
func columnsBy(start string, separator rune) (columns, alike int) {
	rows := csv.NewReader(strings.NewReader(start))
	rows.Comma, rows.FieldsPerRecord, rows.LazyQuotes = separator, -1, true
	for n := range separatorLines {
		cells, err := rows.Read()
		switch {
		case err != nil:
			return columns, alike
		case n == 0:
			columns = len(cells)
		case len(cells) == columns:
			alike++
		}
	}
	return columns, alike
}
