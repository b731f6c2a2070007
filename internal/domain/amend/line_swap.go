package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Swap replaces lines by others: every line whose variant is among old, or the
// line named, gives way to the new variants with their quantities.
type Swap struct {
	OldLine     string
	OldVariants []int64
	New         []NewLine
	Discount    swap.DiscountMode // the discount of the new lines; empty: as ProductPlan
}

// named reports whether something is to give way.
func (w Swap) named() bool { return w.OldLine != "" || len(w.OldVariants) > 0 }

// gone returns the lines that give way.
func (w Swap) gone(d contract.Detail) []contract.Line {
	var old []contract.Line
	for _, l := range d.Lines {
		if l.ID == w.OldLine || slices.Contains(w.OldVariants, l.VariantID) {
			old = append(old, l)
		}
	}
	return old
}

func (w Swap) check() error {
	if len(w.New) > MaxLines {
		return fault.New(fault.Invalid, "give at most %d new variants", MaxLines).Entity(entity).Code("linesCount").Field("newVariants")
	}
	for _, l := range w.New {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return err
		}
	}
	return nil
}

// swapLines replaces lines by others in one change. Without the ones the others are
// added, and without the others the ones are removed.
func (s *Service) swapLines(ctx context.Context, of shop.ID, cmd Command, w Swap) (contract.Detail, error) {
	if !w.named() {
		return s.AddLines(ctx, of, cmd, w.New)
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		old := w.gone(d)
		if len(old) == 0 {
			return change{}, lineNotFound()
		}
		ids := make([]string, len(old))
		for i, l := range old {
			ids[i] = l.ID
		}
		if len(w.New) == 0 {
			return removal(d, ids, true)
		}
		var c change
		for _, id := range ids {
			c.edit.Lines = append(c.edit.Lines, platform.LineEdit{Line: id, Remove: true})
		}
		sold, err := s.variants(ctx, store, variantsOf(w.New))
		if err != nil {
			return change{}, err
		}
		carry, err := s.carries(ctx, store, d, w.Discount, old[0].SellingPlanID)
		if err != nil {
			return change{}, err
		}
		var discount carrying
		if carry {
			if discount, err = s.carrying(ctx, store, d, old); err != nil {
				return change{}, err
			}
		}
		for i, l := range w.New {
			if l.SellingPlan == 0 {
				l.SellingPlan = old[0].SellingPlanID
			}
			var pricing *platform.Pricing
			if carry && l.Price == nil {
				l.Price, pricing = discount.to(sold[l.Variant])
			}
			edit, err := s.lineEdit(ctx, store, d, sold[l.Variant], l)
			if err != nil {
				return change{}, err
			}
			if pricing != nil {
				edit.Pricing = pricing
			}
			c.edit.Lines = append(c.edit.Lines, edit)
			gone := old[min(i, len(old)-1)]
			c.entries = append(c.entries, note{activity.ProductReplace, lineNote{
				Title: sold[l.Variant].ProductTitle, Variant: l.Variant, OldVariant: gone.VariantID, Quantity: l.Quantity, OldQuantity: gone.Quantity,
			}})
		}
		return c, nil
	})
}

// carries reports whether new lines get the discount of the old ones, and not what
// their plan asks.
func (s *Service) carries(ctx context.Context, store shop.Shop, d contract.Detail, carry swap.DiscountMode, sellingPlan int64) (bool, error) {
	if carry != swap.ProductThenExisting {
		return carry == swap.ExistingPlan, nil
	}
	_, ours, err := s.offer(ctx, store.ID, d.Line, sellingPlan)
	return !ours, err
}

// carrying is the discount of lines that are to be replaced.
type carrying struct {
	old        []swap.Line
	sold       map[int64]platform.Variant // what the store asks for them, for one payment
	deliveries int64                      // that one payment is for
}

// carrying reads what the lines are sold at. Prices by cycle are those that a line
// has at the platform or, where it has none, those of its plan, if they made its price.
func (s *Service) carrying(ctx context.Context, store shop.Shop, d contract.Detail, old []contract.Line) (carrying, error) {
	sold, err := s.soldNow(ctx, store, old)
	if err != nil {
		return carrying{}, err
	}
	cycles, err := s.cyclesBefore(ctx, store.ID, d.Contract)
	if err != nil {
		return carrying{}, err
	}
	c := carrying{old: swap.Lines(old), sold: swap.PriceForDeliveries(sold, d.Deliveries()), deliveries: d.Deliveries()}
	for i, l := range old {
		offer, ours, err := s.offer(ctx, store.ID, d.Line, l.SellingPlanID)
		if err != nil {
			return carrying{}, err
		}
		c.old[i].Pricing = policyOf(d, d.LineByID(l.ID))
		v, known := sold[l.VariantID]
		if !ours || !known || c.old[i].Pricing != nil {
			continue
		}
		if on, ok := byPlan(d.Contract, l, offer.Pricing(v.Price), cycles+1); ok {
			c.old[i].Price, c.old[i].Pricing = on.price, on.policy
		}
	}
	return c, nil
}

// to returns what a variant costs with the discount, and by which policy; nil when
// by none.
func (c carrying) to(v platform.Variant) (*money.Amount, *platform.Pricing) {
	v.Price = v.Price.Times(c.deliveries)
	price, pricing := swap.DiscountedPrice(c.old, v, c.sold)
	return &price, pricing
}
