package locale

import (
	"strings"
	"time"
)

// yearless takes the year out of a pattern, with what joins it to the rest.
var yearless = strings.NewReplacer(", {year}", "", " de {year}", "", " {year}", "", "{year}年", "", "{year}/", "", "{year}", "")

// Day is Date without the year, for a day that is near: "Friday, January 2".
func (p *Printer) Day(t time.Time) string { return p.when(yearless.Replace(p.formats.date), t) }

// ShortDay is ShortDate without the year: "Jan 2".
func (p *Printer) ShortDay(t time.Time) string { return p.when(yearless.Replace(p.formats.short), t) }
