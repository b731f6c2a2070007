package payment

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// code is the field of a discount code, as the interface names it. The subscription's screen has it,
// too.
const code = "discountCode"

// redeem uses a discount code. When that fails, the code is asked for on a page of its own.
func (m room) redeem(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.ApplyDiscount(ctx, v.Caller(r), do.ContractRef{ID: id, Version: v.Version(r)}, r.PostForm.Get(code))
		return words.Path(id) + "?done=discount", err
	})
	return v.Again(err, func() error {
		s, failed := m.Sheets.Sheet(r.Context(), v.Caller(r), id, 0)
		if failed != nil {
			return failed
		}
		q := words.Question(v, s.Contract, words.Path(id)+"/discount")
		q.Title, q.Button, q.Keep = v.T("discount.code"), v.T("discount.use"), v.T("placed.back")
		q.Fields = []portal.Field{{Name: code, Label: v.T("discount.code"), Value: r.PostForm.Get(code), Max: contractedit.MaxDiscountText, Required: true}}
		return v.Ask(w, r, q, err)
	})
}

// askRemove asks whether a discount code is taken off, and says what the next order costs without it.
func (m room) askRemove(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.showRemove(w, r, v, nil)
}

func (m room) showRemove(w http.ResponseWriter, r *http.Request, v portal.Visit, refused error) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	s, err := m.Sheets.Sheet(r.Context(), v.Caller(r), id, 0)
	if err != nil {
		return err
	}
	if refusal := s.Can[do.EditDiscount]; refusal != nil {
		return refusal
	}
	c, name := s.Contract, r.URL.Query().Get("discount")
	at := slices.IndexFunc(c.Discounts, func(d contract.Discount) bool { return d.Code != "" && words.LineName(d.ID) == name })
	if at < 0 || !s.Can.Allows(do.EditDiscount) {
		return portal.PathNotFound()
	}
	without := c
	without.Discounts = slices.Delete(slices.Clone(c.Discounts), at, at+1)
	q := words.Question(v, c, words.Path(id)+"/discount/remove?discount="+url.QueryEscape(name))
	q.Title = v.T("discount.remove.title", "code", c.Discounts[at].Code)
	q.Lead = v.T("discount.remove.text", "amount", words.Amount(v, s.NextCost(without)), "was", words.Amount(v, s.NextCost(c)))
	q.Button, q.Keep = v.T("discount.remove.button"), v.T("discount.remove.keep")
	return v.Ask(w, r, q, refused)
}

func (m room) remove(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		_, err := m.Changes.RemoveDiscount(ctx, v.Caller(r), ref, r.URL.Query().Get("discount"))
		return "discount-removed", err
	}, func(err error) error { return m.showRemove(w, r, v, err) })
}
