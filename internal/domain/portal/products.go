package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/platform"
)

// ProductPage is how many products a page of them has.
const ProductPage = platform.MaxProducts

// ProductQuery selects products that subscribers may choose.
type ProductQuery struct {
	Line string // to replace: its graph id, or the last part of it; empty: none
	Text string // part of the title, in any case; empty: all
	Page int    // counted from 0
}

// Product is a variant that a subscriber may choose.
type Product struct {
	platform.Variant
	Unit money.Amount // what one costs then
}

// ProductList is a page of products.
type ProductList struct {
	Products []Product // product by product
	More     bool      // there is another page
}

// Products returns what the caller may put on all orders of a contract, in place of a line or beside
// its lines: what is sold on the group of that line's plan, or of the first line's, at the prices of the
// next order. Where that is none of the store's groups, nothing is listed.
func (s *Service) Products(ctx context.Context, who Caller, id contract.ID, q ProductQuery) (ProductList, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return ProductList{}, err
	}
	on, err := planOf(v.State.Contract, q.Line)
	if err != nil {
		return ProductList{}, err
	}
	g, ours, err := s.groupOf(ctx, v, on)
	if err != nil || !ours {
		return ProductList{}, err
	}
	quote, err := s.Edits.QuoteOf(ctx, v.Shop.ID, v.State.Contract, on)
	if err != nil {
		return ProductList{}, err
	}
	return s.products(ctx, v, []plan.Group{g}, q, func(p platform.Variant) (money.Amount, bool) {
		unit, _ := quote(p)
		return unit, true
	})
}

// maxGroups is how many plan groups of a store are looked at for what can be bought once.
const maxGroups = 50

// OneTimeProducts returns what the caller may add to one order of a contract, at the products' own
// prices: what is sold on the store's plan groups and can also be bought without a plan.
func (s *Service) OneTimeProducts(ctx context.Context, who Caller, id contract.ID, q ProductQuery) (ProductList, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return ProductList{}, err
	}
	groups, _, err := s.Plans.PlanGroups(ctx, v.Shop.ID, v.State.Contract.Line, page.Request{Size: maxGroups})
	if err != nil {
		return ProductList{}, err
	}
	return s.products(ctx, v, groups, q, func(p platform.Variant) (money.Amount, bool) { return p.Price, !p.OnlyOnPlans })
}

// Product returns one variant as Products lists it, or why the caller may not have it.
func (s *Service) Product(ctx context.Context, who Caller, id contract.ID, line string, variant int64) (Product, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return Product{}, err
	}
	on, err := planOf(v.State.Contract, line)
	if err != nil {
		return Product{}, err
	}
	g, ours, err := s.groupOf(ctx, v, on)
	if err != nil {
		return Product{}, err
	}
	sold, err := s.Edits.Variants(platform.Interactive(ctx), v.Shop, []int64{variant})
	if err != nil {
		return Product{}, err
	}
	if ours && !sells(g, sold[variant]) {
		return Product{}, notOffered(variant)
	}
	quote, err := s.Edits.QuoteOf(ctx, v.Shop.ID, v.State.Contract, on)
	if err != nil {
		return Product{}, err
	}
	unit, _ := quote(sold[variant])
	return Product{sold[variant], unit}, nil
}

// OneTimeProduct returns one variant as OneTimeProducts lists it, or why the caller may not have it.
func (s *Service) OneTimeProduct(ctx context.Context, who Caller, id contract.ID, variant int64) (Product, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return Product{}, err
	}
	sold, err := s.Edits.Variants(platform.Interactive(ctx), v.Shop, []int64{variant})
	if err == nil && sold[variant].OnlyOnPlans {
		err = notOffered(variant)
	}
	return Product{sold[variant], sold[variant].Price}, err
}

// planOf returns the selling plan of a line, or of the contract's first line when none is named; 0:
// none.
func planOf(c contract.Contract, line string) (int64, error) {
	at := 0
	if line != "" {
		var err error
		if at, err = lineOf(c, line); err != nil {
			return 0, err
		}
	}
	if len(c.Lines) == 0 {
		return 0, nil
	}
	return c.Lines[at].SellingPlanID, nil
}

// products returns a page of what is sold on groups, by title, as far as it has a price in the
// contract's currency.
func (s *Service) products(ctx context.Context, v View, groups []plan.Group, q ProductQuery, price func(platform.Variant) (money.Amount, bool)) (ProductList, error) {
	offered := offeredOn(groups, q.Text)
	start := min(q.Page*ProductPage, len(offered))
	end := min(start+ProductPage, len(offered))
	list := ProductList{More: end < len(offered)}
	sold, err := s.variants(ctx, v, offered[start:end])
	if err != nil {
		return ProductList{}, err
	}
	for _, p := range sold {
		if unit, has := price(p); has && unit.Currency == v.State.Contract.Currency {
			list.Products = append(list.Products, Product{p, unit})
		}
	}
	return list, nil
}

// offered is a product, or one variant of a product.
type offered struct {
	platform.Titled
	variant bool
}

// offeredOn returns what is sold on groups and has a title with a text, by title.
func offeredOn(groups []plan.Group, text string) []offered {
	var list []offered
	known := make(map[offered]bool)
	add := func(titles []platform.Titled, variant bool) {
		for _, t := range titles {
			key := offered{platform.Titled{ID: t.ID}, variant}
			if !known[key] && strings.Contains(strings.ToLower(t.Title), strings.ToLower(text)) {
				known[key], list = true, append(list, offered{t, variant})
			}
		}
	}
	for _, g := range groups {
		add(g.Products, false)
		add(g.Variants, true)
	}
	slices.SortStableFunc(list, func(a, b offered) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	return list
}

// variants reads what is offered, in its order.
func (s *Service) variants(ctx context.Context, v View, list []offered) ([]platform.Variant, error) {
	var products []int64
	var single []contract.LineItem
	for _, o := range list {
		if o.variant {
			single = append(single, contract.LineItem{VariantID: o.ID})
		} else {
			products = append(products, o.ID)
		}
	}
	ctx = platform.Interactive(ctx)
	var ofProducts []platform.Variant
	var err error
	if len(products) > 0 {
		if ofProducts, err = s.Edits.ProductVariants(ctx, v.Shop, products); err != nil {
			return nil, err
		}
	}
	known, err := s.Edits.VariantsOfLines(ctx, v.Shop, single)
	if err != nil {
		return nil, err
	}
	var sold []platform.Variant
	for _, o := range list {
		if one, has := known[o.ID]; o.variant && has {
			sold = append(sold, one)
		}
		for _, p := range ofProducts {
			if !o.variant && p.ProductID == o.ID {
				sold = append(sold, p)
			}
		}
	}
	return sold, nil
}

// groupOf returns the group of a selling plan; false when it is none of the store's.
func (s *Service) groupOf(ctx context.Context, v View, sellingPlan int64) (plan.Group, bool, error) {
	if sellingPlan == 0 {
		return plan.Group{}, false, nil
	}
	offers, err := s.Plans.OffersOf(ctx, v.Shop.ID, v.State.Contract.Line, []int64{sellingPlan})
	if err != nil || len(offers) == 0 {
		return plan.Group{}, false, err
	}
	g, err := s.Plans.PlanGroup(ctx, v.Shop.ID, v.State.Contract.Line, offers[0].Group)
	return g, err == nil, err
}

// checkOffered refuses variants that are not sold on the group of a selling plan: a subscriber must not
// get a price that the merchant gives for other products. On a plan that is not of the store's groups
// nothing is known, and all that the store sells may be chosen.
func (s *Service) checkOffered(ctx context.Context, v View, sellingPlan int64, variants ...int64) error {
	if len(variants) == 0 {
		return nil
	}
	g, ours, err := s.groupOf(ctx, v, sellingPlan)
	if err != nil || !ours {
		return err
	}
	variants = slices.DeleteFunc(slices.Clone(variants), func(id int64) bool { return lists(g.Variants, id) })
	if len(variants) == 0 {
		return nil
	}
	sold, err := s.Edits.Variants(platform.Interactive(ctx), v.Shop, variants)
	if err != nil {
		return err
	}
	for _, id := range variants {
		if !sells(g, sold[id]) {
			return notOffered(id)
		}
	}
	return nil
}

// sells reports whether a variant is sold on a group, alone or with its product.
func sells(g plan.Group, v platform.Variant) bool {
	return lists(g.Variants, v.ID) || lists(g.Products, v.ProductID)
}

func lists(titles []platform.Titled, id int64) bool {
	return slices.ContainsFunc(titles, func(t platform.Titled) bool { return t.ID == id })
}

func notOffered(variant int64) error {
	return fault.New(fault.FailedPrecondition, "variant %d is not sold on the plans of this subscription", variant).Entity("productVariant").Code("variantNotOffered").Field("variantId")
}
