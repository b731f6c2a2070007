package billing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OneOffID is the service's number of a one-time product, unique within a shop.
type OneOffID int64

// OneOff is a product of one upcoming order of a contract, added to the contract's lines. An
// order has a variant at most once. It belongs to a cycle and not to an attempt, because
// planning the queue again makes new attempts.
type OneOff struct {
	ID        OneOffID
	Contract  contract.ID
	Cycle     int
	Variant   platform.Variant // as it was when it was added; its price is what the order asks for it
	Handle    string           // as the caller named the product
	Quantity  int
	Done      bool // its order was made
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Line returns the product as a line of an order.
func (o OneOff) Line() contract.LineItem {
	return contract.LineItem{
		ProductID: o.Variant.ProductID, VariantID: o.Variant.ID, SKU: o.Variant.SKU, Title: o.Variant.ProductTitle, VariantTitle: o.Variant.Name(),
		Image: o.Variant.Image, Quantity: o.Quantity, Price: o.Variant.Price, Taxable: o.Variant.Taxable,
	}
}

// Carrying returns the order as it would be with a one-time product in its quantity, at a price; nil: the
// one that the order has for the variant already or, before that, the product's. With a quantity of 0 it
// carries none.
func (r Record) Carrying(o OneOff, price *money.Amount) Record {
	at := slices.IndexFunc(r.OneOffs, func(has OneOff) bool { return has.Variant.ID == o.Variant.ID })
	if r.OneOffs = slices.Clone(r.OneOffs); at < 0 {
		at, r.OneOffs = len(r.OneOffs), append(r.OneOffs, o)
	}
	one := &r.OneOffs[at]
	if one.Quantity = o.Quantity; price != nil {
		one.Variant.Price = *price
	}
	if o.Quantity == 0 {
		r.OneOffs = slices.Delete(r.OneOffs, at, at+1)
	}
	r.Lines = nil // it would be prepared again
	return r
}

// oneOffLine is what the line ids of one-time products begin with. The platform has no
// such lines: it gives lines ids of its own.
const oneOffLine = "gid://shopify/SubscriptionLine/one-time-"

// LineID returns the id by which the product is named among the lines of its contract.
func (o OneOff) LineID() string { return oneOffLine + strconv.FormatInt(int64(o.ID), 10) }

// OneOffOfLine returns the one-time product that a line id names; false when it names a
// line of the contract.
func OneOffOfLine(line string) (OneOffID, bool) {
	number, found := strings.CutPrefix(line, oneOffLine)
	if !found {
		return 0, false
	}
	id, err := strconv.ParseInt(number, 10, 64)
	return OneOffID(id), err == nil
}

// OneOffRecord is a one-time product and the attempt that orders it; 0 while the
// contract has no attempt for the cycle.
type OneOffRecord struct {
	OneOff
	Attempt AttemptID
}

// OneOffBook reads one-time products without a transaction.
type OneOffBook interface {
	// OneOffsOf returns a page of the one-time products of a contract, in the
	// order of their cycles, and how many there are. A contract that the line
	// does not have is NotFound.
	OneOffsOf(ctx context.Context, of shop.ID, q OneOffQuestion, p page.Request) ([]OneOffRecord, int, error)
	// WaitingOneOffs returns the one-time products of the upcoming orders of
	// contracts, by contract, cycle and ID.
	WaitingOneOffs(ctx context.Context, of shop.ID, contracts []contract.ID) ([]OneOff, error)
}

// OneOffQuestion selects one-time products.
type OneOffQuestion struct {
	Line     shop.Line
	Contract contract.ID
	Upcoming bool // only those of orders that wait for their date
}

// OneOffs are the one-time products of upcoming orders, by contract.
type OneOffs map[contract.ID][]OneOff

// For returns the one-time products of an attempt's order.
func (all OneOffs) For(a Attempt) []OneOff {
	return Inputs{OneOffs: all[a.Contract]}.For(a.Cycle)
}
