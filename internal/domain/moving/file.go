package moving

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// File is a CSV file that contracts come from, which were stopped where they were; or customers, or
// the points of loyalty members.
type File struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind,omitempty"` // CONTRACTS, CUSTOMERS or POINTS; empty: CONTRACTS
	Bytes   int64    `json:"bytes"`          // 0: it was not uploaded to its end
	Lines   int      `json:"lines"`
	Parts   int      `json:"parts"`             // that are stored; 0: it was removed
	Header  []string `json:"header,omitempty"`  // names of its columns
	Columns []Column `json:"columns,omitempty"` // in the order of the header
	Totals  Totals   `json:"totals,omitempty"`  // of the contracts that were read so far, by currency
	Choices
}

// Choices are what the merchant said about the columns of a file.
type Choices struct {
	Fields map[string]string `json:"mapping,omitempty"` // names of columns, by the fields that they hold
	// LeftOut names columns that look like an amount, a quantity or a date and that no field reads.
	LeftOut []string `json:"leftOut,omitempty"`
	// DecimalComma says how numbers are written that may be either; nil: each column decides.
	DecimalComma *bool `json:"decimalComma,omitempty"`
	// DayFirst says how dates are written that may be either; nil: each column decides.
	DayFirst *bool `json:"dayFirst,omitempty"`
}

// Looks is the kind of value that a column holds by its name and its values.
type Looks string

// The kinds that cannot be left out by accident: they decide amounts and dates of orders.
const (
	Money    Looks = "MONEY"
	Quantity Looks = "QUANTITY"
	Date     Looks = "DATE"
)

// String returns the kind in words.
func (l Looks) String() string {
	switch l {
	case Money:
		return "an amount"
	case Quantity:
		return "a quantity"
	case Date:
		return "a date"
	}
	return string(l)
}

// Column is a column of a file.
type Column struct {
	Values int   `json:"values"`          // rows that have one
	Looks  Looks `json:"looks,omitempty"` // empty: none of the kinds
}

// Unread is a column of a file that no field reads.
type Unread struct {
	Name string
	Column

	LeftOut bool // by the merchant
}

// Stops reports whether the file waits until the merchant maps the column or leaves it out.
func (u Unread) Stops() bool { return u.Looks != "" && !u.LeftOut }

// Unread returns the columns that no field of the choices reads, in the order of the header.
func (f File) Unread(c Choices) []Unread {
	read := make(map[string]bool, len(c.Fields))
	for _, column := range c.Fields {
		read[column] = true
	}
	var list []Unread
	for i, name := range f.Header {
		if name != "" && read[name] {
			continue
		}
		u := Unread{Name: name}
		if name == "" {
			u.Name = fmt.Sprintf("column %d", i+1)
		}
		if i < len(f.Columns) {
			u.Column = f.Columns[i]
		}
		if name == "" && u.Values == 0 {
			continue
		}
		u.LeftOut = slices.Contains(c.LeftOut, u.Name)
		list = append(list, u)
	}
	return list
}

// Total is the sum of contracts in one currency.
type Total struct {
	Currency  money.Currency `json:"currency,omitempty"` // empty: it cannot be read
	Contracts int            `json:"contracts"`
	Unpriced  int            `json:"unpriced,omitempty"` // contracts whose amount cannot be read
	Amount    int64          `json:"amount"`             // of one order of each of the others, in minor units
}

// Totals are sums by currency.
type Totals []Total

// in returns the total of a currency.
func (t *Totals) in(c money.Currency) *Total {
	at := slices.IndexFunc(*t, func(o Total) bool { return o.Currency == c })
	if at < 0 {
		at = len(*t)
		*t = append(*t, Total{Currency: c})
	}
	return &(*t)[at]
}

// Add adds a contract with the amount of an order. One that is not priced adds no amount.
func (t *Totals) Add(amount money.Amount, priced bool) {
	sum := t.in(amount.Currency)
	if sum.Contracts++; priced {
		sum.Amount += amount.Minor
	} else {
		sum.Unpriced++
	}
}

// Plus adds other totals.
func (t *Totals) Plus(others Totals) {
	for _, o := range others {
		sum := t.in(o.Currency)
		sum.Contracts, sum.Unpriced, sum.Amount = sum.Contracts+o.Contracts, sum.Unpriced+o.Unpriced, sum.Amount+o.Amount
	}
}

// FileTx keeps the files of moves, in parts.
type FileTx interface {
	AddMoveFile(ctx context.Context, of ID, part int, content []byte) error
	RemoveMoveFile(ctx context.Context, of ID) error
	// AddReadItems adds contracts of a file, and replaces those that the move has and that are not
	// on their way.
	AddReadItems(ctx context.Context, items []Item) error
	// RemoveMoveItems removes all contracts of a move.
	RemoveMoveItems(ctx context.Context, of ID) error
}

// Imports knows which contracts of a store have come from elsewhere.
type Imports interface {
	// Imported returns the live contracts with the given imported ids, by these.
	Imported(ctx context.Context, of shop.ID, ids []string) (map[string]contract.ID, error)
}
