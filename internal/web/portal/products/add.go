package products

import (
	"context"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

func (m room) askAdd(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, do.AddProduct)
	if err != nil {
		return err
	}
	return m.showAdd(w, r, v, s, nil)
}

// showAdd lists what can be added to all orders, or asks about what was chosen of it.
func (m room) showAdd(w http.ResponseWriter, r *http.Request, v portal.Visit, s overview.Sheet, refused error) error {
	c := s.Contract
	path := words.Path(c.ID) + "/add"
	if variant := words.VariantAsked(r); variant != 0 {
		p, err := m.Changes.Product(r.Context(), v.Caller(r), c.ID, "", variant)
		if err != nil {
			return err
		}
		q := words.Question(v, c, words.Choosing(path, variant))
		q.Title = v.T("add.ask", "product", words.ProductName(p))
		q.Lead = v.T("add.ask.text", "amount", words.Amount(v, p.Unit), "every", words.Every(v, c.Billing))
		if next, comes := s.Next(); comes {
			q.Lead = v.T("add.ask.from", "amount", words.Amount(v, p.Unit), "every", words.Every(v, c.Billing), "day", v.Day(next.BillingDate))
		}
		if !s.Can.Offers(do.RemoveProduct) {
			q.Says = append(q.Says, v.T("add.final"))
		}
		q.Fields = []portal.Field{quantityInput(r, v, 1)}
		q.Counted = counted(v, s, q.Fields[0], func(n int) contract.Contract { return withProduct(c, p, n) })
		q.Button, q.Keep = v.T("add.button"), v.T("add.keep")
		return v.Ask(w, r, q, refused)
	}
	asked := words.ProductsAsked(r)
	list, err := m.Changes.Products(r.Context(), v.Caller(r), c.ID, asked)
	if err != nil {
		return err
	}
	return v.Answer(w, portal.Page{
		Name: "picker", Title: v.T("add.title"), Lead: v.T("add.text"), Email: c.Customer.Email, Crumb: &portal.Crumb{Name: words.Name(v, c), Path: words.Path(c.ID)},
		Content: words.Picker(v, path, asked, list, func(p do.Product) string { return words.Amount(v, p.Unit) }),
	})
}

// withProduct returns a contract with one more product, on the plan of its first line.
func withProduct(c contract.Contract, p do.Product, n int) contract.Contract {
	line := contract.LineItem{ProductID: p.ProductID, VariantID: p.ID, Quantity: n, Price: p.Unit}
	if len(c.Lines) > 0 {
		line.SellingPlanID = c.Lines[0].SellingPlanID
	}
	c.Lines = append(slices.Clip(c.Lines), line)
	return c
}

func (m room) add(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	again := func(err error) error {
		s, failed := m.sheet(r, v, do.AddProduct)
		if failed != nil {
			return failed
		}
		return m.showAdd(w, r, v, s, err)
	}
	n, err := words.Quantity(r, terms.MaxQuantity)
	if err != nil || words.Counts(r) {
		return again(err)
	}
	was, err := m.sheet(r, v, do.AddProduct)
	if err != nil {
		return err
	}
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		p, err := m.Changes.Product(ctx, v.Caller(r), ref.ID, "", words.VariantAsked(r))
		if err == nil && ref.Version == was.Contract.Fingerprint() { // of another version nothing is changed
			err = words.CheckTotal(r, was.NextCost(withProduct(was.Contract, p, n)))
		}
		if err != nil {
			return "", err
		}
		is, err := m.Changes.AddProduct(ctx, v.Caller(r), ref, do.NewProduct{Variant: words.VariantAsked(r), Quantity: n})
		return changed(v, words.Reversal{Contract: ref.ID, Done: words.Added, Line: addedLine(was.Contract, is.Contract)}), err
	}, again)
}
