package contractedit

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Swap replaces lines: the line OldLine and every line whose variant is in OldVariants
// are replaced by the new lines.
type Swap struct {
	OldLine     string
	OldVariants []int64
	New         []terms.NewLine
	Discount    swap.DiscountMode // the discount of the new lines; empty: as ProductPlan
	Silent      bool              // the customer gets no e-mail about it
}

// replaces reports whether the swap removes lines.
func (w Swap) replaces() bool { return w.OldLine != "" || len(w.OldVariants) > 0 }

// replaced returns the lines that the swap removes.
func (w Swap) replaced(d contract.Detail) []contract.LineItem {
	var old []contract.LineItem
	for _, l := range d.Lines {
		if l.ID == w.OldLine || slices.Contains(w.OldVariants, l.VariantID) {
			old = append(old, l)
		}
	}
	return old
}

func (w Swap) check() error {
	if len(w.New) > terms.MaxLines {
		return fault.New(fault.Invalid, "give at most %d new variants", terms.MaxLines).Entity(amend.Entity).Code("linesCount").Field("newVariants")
	}
	for _, l := range w.New {
		if err := terms.CheckLine(l.Quantity, l.Price); err != nil {
			return err
		}
	}
	return nil
}

// swapLines replaces lines in one change. It only adds lines when the swap removes none,
// and only removes them when it adds none.
func (s *Service) swapLines(ctx context.Context, of shop.ID, cmd amend.Command, w Swap) (contract.Detail, error) {
	if !w.replaces() {
		return s.AddLines(ctx, of, cmd, w.New)
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		old := w.replaced(d)
		if len(old) == 0 {
			return amend.Change{}, terms.LineNotFound()
		}
		ids := make([]string, len(old))
		for i, l := range old {
			ids[i] = l.ID
		}
		if len(w.New) == 0 {
			return removal(d, ids, true)
		}
		var c amend.Change
		for _, id := range ids {
			c.Edit.Lines = append(c.Edit.Lines, platform.LineEdit{Line: id, Remove: true})
		}
		sold, err := s.Variants(ctx, store, terms.VariantIDs(w.New))
		if err != nil {
			return amend.Change{}, err
		}
		keeps, err := s.keepsDiscount(ctx, store, d, w.Discount, old[0].SellingPlanID)
		if err != nil {
			return amend.Change{}, err
		}
		var discount discountToKeep
		if keeps {
			if discount, err = s.currentDiscount(ctx, store, d, old); err != nil {
				return amend.Change{}, err
			}
		}
		for i, l := range w.New {
			if l.SellingPlan == 0 {
				l.SellingPlan = old[0].SellingPlanID
			}
			var pricing *platform.Pricing
			if keeps && l.Price == nil {
				l.Price, pricing = discount.apply(sold[l.Variant])
			}
			edit, err := s.NewLineEdit(ctx, store, d, sold[l.Variant], l)
			if err != nil {
				return amend.Change{}, err
			}
			if pricing != nil {
				edit.Pricing = pricing
			}
			c.Edit.Lines = append(c.Edit.Lines, edit)
			gone := old[min(i, len(old)-1)]
			c.Entries = append(c.Entries, amend.Note{Event: activity.ProductReplace, Details: terms.LineDetails{
				Title: sold[l.Variant].ProductTitle, Variant: l.Variant, OldVariant: gone.VariantID, Quantity: l.Quantity, OldQuantity: gone.Quantity, Silent: w.Silent,
			}})
		}
		return c, nil
	})
}

// keepsDiscount reports whether new lines keep the discount of the old ones instead of
// the plan's.
func (s *Service) keepsDiscount(ctx context.Context, store shop.Shop, d contract.Detail, mode swap.DiscountMode, sellingPlan int64) (bool, error) {
	if mode != swap.ProductThenExisting {
		return mode == swap.ExistingPlan, nil
	}
	_, ours, err := s.Offer(ctx, store.ID, d.Line, sellingPlan)
	return !ours, err
}

// discountToKeep is the discount of lines that will be replaced.
type discountToKeep struct {
	old        []swap.LineItem
	sold       map[int64]platform.Variant // their catalogue prices, for one payment
	deliveries int64                      // that one payment is for
}

// currentDiscount reads the discount of lines. Prices by cycle are the line's at the
// platform or, if it has none, those of its plan, if the plan set its price.
func (s *Service) currentDiscount(ctx context.Context, store shop.Shop, d contract.Detail, old []contract.LineItem) (discountToKeep, error) {
	sold, err := s.VariantsOfLines(ctx, store, old)
	if err != nil {
		return discountToKeep{}, err
	}
	cycles, err := s.CyclesBefore(ctx, store.ID, d.Contract)
	if err != nil {
		return discountToKeep{}, err
	}
	c := discountToKeep{old: swap.Lines(old), sold: swap.PriceForDeliveries(sold, d.Deliveries()), deliveries: d.Deliveries()}
	for i, l := range old {
		offer, ours, err := s.Offer(ctx, store.ID, d.Line, l.SellingPlanID)
		if err != nil {
			return discountToKeep{}, err
		}
		c.old[i].Pricing = terms.PricingOf(d, d.LineByID(l.ID))
		v, known := sold[l.VariantID]
		if !ours || !known || c.old[i].Pricing != nil {
			continue
		}
		if on, ok := terms.PlanPrice(d.Contract, l, offer.Pricing(v.Price), cycles+1); ok {
			c.old[i].Price, c.old[i].Pricing = on.Price, on.Pricing
		}
	}
	return c, nil
}

// apply returns a variant's discounted price and its prices by cycle; nil when it has
// none.
func (c discountToKeep) apply(v platform.Variant) (*money.Amount, *platform.Pricing) {
	v.Price = v.Price.Times(c.deliveries)
	price, pricing := swap.DiscountedPrice(c.old, v, c.sold)
	return &price, pricing
}
