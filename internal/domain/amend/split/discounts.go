package split

import (
	"cmp"
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// linesInOrder returns lines in the contract's order, which is also that of the new
// contract.
func linesInOrder(is platform.Detail, lines []string) []string {
	var list []string
	for _, l := range is.Lines {
		if slices.Contains(lines, l.ID) {
			list = append(list, l.ID)
		}
	}
	return list
}

// discountsFor returns the discounts that the new contract gets for its lines, for the
// cycles that are left of them. A percentage, an amount off each item and free delivery
// are copied to it. An amount off the order is given once: it moves if all its lines
// move, and stays otherwise. A discount by code becomes a manual one, so that the code
// is not redeemed again.
func discountsFor(is platform.Detail, lines []string) []contract.Discount {
	var list []contract.Discount
	for _, x := range is.Discounts {
		if x.RejectedWhy != "" || x.CycleLimit > 0 && x.UsedCycles >= x.CycleLimit || !manual(x) {
			continue
		}
		given := contract.Discount{
			Title: cmp.Or(x.Title, x.Code), Percent: x.Percent, Amount: x.Amount, EachItem: x.EachItem, FreeShipping: x.FreeShipping, AllLines: x.AllLines,
		}
		if x.CycleLimit > 0 {
			given.CycleLimit = x.CycleLimit - x.UsedCycles
		}
		for _, l := range lines {
			if slices.Contains(x.Lines, l) {
				given.Lines = append(given.Lines, l)
			}
		}
		switch onOrder := x.Percent == 0 && !x.EachItem && !x.FreeShipping; {
		case onOrder && (x.AllLines || len(given.Lines) < len(x.Lines)):
		case x.FreeShipping || x.AllLines || len(given.Lines) > 0:
			list = append(list, given)
		}
	}
	return list
}

// manual reports whether the platform accepts such a discount as a manual one. For
// delivery it accepts only the whole price, and the value of some codes is not known.
func manual(x contract.Discount) bool {
	return x.FreeShipping || !x.TargetIsOrder && (x.Percent > 0 || x.Amount.Minor > 0)
}

// addDiscounts adds the discounts to the new contract before the old one loses the
// lines. The same edit changes the split attribute, which then shows that they are
// there.
func (s *Service) addDiscounts(ctx context.Context, store shop.Shop, w contract.SplitIntent, made platform.Detail) (platform.Detail, error) {
	for range amend.MaxTries {
		at := slices.Index(made.Attributes, splitAttribute(w))
		if len(w.Discounts) == 0 || at < 0 {
			return made, nil
		}
		attributes := slices.Clone(made.Attributes)
		attributes[at].Value += discountsAdded
		edit := platform.Edit{Revision: made.Revision, Attributes: &attributes, Discounts: discountEdits(w, made)}
		after, sent, err := s.Send(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
			return s.Platform.EditContract(ctx, store.At(), made.ID, edit)
		})
		switch {
		case err == nil:
			_, err = s.Adopt(ctx, store, amend.Command{Contract: contract.ID(made.ID)}, after, amend.Change{InFlight: sent})
			return after, err
		case !amend.RefusedWith(err, platform.CodeStale):
			return made, err
		}
		if made, err = s.Platform.Detail(ctx, store.At(), made.ID); err != nil {
			return made, amend.PlatformError(err)
		}
	}
	return made, amend.ChangedMeanwhile()
}

// discountsAdded is the suffix of the split attribute once the contract has its
// discounts.
const discountsAdded = " equipped"

// discountEdits returns the discounts of a split for the lines of the new contract.
func discountEdits(w contract.SplitIntent, made platform.Detail) []platform.DiscountEdit {
	var edits []platform.DiscountEdit
	for _, x := range w.Discounts {
		old := x.Lines
		x.Lines = nil
		for i, l := range made.Lines {
			if i < len(w.Lines) && slices.Contains(old, w.Lines[i]) {
				x.Lines = append(x.Lines, l.ID)
			}
		}
		edits = append(edits, platform.DiscountEdit{Add: &x})
	}
	return edits
}
