package table

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/sheet"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// Reporter writes findings as a table for people. No value is a formula.
type Reporter struct{ rows *csv.Writer }

// Report begins a table of findings.
func Report(w io.Writer) *Reporter {
	r := &Reporter{csv.NewWriter(w)}
	r.rows.UseCRLF = true
	_ = r.rows.Write([]string{"line", "id", "fit", "code", "field", "text"}) // Flush returns the error
	return r
}

// Write writes the findings of a row of a file. The ID is what the file calls its subject.
func (r *Reporter) Write(line int, id string, findings []moving.Finding) error {
	for _, f := range findings {
		row := []string{strconv.Itoa(line), sheet.Cell(id), string(f.Fit), f.Code, f.Field, sheet.Cell(f.Text)}
		if err := r.rows.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// Flush ends the table.
func (r *Reporter) Flush() error {
	r.rows.Flush()
	return r.rows.Error()
}
