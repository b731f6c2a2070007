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

// linesInOrder returns lines in the order in which the contract has them, and in which a
// contract that is made of them has them too.
func linesInOrder(is platform.Detail, lines []string) []string {
	var list []string
	for _, l := range is.Lines {
		if slices.Contains(lines, l.ID) {
			list = append(list, l.ID)
		}
	}
	return list
}

// discountsFor returns the discounts that a contract gets which the lines become, in their
// order, for the orders that are left of them. A percentage, an amount off each item
// and free delivery are for both contracts, each for its own lines. An amount off the
// order is given once: it goes with its lines if all of them go, and stays otherwise.
// What a code gave is given by hand, so that the code is not redeemed again.
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

// manual reports whether the platform lets such a discount be made by hand. Of delivery
// it knows only the whole price, and what some codes give it does not tell.
func manual(x contract.Discount) bool {
	return x.FreeShipping || !x.TargetIsOrder && (x.Percent > 0 || x.Amount.Minor > 0)
}

// addDiscounts gives the new contract of a split its discounts, before the old one loses the
// lines. The mark changes in the same edit and says afterwards that it has them.
func (s *Service) addDiscounts(ctx context.Context, store shop.Shop, w contract.SplitIntent, made platform.Detail) (platform.Detail, error) {
	for range amend.MaxTries {
		at := slices.Index(made.Attributes, splitAttribute(w))
		if len(w.Discounts) == 0 || at < 0 {
			return made, nil
		}
		attributes := slices.Clone(made.Attributes)
		attributes[at].Value += discountsAdded
		edit := platform.Edit{Revision: made.Revision, Attributes: &attributes, Discounts: discountEdits(w, made)}
		after, told, err := s.Send(ctx, store.ID, contract.ID(made.ID), made.Revision, func() (platform.Detail, error) {
			return s.Platform.EditContract(ctx, store.At(), made.ID, edit)
		})
		switch {
		case err == nil:
			_, err = s.Adopt(ctx, store, amend.Command{Contract: contract.ID(made.ID)}, after, amend.Change{InFlight: told})
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

// discountsAdded is what the mark of a new contract ends with once it has its discounts.
const discountsAdded = " equipped"

// discountEdits returns the discounts of a split for the lines of the contract that was
// made by it.
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
