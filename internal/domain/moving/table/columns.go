package table

import (
	"cmp"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/sheet"
)

// Options say how a file is read.
type Options struct {
	Currency     money.Currency // of rows that name none
	Zone         *time.Location // of dates that name none; nil: UTC
	DecimalComma *bool          // how numbers are written that may be either; nil: the column decides
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
}

// columnsOf looks at the first rows of a file.
func columnsOf(kind Kind, f *File, m Mapping, o Options) (*columns, error) {
	if missing := m.Check(kind, f.Header); len(missing) > 0 {
		return nil, invalid("%s", strings.Join(missing, "; ")).Code("mappingInvalid")
	}
	o.Zone = cmp.Or(o.Zone, time.UTC)
	c := &columns{
		Options: o, header: f.Header, separator: f.Separator,
		at: make(map[string]int), signs: make(map[string]decimal), orders: make(map[string]order),
	}
	for i, name := range f.Header {
		for field, column := range m {
			if column == name && name != "" {
				c.at[field] = i
			}
		}
	}
	for _, field := range Fields(kind) {
		switch field.form {
		case numbers:
			c.signs[field.Name] = decided(c, f, field, writtenWith)
			if o.DecimalComma != nil {
				c.signs[field.Name] = point
				if *o.DecimalComma {
					c.signs[field.Name] = comma
				}
			}
		case dates:
			c.orders[field.Name] = decided(c, f, field, orderOf)
		}
	}
	return c, nil
}

// decided returns how the values of a column are written, when some of them say so and none says
// something else.
func decided[T comparable](c *columns, f *File, field Field, how func(string) T) T {
	var is, none T
	for _, r := range f.sample {
		text := c.value(r.cells, field.Name)
		if text == "" {
			continue
		}
		switch says := how(text); {
		case says == none:
		case is == none:
			is = says
		case is != says:
			return none
		}
	}
	return is
}

// value returns the value of a field; empty: it has none.
func (c *columns) value(cells []string, field string) string {
	i, has := c.at[field]
	if !has || i >= len(cells) {
		return ""
	}
	return sheet.Text(trim(cells[i]))
}
