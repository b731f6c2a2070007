package products

import (
	"context"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// changed names what was done for the contract's screen, which offers to take it back.
func changed(v portal.Visit, r words.Reversal) string {
	values := r.Values(v)
	values.Del("done") // which is named first
	return r.Done + "&" + values.Encode()
}

// unitOf returns what one of a line's product costs in the next order.
func unitOf(s overview.Sheet, line contract.LineItem) money.Amount {
	next := s.NextOrder()
	return s.Contract.PriceAt(line, next.Cycle, s.Contract.NextOrder()+next.Ahead())
}

// addedLine returns the name of the line that a contract did not have before; empty: there is none.
func addedLine(before, after contract.Contract) string {
	for _, l := range after.Lines {
		if !slices.ContainsFunc(before.Lines, func(was contract.LineItem) bool { return was.ID == l.ID }) {
			return words.LineName(l.ID)
		}
	}
	return ""
}

// reversal returns what the link after a change asks for.
func reversal(r *http.Request, v portal.Visit, done string) (words.Reversal, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return words.Reversal{}, err
	}
	back, ok := words.ReversalIn(v, id, r.URL.Query())
	if !ok || back.Done != done {
		return words.Reversal{}, portal.PathNotFound()
	}
	return back, nil
}

// restore carries out a change that takes another one back. The product must cost what it did: where the
// store has changed its price, the reader is asked with the new one, at the address ask.
func (m room) restore(w http.ResponseWriter, r *http.Request, v portal.Visit, back words.Reversal, ask, done string, change func(context.Context, do.ContractRef) error) error {
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		p, err := m.Changes.Product(ctx, v.Caller(r), back.Contract, back.Line, back.Variant)
		switch {
		case err != nil:
			return "", err
		case p.Unit.Minor != back.Unit:
			return words.Choosing(words.Path(back.Contract)+ask, back.Variant), nil
		}
		return words.Path(back.Contract) + "?done=" + done, change(ctx, do.ContractRef{ID: back.Contract})
	})
}

func (m room) swapBack(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	back, err := reversal(r, v, words.Swapped)
	if err != nil {
		return err
	}
	return m.restore(w, r, v, back, "/swap?line="+back.Line, "swapped-back", func(ctx context.Context, ref do.ContractRef) error {
		_, err := m.Changes.ChangeLine(ctx, v.Caller(r), ref, do.LineEdit{Line: back.Line, Variant: &back.Variant})
		return err
	})
}

func (m room) addAgain(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	back, err := reversal(r, v, words.Removed)
	if err != nil {
		return err
	}
	return m.restore(w, r, v, back, "/add", "added-again", func(ctx context.Context, ref do.ContractRef) error {
		_, err := m.Changes.AddProduct(ctx, v.Caller(r), ref, do.NewProduct{Variant: back.Variant, Quantity: back.Quantity})
		return err
	})
}

func (m room) removeAgain(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	back, err := reversal(r, v, words.Added)
	if err != nil {
		return err
	}
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.RemoveProduct(ctx, v.Caller(r), do.ContractRef{ID: back.Contract}, back.Line)
		return words.Path(back.Contract) + "?done=removed-again", err
	})
}
