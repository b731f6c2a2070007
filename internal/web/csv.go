package web

import (
	"encoding/csv"
	"net/http"
	"regexp"
	"strings"
)

// CSV writes a table that spreadsheet programs open. Values of a store never become formulas
// in them: see Cell. Lines end with CR LF, as RFC 4180 says.
type CSV struct{ to *csv.Writer }

// NewCSV begins the answer to a download with the given file name, which ends in ".csv".
// It sets the headers; the caller writes rows and then calls Close.
func NewCSV(w http.ResponseWriter, filename string) *CSV {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+safeFilename(filename)+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return &CSV{out}
}

// Row writes one row.
func (c *CSV) Row(cells ...string) error {
	safe := make([]string, len(cells))
	for i, text := range cells {
		safe[i] = Cell(text)
	}
	return c.to.Write(safe)
}

// Close writes what is buffered and returns the first error of the writer.
func (c *CSV) Close() error {
	c.to.Flush()
	return c.to.Error()
}

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

// safeFilename keeps of a name what needs no quoting in a header.
func safeFilename(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
}
