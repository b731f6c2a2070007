package terms

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Offer returns the option of a selling plan; false when the plan is not one of the
// store's groups.
func (p *Pricer) Offer(ctx context.Context, of shop.ID, line shop.Line, sellingPlan int64) (plan.Offer, bool, error) {
	if sellingPlan == 0 {
		return plan.Offer{}, false, nil
	}
	offers, err := p.Plans.OffersOf(ctx, of, line, []int64{sellingPlan})
	if err != nil || len(offers) == 0 {
		return plan.Offer{}, false, err
	}
	return offers[0], true, nil
}

// UnitPrice returns a variant's unit price in the contract's next order on a selling
// plan, and its prices by cycle. Without a plan of the store's groups it is the
// variant's price times the deliveries of one payment.
func (p *Pricer) UnitPrice(ctx context.Context, of shop.ID, c contract.Contract, v platform.Variant, sellingPlan int64) (money.Amount, *platform.Pricing, error) {
	offer, ours, err := p.Offer(ctx, of, c.Line, sellingPlan)
	if err != nil || !ours {
		return v.Price.Times(c.Deliveries()), nil, err
	}
	cycles, err := p.CyclesBefore(ctx, of, c)
	price, pricing := offer.Sells(v.Price, plan.Place{Order: c.NextOrder(), Cycle: cycles + 1, Deliveries: c.Deliveries()})
	return price, pricing, err
}

// Option returns the option of a selling plan, or NotFound.
func (p *Pricer) Option(ctx context.Context, of shop.ID, line shop.Line, sellingPlan int64) (plan.Offer, error) {
	offer, ours, err := p.Offer(ctx, of, line, sellingPlan)
	if err == nil && !ours {
		err = fault.New(fault.NotFound, "selling plan %d does not belong to one of the store's groups", sellingPlan).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return offer, err
}
