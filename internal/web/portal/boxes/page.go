package boxes

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// screen is what the page shows.
type screen struct {
	Form   portal.Form
	Rules  []string // what the box may hold, and when it may be changed
	Held   []line   // what the box holds, or shall hold
	Offers []line   // what else may be chosen
	Kept   []portal.Param
	Search string
	From   int
	None   string // what is said without offers
	Turns  []portal.Action
	Total  total
}

// line is a product with the field of its quantity.
type line struct {
	portal.Item
	Field portal.Field
	Name  string // of the product, for those who do not see where the field stands
	Off   string // why there can be no more of it; empty: there can
}

// total is what the box would cost and hold.
type total struct {
	Cost   string
	Pieces string
	Broken string // the rule that it breaks; empty: none
}

// page shows a box with what was chosen, and products of a page of them.
func (m room) page(r *http.Request, v portal.Visit, b do.Box, is chosen, asked do.ProductQuery) (portal.Page, error) {
	c := b.State.Contract
	p := screen{Form: v.View.Form(words.Path(c.ID)+"/box", c.Fingerprint()), Rules: rules(v, b), Search: asked.Text, From: asked.Page}
	list, err := m.Changes.Products(r.Context(), v.Caller(r), c.ID, asked)
	if err != nil {
		return portal.Page{}, err
	}
	shown := make(map[int64]bool)
	add := func(to *[]line, one do.Product) {
		if !shown[one.ID] {
			shown[one.ID] = true
			*to = append(*to, lineOf(v, one, is[one.ID]))
		}
	}
	for _, one := range b.Held {
		add(&p.Held, one.Product)
	}
	for _, one := range list.Products {
		add(&p.Offers, one)
	}
	for _, variant := range slices.Sorted(maps.Keys(is)) { // chosen on another page of products
		if !shown[variant] && is[variant] != "" && is[variant] != "0" {
			p.Kept = append(p.Kept, portal.Param{Name: field(variant), Value: is[variant]})
		}
	}
	if p.None = v.T("picker.none"); asked.Text != "" {
		p.None = v.T("picker.notFound", "text", asked.Text)
	}
	if asked.Page > 0 {
		p.Turns = append(p.Turns, portal.Action{Text: v.T("picker.before"), Path: turn + strconv.Itoa(asked.Page-1)})
	}
	if list.More {
		p.Turns = append(p.Turns, portal.Action{Text: v.T("picker.after"), Path: turn + strconv.Itoa(asked.Page+1)})
	}
	if p.Total, err = m.total(r, v, b, is); err != nil {
		return portal.Page{}, err
	}
	return portal.Page{
		Name: "box", Title: v.T("box.title"), Lead: v.T("box.text"), Email: c.Customer.Email,
		Crumb: &portal.Crumb{Name: words.Name(v, c), Path: words.Path(c.ID)}, Content: p,
	}, nil
}

func field(variant int64) string { return prefix + strconv.FormatInt(variant, 10) }

func lineOf(v portal.Visit, p do.Product, typed string) line {
	l := line{Item: portal.Item{Title: p.ProductTitle, About: p.Name(), Image: p.Image, Price: words.Amount(v, p.Unit)}, Name: words.ProductName(p)}
	l.Field = portal.Field{Name: field(p.ID), Label: v.T("quantity.label"), Value: typed, Limit: strconv.Itoa(terms.MaxQuantity)}
	if l.Field.Value == "" {
		l.Field.Value = "0"
	}
	if !p.Available {
		l.Off = v.T("picker.out")
	}
	return l
}

// total says what the box would cost. What cannot be counted costs nothing that could be named.
func (m room) total(r *http.Request, v portal.Visit, b do.Box, is chosen) (total, error) {
	want, err := is.items()
	if err != nil {
		return total{}, nil //nolint:nilerr // the field says what is wrong with it
	}
	d, err := m.Changes.DraftBox(r.Context(), b, want)
	if err == nil {
		err = d.Broken
	} else if !fault.Is(err, fault.FailedPrecondition) {
		return total{}, err
	}
	t := total{Cost: words.Amount(v, d.Cost), Pieces: v.T("box.pieces", "n", d.Pieces)}
	if err != nil {
		t.Broken = v.Sentence(err)
	}
	return t, nil
}

// rules say what a box costs, what it may hold and when it may be changed.
func rules(v portal.Visit, b do.Box) []string {
	r, says := b.Bundle.Rules, prices(v, b)
	if !r.Enabled {
		return says
	}
	limit := func(least, most, both string, min, max bool, args ...any) {
		switch {
		case min && max:
			says = append(says, v.T(both, args...))
		case min:
			says = append(says, v.T(least, args...))
		case max:
			says = append(says, v.T(most, args...))
		}
	}
	limit("box.rule.least", "box.rule.most", "box.rule.between", r.MinProducts > 0, r.MaxProducts > 0, "least", r.MinProducts, "n", max(r.MaxProducts, r.MinProducts))
	limit("box.rule.leastValue", "box.rule.mostValue", "box.rule.betweenValue", r.MinValue.Minor > 0, r.MaxValue.Minor > 0, "least", words.Amount(v, r.MinValue), "most", words.Amount(v, r.MaxValue))
	for _, name := range slices.Sorted(maps.Keys(r.CategoryLimits)) {
		of := r.CategoryLimits[name]
		limit("box.rule.leastOf", "box.rule.mostOf", "box.rule.betweenOf", of.Min > 0, of.Max > 0, "category", name, "least", of.Min, "n", max(of.Max, of.Min))
	}
	if r.NeedsSeveralCategory {
		says = append(says, v.T("box.rule.several"))
	}
	if r.MaxSwaps > 0 {
		says = append(says, v.T("box.rule.swaps", "n", r.MaxSwaps))
	}
	if r.CutoffDays > 0 {
		says = append(says, v.T("box.rule.cutoff", "n", r.CutoffDays))
	}
	return says
}

// prices say what a box costs, if that is not the sum of its products.
func prices(v portal.Visit, b do.Box) []string {
	var says []string
	if fixed, has := b.Bundle.Pricing.FixedFor(b.State.Contract.Currency, b.State.Contract.Deliveries()); has {
		says = append(says, v.T("box.rule.fixed", "amount", words.Amount(v, fixed)))
	}
	if !b.Bundle.Pricing.Volume {
		return says
	}
	if heading := b.Bundle.Texts.TieredDiscount; heading != "" {
		says = append(says, heading)
	}
	for _, t := range b.Bundle.Pricing.Tiers {
		says = append(says, v.T("box.rule.tier", "n", t.MinProducts, "percent", v.Words.Percent(t.Percent)))
	}
	return says
}
