package payment

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
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
