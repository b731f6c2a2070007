package amend

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// CheckLines refuses a change of lines that would move the contract to the other line of
// business, or that breaks the rules of its box. It reports whether the contract has
// such rules.
func (ed *Editor) CheckLines(ctx context.Context, store shop.Shop, d contract.Detail, edits []platform.LineEdit) (boxed bool, err error) {
	if len(edits) == 0 {
		return false, nil
	}
	after := LinesAfter(d.Lines, edits)
	if moved := contract.LineOf(after, store.Settings); moved != d.Line {
		return false, fault.New(fault.NotFound, "the selling plan belongs to %s contracts, and contract %d is a %s", moved, d.ID, d.Line).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return ed.checkBox(ctx, store, d, after)
}

// checkBox refuses lines that break the rules of the contract's box. A contract without
// a box has no rules.
func (ed *Editor) checkBox(ctx context.Context, store shop.Shop, d contract.Detail, after []contract.LineItem) (boxed bool, err error) {
	was, wasBox, err := ed.Bundles.BundleOf(ctx, store.ID, d.Contract)
	if err != nil {
		return false, err
	}
	becoming := d.Contract
	becoming.Lines = after
	box, boxed, err := ed.Bundles.BundleOf(ctx, store.ID, becoming)
	if err != nil {
		return false, err
	}
	if !boxed {
		box, boxed = was, wasBox // it leaves its box
	}
	if !boxed || !box.Rules.Enabled {
		return false, nil
	}
	categories := map[int64]string{}
	if box.Rules.NeedsCategories() {
		if categories, err = ed.categories(ctx, store, d.Lines, after); err != nil {
			return true, err
		}
	}
	inside := boxItems(box, after, categories)
	if len(inside) == 0 {
		return true, nil // the box is empty
	}
	if !wasBox || was.ID != box.ID {
		return true, box.Rules.CheckBox(inside)
	}
	swaps, err := ed.swapsSinceLastOrder(ctx, store.ID, d.Contract)
	if err != nil {
		return true, err
	}
	return true, box.Rules.Check(bundle.Edit{
		Before: boxItems(box, d.Lines, categories), After: inside, Orders: d.Orders, Swaps: swaps,
		Days: int(d.NextBillingDate.Sub(ed.Clock.Now()) / (24 * time.Hour)),
	})
}

// priceBox adds to a change of lines what it does to the contract's box: the discount by which that
// costs what its bundle says, and the entries.
func (ed *Editor) priceBox(ctx context.Context, store shop.Shop, is contract.Contract, c *Change) error {
	if len(c.Edit.Lines) == 0 {
		return nil
	}
	becoming := is
	becoming.Lines = LinesAfter(is.Lines, c.Edit.Lines)
	becoming.Discounts = slices.DeleteFunc(slices.Clone(is.Discounts), func(d contract.Discount) bool {
		return slices.ContainsFunc(c.Edit.Discounts, func(e platform.DiscountEdit) bool { return e.Remove == d.ID })
	})
	box, boxed, err := ed.Bundles.BundleOf(ctx, store.ID, becoming)
	if err != nil {
		return err
	}
	var rules order.Rules
	if boxed {
		rules.Boxes = []bundle.Settings{box}
		c.Entries = append(c.Entries, boxNotes(boxItems(box, is.Lines, nil), boxItems(box, becoming.Lines, nil))...)
	}
	priced, price := rules.Boxed(becoming, becoming.PricedAt(becoming.Lines, is.NextCycle(), 0), 0)
	edits := order.BoxEdits(becoming.Discounts, priced)
	if len(edits) == 0 {
		return nil
	}
	c.Edit.Discounts = append(c.Edit.Discounts, edits...)
	change := billing.NewBoxChange(is.Discounts, priced, price)
	for _, event := range change.Events() {
		c.Entries = append(c.Entries, Note{Event: event, Details: billing.EntryInfo{From: change.From, To: change.To, Reason: change.Title}})
	}
	return nil
}

// boxNotes returns the entries about what comes into a box, leaves it, and changes its quantity.
func boxNotes(before, after []bundle.Item) []Note {
	was, is := bundle.Counts(before), bundle.Counts(after)
	var notes []Note
	for _, variant := range slices.Sorted(maps.Keys(is)) {
		switch from, to := was[variant], is[variant]; {
		case from == 0:
			notes = append(notes, Note{activity.BABProductAdd, billing.EntryInfo{Variant: variant, To: strconv.Itoa(to)}})
		case from != to:
			notes = append(notes, Note{activity.BABQuantityChange, billing.EntryInfo{Variant: variant, From: strconv.Itoa(from), To: strconv.Itoa(to)}})
		}
	}
	for _, variant := range slices.Sorted(maps.Keys(was)) {
		if is[variant] == 0 {
			notes = append(notes, Note{activity.BABProductRemove, billing.EntryInfo{Variant: variant, From: strconv.Itoa(was[variant])}})
		}
	}
	return notes
}

// LinesAfter returns the lines after edits. New lines have only what a box counts.
func LinesAfter(is []contract.LineItem, edits []platform.LineEdit) []contract.LineItem {
	byID := make(map[string]platform.LineEdit, len(edits))
	var after []contract.LineItem
	for _, e := range edits {
		byID[e.Line] = e
	}
	for _, l := range is {
		e, edited := byID[l.ID]
		if edited && e.Remove {
			continue
		}
		if edited {
			l = applyLineEdit(l, e)
		}
		after = append(after, l)
	}
	for _, e := range edits {
		if e.Line == "" {
			after = append(after, applyLineEdit(contract.LineItem{}, e))
		}
	}
	return after
}

func applyLineEdit(l contract.LineItem, e platform.LineEdit) contract.LineItem {
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

// boxItems returns the lines on the box's selling plans, with the categories of their
// variants.
func boxItems(box bundle.Settings, lines []contract.LineItem, categories map[int64]string) []bundle.Item {
	var list []bundle.Item
	for _, l := range box.Inside(lines) {
		list = append(list, bundle.Item{Variant: l.VariantID, Category: categories[l.VariantID], Quantity: l.Quantity, Price: l.Price})
	}
	return list
}

// categories reads the product types of all lines, by variant.
func (ed *Editor) categories(ctx context.Context, store shop.Shop, lists ...[]contract.LineItem) (map[int64]string, error) {
	var ids []int64
	for _, lines := range lists {
		for _, l := range lines {
			ids = append(ids, l.VariantID)
		}
	}
	sold, err := ed.Variants(ctx, store, ids)
	if err != nil {
		return nil, err
	}
	categories := make(map[int64]string, len(sold))
	for id, v := range sold {
		categories[id] = v.ProductType
	}
	return categories, nil
}

// swapsSinceLastOrder counts, in the activity log, the variants that were replaced since
// the last order.
func (ed *Editor) swapsSinceLastOrder(ctx context.Context, of shop.ID, c contract.Contract) (int, error) {
	_, n, err := ed.Trail.Entries(ctx, of, []page.Criterion{
		{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{int64(c.ID)}},
		{Field: activity.FieldEvent, Op: page.Equals, Texts: []string{string(activity.ProductReplace)}},
		{Field: activity.FieldStatus, Op: page.Equals, Texts: []string{string(activity.Success)}},
		{Field: activity.FieldAt, Op: page.GreaterThan, Numbers: []int64{c.LastOrderAt.UnixMilli()}},
	}, page.Request{Size: 1})
	return n, err
}
