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

// Quote returns a variant's unit price in an order, and its prices by cycle; nil when the price
// is the same in all.
type Quote func(v platform.Variant) (money.Amount, *platform.Pricing)

// QuoteOf returns the prices of variants in the contract's next order on a selling plan. Without a
// plan of the store's groups a price is the variant's times the deliveries of one payment.
func (p *Pricer) QuoteOf(ctx context.Context, of shop.ID, c contract.Contract, sellingPlan int64) (Quote, error) {
	offer, ours, err := p.Offer(ctx, of, c.Line, sellingPlan)
	if err != nil {
		return nil, err
	}
	if !ours {
		return func(v platform.Variant) (money.Amount, *platform.Pricing) { return v.Price.Times(c.Deliveries()), nil }, nil
	}
	next, err := p.NextPlace(ctx, of, c)
	return func(v platform.Variant) (money.Amount, *platform.Pricing) { return offer.Sells(v.Price, next) }, err
}

// NextPlace returns where the contract's next order is in its plan's prices.
func (p *Pricer) NextPlace(ctx context.Context, of shop.ID, c contract.Contract) (plan.Place, error) {
	cycles, err := p.CyclesBefore(ctx, of, c)
	return plan.Place{Order: c.NextOrder(), Cycle: cycles + 1, Deliveries: c.Deliveries()}, err
}

// UnitPrice returns one variant's price as QuoteOf says it.
func (p *Pricer) UnitPrice(ctx context.Context, of shop.ID, c contract.Contract, v platform.Variant, sellingPlan int64) (money.Amount, *platform.Pricing, error) {
	quote, err := p.QuoteOf(ctx, of, c, sellingPlan)
	if err != nil {
		return money.Amount{}, nil, err
	}
	price, pricing := quote(v)
	return price, pricing, nil
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
