package analytics

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// view is what the template "analytics" shows.
type view struct {
	Filters  []filter
	Path     string // that the filters are sent to
	Embedded bool
	Export   string // address of the numbers
	Rows     [][]card
	Empty    *dashboard.Empty // in place of cards; nil: there are some
}

// card is a chart with its numbers and what they mean.
type card struct {
	ID, Title, Lead string
	Chart           *chart
	Table           table
	Open            bool // the table is the chart
	About           []analytics.Definition
}

// table is numbers. The first cell of a row is its name.
type table struct {
	Heads []string
	Short []string // heads of the page where they are shorter; nil: Heads
	Rows  [][]cell
	Foot  []cell
	Heat  bool
}

// Shown returns the heads of the page.
func (t table) Shown() []string {
	if t.Short != nil {
		return t.Short
	}
	return t.Heads
}

// cell is a value as a page shows it and as a download has it.
type cell struct {
	Text, Raw string
	Class     string // of a heat table
}

func text(s string) cell { return cell{Text: s, Raw: s} }

// writeCSV answers with the tables of cards, one below the other.
func writeCSV(w http.ResponseWriter, name string, rows [][]card) error {
	out := web.NewCSV(w, name)
	first := true
	for _, row := range rows {
		for _, c := range row {
			if !first {
				if err := out.Row(""); err != nil {
					return err
				}
			}
			first = false
			if err := out.Row(c.Table.Heads...); err != nil {
				return err
			}
			for _, cells := range c.Table.Rows {
				raw := make([]string, len(cells))
				for i, v := range cells {
					raw[i] = v.Raw
				}
				if err := out.Row(raw...); err != nil {
					return err
				}
			}
		}
	}
	return out.Close()
}
