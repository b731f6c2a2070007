package amend

import (
	"slices"

	"github.com/perennialhq/perennial/internal/platform"
)

// applied reports whether an edit whose answer was lost has been made: the contract is
// at a later revision and shows everything that the edit sets.
func applied(before, now platform.Detail, e platform.Edit) bool {
	if now.Revision <= before.Revision {
		return false
	}
	for _, l := range e.Lines {
		if !lineApplied(before, now, l) {
			return false
		}
	}
	for _, d := range e.Discounts {
		if !discountApplied(before, now, d) {
			return false
		}
	}
	return (e.Billing == nil || samePolicy(*e.Billing, now.Billing)) && (e.Delivery == nil || samePolicy(*e.Delivery, now.Delivery)) &&
		(e.NextBillingDate == nil || e.NextBillingDate.Equal(now.NextBillingDate)) && same(e.Note, now.Note) && same(e.PaymentMethod, now.PaymentMethod.ID) &&
		same(e.Method, now.Method) && same(e.DeliveryPrice, now.DeliveryPrice) && (e.Attributes == nil || slices.Equal(*e.Attributes, now.Attributes))
}

func same[T comparable](want *T, is T) bool { return want == nil || *want == is }

func samePolicy(a, b platform.Policy) bool {
	return a.Interval == b.Interval && a.Count == b.Count && a.MinCycles == b.MinCycles && a.MaxCycles == b.MaxCycles && slices.Equal(a.Anchors, b.Anchors)
}

func lineApplied(before, now platform.Detail, l platform.LineEdit) bool {
	find := func(d platform.Detail, id string) int {
		return slices.IndexFunc(d.Lines, func(is platform.Line) bool { return is.ID == id })
	}
	at := find(now, l.Line)
	switch {
	case l.Line == "":
		at = slices.IndexFunc(now.Lines, func(is platform.Line) bool { return find(before, is.ID) < 0 && same(l.Variant, is.VariantID) })
	case l.Remove:
		return at < 0
	}
	return at >= 0 && same(l.Variant, now.Lines[at].VariantID) && same(l.Quantity, now.Lines[at].Quantity) && same(l.Price, now.Lines[at].Price) &&
		same(l.SellingPlanID, now.Lines[at].SellingPlanID)
}

func discountApplied(before, now platform.Detail, e platform.DiscountEdit) bool {
	has := func(d platform.Detail, is func(platform.Discount) bool) int {
		n := 0
		for _, x := range d.Discounts {
			if is(x) {
				n++
			}
		}
		return n
	}
	switch {
	case e.Remove != "":
		return has(now, func(d platform.Discount) bool { return d.ID == e.Remove }) == 0
	case e.Code != "":
		return has(now, func(d platform.Discount) bool { return d.Code == e.Code }) > 0
	default:
		return has(now, func(d platform.Discount) bool {
			return d.Title == e.Add.Title && has(before, func(was platform.Discount) bool { return was.ID == d.ID }) == 0
		}) > 0
	}
}
