package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Swap replaces lines by others: every line whose variant is among old, or the
// line named, gives way to the new variants with their quantities.
type Swap struct {
	OldLine     string
	OldVariants []int64
	New         []NewLine
	CarryOver   bool // the new lines cost what the first old one did
}

// Swap replaces lines by others in one change.
func (s *Service) Swap(ctx context.Context, of shop.ID, cmd Command, w Swap) (contract.Detail, error) {
	if len(w.New) == 0 || len(w.New) > MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give 1 to %d new variants", MaxLines).On(entity).Keyed("linesCount").At("newVariants")
	}
	var ids []int64
	for _, l := range w.New {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return contract.Detail{}, err
		}
		ids = append(ids, l.Variant)
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		var c change
		var old []contract.Line
		for _, l := range d.Lines {
			if l.ID == w.OldLine || slices.Contains(w.OldVariants, l.VariantID) {
				old = append(old, l)
				c.edit.Lines = append(c.edit.Lines, platform.LineEdit{Line: l.ID, Remove: true})
			}
		}
		if len(old) == 0 {
			return change{}, lineNotFound()
		}
		sold, err := s.variants(ctx, store, ids)
		if err != nil {
			return change{}, err
		}
		for i, l := range w.New {
			if l.SellingPlan == 0 {
				l.SellingPlan = old[0].SellingPlanID
			}
			if w.CarryOver && l.Price == nil {
				l.Price = &old[0].Price
			}
			edit, err := s.lineEdit(ctx, store, d, sold[l.Variant], l)
			if err != nil {
				return change{}, err
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
