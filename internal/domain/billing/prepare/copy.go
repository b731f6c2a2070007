package prepare

import (
	"context"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// current is what an order holds, as a copy of the contract or as the contract itself.
type current struct {
	platform.CycleOrder
	source *platform.Detail // the contract, when the order is a copy of an older one that the platform does not take back
}

// lines returns the lines that the order should have but for rules and one-time
// products.
func (c current) lines() []billing.OrderLine {
	if c.source != nil {
		return orderLines(c.source.Lines, c.source.LineDetails)
	}
	return orderLines(c.Lines, c.LineDetails)
}

// currentOrder reads the order as a copy of the present contract. It first drops a copy of ours
// that may be of an older contract; false if that failed.
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

// keptCopy is an order that the platform refuses to drop. It is edited to be like the contract.
func (s *Service) keptCopy(ctx context.Context, of shop.Shop, p *prepared, is platform.CycleOrder) (current, bool) {
	source, err := s.Platform.Detail(ctx, of.At(), int64(p.Contract))
	if p.failed(err, false) {
		return current{}, false
	}
	is.Revision = source.Revision
	return current{is, &source}, true
}

// likeSource adds to an edit of a copy what the contract has in addition to lines.
func likeSource(e *platform.Edit, is platform.CycleOrder, source platform.Detail) {
	e.Attributes, e.DeliveryPrice = &source.Attributes, &source.DeliveryPrice
	if source.Method.Kind != "" {
		e.Method = &source.Method
	}
	if source.PaymentMethod.ID != "" {
		e.PaymentMethod = &source.PaymentMethod.ID
	}
	for _, d := range is.Discounts { // those of boxes are set by the price of the order
		if !bundle.IsDiscount(d.Title) && !slices.ContainsFunc(source.Discounts, sameDiscount(d)) {
			e.Discounts = append(e.Discounts, platform.DiscountEdit{Remove: d.ID})
		}
	}
	for _, d := range source.Discounts {
		switch {
		case bundle.IsDiscount(d.Title), slices.ContainsFunc(is.Discounts, sameDiscount(d)):
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
