package billing

import (
	"context"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// current is what an order holds, as a copy of the contract as it is or as the
// contract itself has it.
type current struct {
	platform.CycleOrder
	source *platform.Detail // the contract, when the order is a copy of an older one that the platform does not take back
}

// lines returns the lines that the order should have but for rules and one-time
// products.
func (c current) lines() []placed {
	if c.source != nil {
		return placedOf(c.source.Lines, c.source.LineDetails)
	}
	return placedOf(c.Lines, c.LineDetails)
}

// currentOrder reads the order for the contract as it is. A copy of ours that may
// have been made of an older contract is taken back before; false when that came to
// no end.
func (s *Service) currentOrder(ctx context.Context, of shop.Shop, p *prepared) (current, bool) {
	is, err := s.Platform.CycleOrder(ctx, of.At(), p.cycle())
	if p.failed(err, false) {
		return current{}, false
	}
	if is.Edited && p.Prep.Edited && is.Revision != p.since {
		err := s.Platform.DropCycleEdit(ctx, of.At(), p.cycle())
		if _, refused := errors.AsType[*platform.Refusal](err); refused {
			return s.keptCopy(ctx, of, p, is)
		}
		if p.failed(err, false) { // to take it back again does no harm, and to go on with it would
			return current{}, false
		}
		p.since = is.Revision
		if is, err = s.Platform.CycleOrder(ctx, of.At(), p.cycle()); p.failed(err, false) {
			return current{}, false
		}
	}
	if !is.Edited {
		p.since = is.Revision
	}
	return current{CycleOrder: is}, true
}

// keptCopy is an order that the platform does not take back. It is edited to be what
// the contract is.
func (s *Service) keptCopy(ctx context.Context, of shop.Shop, p *prepared, is platform.CycleOrder) (current, bool) {
	source, err := s.Platform.Detail(ctx, of.At(), int64(p.Contract))
	if p.failed(err, false) {
		return current{}, false
	}
	is.Revision = source.Revision
	return current{is, &source}, true
}

// likeSource lets an edit give a copy what else the contract has besides lines.
func likeSource(e *platform.Edit, is platform.CycleOrder, source platform.Detail) {
	e.Attributes, e.DeliveryPrice = &source.Attributes, &source.DeliveryPrice
	if source.Method.Kind != "" {
		e.Method = &source.Method
	}
	if source.PaymentMethod.ID != "" {
		e.PaymentMethod = &source.PaymentMethod.ID
	}
	for _, d := range is.Discounts {
		if !slices.ContainsFunc(source.Discounts, sameDiscount(d)) {
			e.Discounts = append(e.Discounts, platform.DiscountEdit{Remove: d.ID})
		}
	}
	for _, d := range source.Discounts {
		switch {
		case slices.ContainsFunc(is.Discounts, sameDiscount(d)):
		case d.Code != "":
			e.Discounts = append(e.Discounts, platform.DiscountEdit{Code: d.Code})
		default:
			e.Discounts = append(e.Discounts, platform.DiscountEdit{Add: &d})
		}
	}
}

// sameDiscount tells by what discounts give whether others are copies of one.
func sameDiscount(d platform.Discount) func(platform.Discount) bool {
	return func(o platform.Discount) bool {
		return d.Title == o.Title && d.Code == o.Code && d.Percent == o.Percent && d.Amount == o.Amount && d.EachItem == o.EachItem &&
			d.FreeShipping == o.FreeShipping && d.CycleLimit == o.CycleLimit && d.AllLines == o.AllLines && slices.Equal(d.Lines, o.Lines)
	}
}
