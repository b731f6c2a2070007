package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// offer returns the option that is a selling plan; false when it is not one of
// ours.
func (s *Service) offer(ctx context.Context, of shop.ID, line shop.Line, sellingPlan int64) (plan.Offer, bool, error) {
	if sellingPlan == 0 {
		return plan.Offer{}, false, nil
	}
	offers, err := s.Plans.OffersOf(ctx, of, line, []int64{sellingPlan})
	if err != nil || len(offers) == 0 {
		return plan.Offer{}, false, err
	}
	return offers[0], true, nil
}

// unitPrice returns what a unit of a variant costs a contract on a selling plan in its
// next order, and how that changes with the orders. On no plan, or one that is not
// ours, it is the variant's own price for each delivery that a payment covers.
func (s *Service) unitPrice(ctx context.Context, of shop.ID, c contract.Contract, v platform.Variant, sellingPlan int64) (money.Amount, *platform.Pricing, error) {
	offer, ours, err := s.offer(ctx, of, c.Line, sellingPlan)
	if err != nil || !ours {
		return v.Price.Times(c.Deliveries()), nil, err
	}
	cycles, err := s.cyclesBefore(ctx, of, c)
	price, pricing := offer.Sells(v.Price, plan.Place{Order: c.NextOrder(), Cycle: cycles + 1, Deliveries: c.Deliveries()})
	return price, pricing, err
}

// option returns the option that is a selling plan, or NotFound.
func (s *Service) option(ctx context.Context, of shop.ID, line shop.Line, sellingPlan int64) (plan.Offer, error) {
	offer, ours, err := s.offer(ctx, of, line, sellingPlan)
	if err == nil && !ours {
		err = fault.New(fault.NotFound, "selling plan %d does not belong to one of the store's groups", sellingPlan).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return offer, err
}
