package web

import (
	"encoding/csv"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/sheet"
)

// CSV writes a table that spreadsheet programs open. Values of a store never become formulas
// in them: see sheet.Cell. Lines end with CR LF, as RFC 4180 says.
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
		safe[i] = sheet.Cell(text)
	}
	return c.to.Write(safe)
}

// Close writes what is buffered and returns the first error of the writer.
func (c *CSV) Close() error {
	c.to.Flush()
	return c.to.Error()
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
