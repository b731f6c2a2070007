package products

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// agreed is the field with which a subscriber agrees to pay more: its value is how much more, in minor
// units, so that a subscriber agrees to the price that was shown and to no other.
const agreed = "agreed"

func (m room) askSwap(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, do.Swap)
	if err != nil {
		return err
	}
	return m.showSwap(w, r, v, s, nil)
}

// showSwap lists what a line may be swapped for, or asks about what was chosen of it.
func (m room) showSwap(w http.ResponseWriter, r *http.Request, v portal.Visit, s overview.Sheet, refused error) error {
	c := s.Contract
	line, name, err := lineOf(r, c)
	if err != nil {
		return err
	}
	path := words.Path(c.ID) + "/swap?line=" + url.QueryEscape(name)
	if variant := words.VariantAsked(r); variant != 0 {
		p, err := m.Changes.Product(r.Context(), v.Caller(r), c.ID, name, variant)
		if err != nil {
			return err
		}
		return v.Ask(w, r, swapQuestion(v, s, line, p, words.Choosing(path, variant)), refused)
	}
	q := words.ProductsAsked(r)
	q.Line = name
	list, err := m.Changes.Products(r.Context(), v.Caller(r), c.ID, q)
	if err != nil {
		return err
	}
	list.Products = slices.DeleteFunc(list.Products, func(p do.Product) bool { return p.ID == line.VariantID })
	was := s.NextCost(c)
	return v.Answer(w, portal.Page{
		Name: "picker", Title: v.T("swap.title", "product", line.Title), Lead: v.T("swap.text"), Email: c.Customer.Email,
		Crumb: &portal.Crumb{Name: words.Name(v, c), Path: words.Path(c.ID)},
		Content: words.Picker(v, path, q, list, func(p do.Product) string {
			return difference(v, money.Amount{Minor: s.NextCost(c.Swapped(line.ID, p.ID, p.Unit)).Minor - was.Minor, Currency: c.Currency})
		}),
	})
}

// difference says how much more or less an order costs.
func difference(v portal.Visit, by money.Amount) string {
	switch {
	case by.Minor > 0:
		return v.T("swap.more", "amount", words.Amount(v, by))
	case by.Minor < 0:
		by.Minor = -by.Minor
		return v.T("swap.less", "amount", words.Amount(v, by))
	}
	return v.T("swap.same")
}

// swapQuestion says what an order costs with another product in place of a line's. To a higher price
// its reader has to agree.
func swapQuestion(v portal.Visit, s overview.Sheet, line contract.LineItem, p do.Product, path string) portal.Question {
	then := s.Contract.Swapped(line.ID, p.ID, p.Unit)
	q := words.Question(v, s.Contract, path)
	q.Title, q.Lead = v.T("swap.ask", "product", line.Title, "other", words.ProductName(p)), v.T("swap.ask.text", "n", line.Quantity)
	q.Steps = steps(v, s, then)
	q.Button, q.Keep = v.T("swap.button"), v.T("swap.keep", "product", line.Title)
	if more := rise(s, then); more > 0 {
		amount := words.Amount(v, money.Amount{Minor: more, Currency: s.Contract.Currency})
		q.Fields = []portal.Field{{Name: agreed, Type: "checkbox", Value: strconv.FormatInt(more, 10), Label: v.T("swap.agree", "amount", amount), Required: true}}
	}
	return q
}

// rise returns how much more the next order costs of a changed contract, in minor units; 0: no more.
func rise(s overview.Sheet, then contract.Contract) int64 {
	return max(0, s.NextCost(then).Minor-s.NextCost(s.Contract).Minor)
}

func (m room) swap(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, do.Swap)
	if err != nil {
		return err
	}
	line, name, err := lineOf(r, s.Contract)
	if err != nil {
		return err
	}
	variant := words.VariantAsked(r)
	p, err := m.Changes.Product(r.Context(), v.Caller(r), s.Contract.ID, name, variant)
	if err != nil {
		return err
	}
	again := func(err error) error {
		now, failed := m.sheet(r, v, do.Swap)
		if failed != nil {
			return failed
		}
		return m.showSwap(w, r, v, now, err)
	}
	if more := rise(s, s.Contract.Swapped(line.ID, p.ID, p.Unit)); more > 0 && r.PostForm.Get(agreed) != strconv.FormatInt(more, 10) {
		return again(fault.New(fault.Invalid, "agreed must be %d, how much more an order costs", more).Code("priceNotAgreed").Field(agreed))
	}
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		_, err := m.Changes.ChangeLine(ctx, v.Caller(r), ref, do.LineEdit{Line: name, Variant: &variant})
		return changed(v, words.Reversal{Contract: ref.ID, Done: words.Swapped, Line: name, Variant: line.VariantID, Unit: unitOf(s, line).Minor}), err
	}, again)
}
