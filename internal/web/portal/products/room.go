// Package products is the screens on which subscribers change what all orders of a subscription
// have in them: another product, another quantity, one more, one less.
package products

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Sheets reads what the screens show. What is not the caller's is NotFound.
type Sheets interface {
	Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
}

// Changes lists products and carries out what subscribers want. Failures are faults.
type Changes interface {
	Products(ctx context.Context, who do.Caller, id contract.ID, q do.ProductQuery) (do.ProductList, error)
	Product(ctx context.Context, who do.Caller, id contract.ID, line string, variant int64) (do.Product, error)
	AddProduct(ctx context.Context, who do.Caller, ref do.ContractRef, w do.NewProduct) (contract.Detail, error)
	ChangeLine(ctx context.Context, who do.Caller, ref do.ContractRef, w do.LineEdit) (contract.Detail, error)
	RemoveProduct(ctx context.Context, who do.Caller, ref do.ContractRef, line string) (do.Removal, error)
}

// Options are what the room needs.
type Options struct {
	Sheets  Sheets
	Changes Changes
}

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/swap", Show: r.askSwap},
			{Pattern: "POST /s/{contract}/swap", Show: r.swap},
			{Pattern: "GET /s/{contract}/add", Show: r.askAdd},
			{Pattern: "POST /s/{contract}/add", Show: r.add},
			{Pattern: "GET /s/{contract}/quantity", Show: r.askQuantity},
			{Pattern: "POST /s/{contract}/quantity", Show: r.quantity},
			{Pattern: "GET /s/{contract}/remove", Show: r.askRemove},
			{Pattern: "POST /s/{contract}/remove", Show: r.remove},
			{Pattern: "POST /s/{contract}/swap/undo", Show: r.swapBack},
			{Pattern: "POST /s/{contract}/add/undo", Show: r.removeAgain},
			{Pattern: "POST /s/{contract}/remove/undo", Show: r.addAgain},
		},
		Said: map[string]string{
			words.Swapped: "done.swapped", words.Added: "done.added", words.Removed: "done.removed", "quantity": "done.quantity",
			"swapped-back": "done.swappedBack", "removed-again": "done.removedAgain", "added-again": "done.addedAgain",
		},
	}
}

type room struct{ Options }

// sheet reads the contract that a path names. Where an action is not permitted now, it is why.
func (m room) sheet(r *http.Request, v portal.Visit, a do.Action) (overview.Sheet, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return overview.Sheet{}, err
	}
	s, err := m.Sheets.Sheet(r.Context(), v.Caller(r), id, 0)
	switch {
	case err != nil || s.Can.Allows(a):
		return s, err
	case s.Can[a] != nil:
		return s, s.Can[a]
	}
	return s, portal.PathNotFound()
}

// lineOf returns the line that ?line= names, and its name.
func lineOf(r *http.Request, c contract.Contract) (contract.LineItem, string, error) {
	name := r.URL.Query().Get("line")
	at := slices.IndexFunc(c.Lines, func(l contract.LineItem) bool { return words.LineName(l.ID) == name })
	if at < 0 {
		return contract.LineItem{}, "", portal.PathNotFound()
	}
	return c.Lines[at], name, nil
}

// quantityInput is the field of a quantity.
func quantityInput(r *http.Request, v portal.Visit, is int) portal.Field {
	return words.QuantityField(v, portal.Typed(r, "quantity", strconv.Itoa(is)), terms.MaxQuantity)
}

// counted shows what the next order costs with the quantity that a field has.
func counted(v portal.Visit, s overview.Sheet, f portal.Field, then func(n int) contract.Contract) *portal.Counted {
	n, err := strconv.Atoi(f.Value)
	if err != nil || n < 1 || n > terms.MaxQuantity {
		return &portal.Counted{}
	}
	return words.CountedOf(v, nextDay(v, s), s.NextCost(s.Contract), s.NextCost(then(n)))
}

// steps show what the next order costs now and what it costs then.
func steps(v portal.Visit, s overview.Sheet, then contract.Contract) []portal.Step {
	return words.CountedOf(v, nextDay(v, s), s.NextCost(s.Contract), s.NextCost(then)).Steps
}

// nextDay names the order that comes next.
func nextDay(v portal.Visit, s overview.Sheet) string {
	if next, comes := s.Next(); comes {
		return v.ShortDay(next.BillingDate)
	}
	return v.T("steps.everyOrder")
}
