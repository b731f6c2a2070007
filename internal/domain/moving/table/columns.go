package table

import (
	"cmp"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/sheet"
)

// Options say how a file is read.
type Options struct {
	Currency     money.Currency // of rows that name none
	Zone         *time.Location // of dates that name none; nil: UTC
	DecimalComma *bool          // how numbers are written that may be either; nil: the column decides
	DayFirst     *bool          // how dates are written that may be either; nil: the column decides
	// Variants returns the numbers of the variants with an SKU; nil: none is known.
	Variants func(sku string) []int64
}

// columns knows where in a row the fields are, and how the values of each are written.
type columns struct {
	Options

	header    []string
	separator rune
	at        map[string]int // by field
	signs     map[string]decimal
	orders    map[string]order
	doubts    map[int64][]int // lines, by the key of the name that they have with different values
}

// columnsOf finds the columns of fields in the header of a file.
func columnsOf(f *File, m Mapping) columns {
	c := columns{header: f.Header, separator: f.Separator, at: make(map[string]int)}
	for i, name := range f.Header {
		for field, column := range m {
			if column == name && name != "" {
				c.at[field] = i
			}
		}
	}
	return c
}

// with returns the columns of a scan, read with options.
func (s *Scan) with(o Options) *columns {
	c := s.columns
	o.Zone = cmp.Or(o.Zone, time.UTC)
	c.Options = o
	return &c
}

// sign returns the sign that decimals of a field follow. Chosen is set when the options say it, for all values.
func (c *columns) sign(field string) (sign decimal, chosen bool) {
	switch {
	case c.DecimalComma == nil:
		return c.signs[field], false
	case *c.DecimalComma:
		return comma, true
	}
	return point, true
}

// order returns the order of day and month in a field; unknown: neither the options nor the column say it.
func (c *columns) order(field string) order {
	switch {
	case c.DayFirst == nil:
		return c.orders[field]
	case *c.DayFirst:
		return dayFirst
	}
	return monthFirst
}

// value returns the value of a field; empty: it has none.
func (c *columns) value(cells []string, field string) string {
	i, has := c.at[field]
	if !has || i >= len(cells) {
		return ""
	}
	return sheet.Text(trim(cells[i]))
}
