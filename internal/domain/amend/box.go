package amend

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Bundles knows which box a contract is.
type Bundles interface {
	BundleOf(ctx context.Context, of shop.ID, c contract.Contract) (bundle.Settings, bool, error)
}

// checkLines refuses a change of lines that would move the contract to the other
// line of the business, or that the rules of its box forbid. It reports whether
// there are such rules.
func (s *Service) checkLines(ctx context.Context, store shop.Shop, d contract.Detail, edits []platform.LineEdit) (boxed bool, err error) {
	if len(edits) == 0 {
		return false, nil
	}
	after := linesAfter(d.Lines, edits)
	if moved := contract.LineOf(after, store.Settings); moved != d.Line {
		return false, fault.New(fault.NotFound, "the selling plan belongs to %s contracts, and contract %d is a %s", moved, d.ID, d.Line).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return s.checkBox(ctx, store, d, after)
}

// checkBox refuses lines that the rules of the contract's box forbid. A contract
// that is no box may hold what it likes.
func (s *Service) checkBox(ctx context.Context, store shop.Shop, d contract.Detail, after []contract.Line) (boxed bool, err error) {
	was, wasBox, err := s.Bundles.BundleOf(ctx, store.ID, d.Contract)
	if err != nil {
		return false, err
	}
	becoming := d.Contract
	becoming.Lines = after
	box, boxed, err := s.Bundles.BundleOf(ctx, store.ID, becoming)
	if err != nil {
		return false, err
	}
	if !boxed {
		box, boxed = was, wasBox // it leaves the box it was in
	}
	if !boxed || !box.Rules.Enabled {
		return false, nil
	}
	categories := map[int64]string{}
	if box.Rules.NeedsCategories() {
		if categories, err = s.categories(ctx, store, d.Lines, after); err != nil {
			return true, err
		}
	}
	inside := items(box, after, categories)
	if len(inside) == 0 {
		return true, nil // nothing is left of the box
	}
	if !wasBox || was.ID != box.ID {
		return true, box.Rules.CheckBox(inside)
	}
	swaps, err := s.swaps(ctx, store.ID, d.Contract)
	if err != nil {
		return true, err
	}
	return true, box.Rules.Check(bundle.Edit{
		Before: items(box, d.Lines, categories), After: inside, Orders: d.Orders, Swaps: swaps,
		Days: int(d.NextBillingDate.Sub(s.Clock.Now()) / (24 * time.Hour)),
	})
}

// linesAfter are the lines that edits leave. Of new ones only what a box counts
// is known.
func linesAfter(is []contract.Line, edits []platform.LineEdit) []contract.Line {
	byID := make(map[string]platform.LineEdit, len(edits))
	var after []contract.Line
	for _, e := range edits {
		byID[e.Line] = e
	}
	for _, l := range is {
		e, edited := byID[l.ID]
		if edited && e.Remove {
			continue
		}
		if edited {
			l = changed(l, e)
		}
		after = append(after, l)
	}
	for _, e := range edits {
		if e.Line == "" {
			after = append(after, changed(contract.Line{}, e))
		}
	}
	return after
}

func changed(l contract.Line, e platform.LineEdit) contract.Line {
	if e.Variant != nil {
		l.VariantID = *e.Variant
	}
	if e.Quantity != nil {
		l.Quantity = *e.Quantity
	}
	if e.Price != nil {
		l.Price = *e.Price
	}
	if e.SellingPlanID != nil {
		l.SellingPlanID = *e.SellingPlanID
	}
	return l
}

// items are the lines on the box's selling plans as it counts them, with the
// categories of their variants.
func items(box bundle.Settings, lines []contract.Line, categories map[int64]string) []bundle.Item {
	var list []bundle.Item
	for _, l := range lines {
		if slices.Contains(box.Plans, l.SellingPlanID) {
			list = append(list, bundle.Item{Variant: l.VariantID, Category: categories[l.VariantID], Quantity: l.Quantity, Price: l.Price})
		}
	}
	return list
}

// categories reads the types of the products of all lines, by variant.
func (s *Service) categories(ctx context.Context, store shop.Shop, lists ...[]contract.Line) (map[int64]string, error) {
	var ids []int64
	for _, lines := range lists {
		for _, l := range lines {
			ids = append(ids, l.VariantID)
		}
	}
	sold, err := s.variants(ctx, store, ids)
	if err != nil {
		return nil, err
	}
	categories := make(map[int64]string, len(sold))
	for id, v := range sold {
		categories[id] = v.ProductType
	}
	return categories, nil
}

// swaps counts the variants that were exchanged since the last order, from the
// log.
func (s *Service) swaps(ctx context.Context, of shop.ID, c contract.Contract) (int, error) {
	_, n, err := s.Trail.Entries(ctx, of, []page.Criterion{
		{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{int64(c.ID)}},
		{Field: activity.FieldEvent, Op: page.Equals, Texts: []string{string(activity.ProductReplace)}},
		{Field: activity.FieldStatus, Op: page.Equals, Texts: []string{string(activity.Success)}},
		{Field: activity.FieldAt, Op: page.GreaterThan, Numbers: []int64{c.LastOrderAt.UnixMilli()}},
	}, page.Request{Size: 1})
	return n, err
}
