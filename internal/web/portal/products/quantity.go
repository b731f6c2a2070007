package products

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// asking makes the question before a change of a line.
type asking func(r *http.Request, v portal.Visit, s overview.Sheet, line contract.LineItem, name string) portal.Question

// askAbout asks about the line that a request names.
func (m room) askAbout(w http.ResponseWriter, r *http.Request, v portal.Visit, a do.Action, ask asking, refused error) error {
	s, err := m.sheet(r, v, a)
	if err != nil {
		return err
	}
	line, name, err := lineOf(r, s.Contract)
	if err != nil {
		return err
	}
	return v.Ask(w, r, ask(r, v, s, line, name), refused)
}

func (m room) askQuantity(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.askAbout(w, r, v, do.ChangeQuantity, quantityQuestion, nil)
}

// quantityQuestion asks how many of a product all orders have, and says what one costs.
func quantityQuestion(r *http.Request, v portal.Visit, s overview.Sheet, line contract.LineItem, name string) portal.Question {
	c := s.Contract
	q := words.Question(v, c, words.Path(c.ID)+"/quantity?line="+url.QueryEscape(name))
	q.Title = v.T("quantity.title", "product", line.Title)
	q.Lead = v.T("quantity.text", "amount", words.Amount(v, unitOf(s, line)), "n", line.Quantity)
	q.Fields = []portal.Field{quantityInput(r, v, line.Quantity)}
	q.Counted = counted(v, s, q.Fields[0], func(n int) contract.Contract { return withQuantity(c, line, n) })
	q.Button, q.Keep = v.T("quantity.button"), v.T("quantity.keep")
	return q
}

func (m room) quantity(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	again := func(err error) error { return m.askAbout(w, r, v, do.ChangeQuantity, quantityQuestion, err) }
	n, err := words.Quantity(r, terms.MaxQuantity)
	if err != nil || words.Counts(r) {
		return again(err)
	}
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		s, err := m.sheet(r, v, do.ChangeQuantity)
		if err != nil {
			return "", err
		}
		line, _, err := lineOf(r, s.Contract)
		if err == nil && ref.Version == s.Contract.Fingerprint() { // of another version nothing is changed
			err = words.CheckTotal(r, s.NextCost(withQuantity(s.Contract, line, n)))
		}
		if err != nil {
			return "", err
		}
		_, err = m.Changes.ChangeLine(ctx, v.Caller(r), ref, do.LineEdit{Line: r.URL.Query().Get("line"), Quantity: &n})
		return "quantity", err
	}, again)
}

// withQuantity returns a contract with another quantity of a line.
func withQuantity(c contract.Contract, line contract.LineItem, n int) contract.Contract {
	c.Lines = slices.Clone(c.Lines)
	if at := c.LineByID(line.ID); at >= 0 {
		c.Lines[at].Quantity = n
	}
	return c
}

func (m room) askRemove(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.askAbout(w, r, v, do.RemoveProduct, removeQuestion, nil)
}

// removeQuestion says what the next order costs without a product. The last one is not removed: the
// subscription is paused or cancelled instead.
func removeQuestion(_ *http.Request, v portal.Visit, s overview.Sheet, line contract.LineItem, name string) portal.Question {
	c := s.Contract
	q := words.Question(v, c, words.Path(c.ID)+"/remove?line="+url.QueryEscape(name))
	q.Title, q.Keep = v.T("remove.title", "product", line.Title), v.T("remove.keep", "product", line.Title)
	if len(c.Lines) == 1 {
		q.Lead = v.T("remove.last")
		return q
	}
	then := c
	then.Lines = slices.DeleteFunc(slices.Clone(c.Lines), func(l contract.LineItem) bool { return l.ID == line.ID })
	q.Lead, q.Steps, q.Button = v.T("remove.text"), steps(v, s, then), v.T("remove.button")
	if !s.Can.Allows(do.AddProduct) {
		q.Lead = v.T("remove.final")
	}
	return q
}

func (m room) remove(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, do.RemoveProduct)
	if err != nil {
		return err
	}
	line, name, err := lineOf(r, s.Contract)
	if err != nil {
		return err
	}
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		is, err := m.Changes.RemoveProduct(ctx, v.Caller(r), ref, name)
		if err != nil || !is.Reversible {
			return words.Removed, err
		}
		return changed(v, words.Reversal{Contract: ref.ID, Done: words.Removed, Variant: line.VariantID, Quantity: line.Quantity, Unit: unitOf(s, line).Minor}), nil
	}, func(err error) error { return m.askAbout(w, r, v, do.RemoveProduct, removeQuestion, err) })
}
