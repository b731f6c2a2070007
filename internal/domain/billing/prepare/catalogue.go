package prepare

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// applied applies rules to an order, with what the store sells. It makes no call if no rule
// concerns the order.
func (s *Service) applied(ctx context.Context, of shop.Shop, rules []swap.Rule, o swap.Order, place place) (swap.Result, error) {
	if !concerns(rules, o) {
		return swap.Result{Lines: o.Lines}, nil
	}
	c, err := s.catalogue(ctx, of, rules, place)
	if err != nil {
		return swap.Result{}, err
	}
	return swap.Apply(rules, o, c), nil
}

// place is where in a contract's life an order stands.
type place struct {
	plan.Place
	line shop.Line
}

func placeOf(c contract.Contract, cycle int) place {
	return place{plan.Place{Order: c.NextOrder(), Cycle: cycle, Deliveries: c.Deliveries()}, c.Line}
}

// catalogue returns what rules need to know of the products that they name. Prices
// are for the deliveries that one payment covers.
func (s *Service) catalogue(ctx context.Context, of shop.Shop, rules []swap.Rule, place place) (swap.Catalogue, error) {
	sold, err := s.sold(ctx, of, swap.Variants(rules))
	if err != nil {
		return swap.Catalogue{}, err
	}
	return s.catalogueOf(ctx, of, sold, place), nil
}

// catalogueOf is the catalogue of what the store is known to sell.
func (s *Service) catalogueOf(ctx context.Context, of shop.Shop, sold map[int64]platform.Variant, place place) swap.Catalogue {
	c := swap.Catalogue{Variants: swap.PriceForDeliveries(sold, place.Deliveries)}
	if s.Plans == nil {
		return c
	}
	c.PlanPrice = func(l contract.LineItem, v platform.Variant) (money.Amount, *platform.Pricing, bool) {
		if l.SellingPlanID == 0 {
			return money.Amount{}, nil, false
		}
		v = sold[v.ID] // a plan knows itself what it asks for several deliveries
		offer, ok, err := s.sellingPlan(ctx, of.ID, place, l.SellingPlanID, v)
		if err != nil {
			s.Log.WarnContext(ctx, "a plan's price is not known", "shop", of.Domain, "plan", l.SellingPlanID, "error", err)
		}
		if !ok || err != nil {
			return money.Amount{}, nil, false
		}
		price, pricing := offer.Sells(v.Price, place.Place)
		return price, pricing, true
	}
	return c
}

// sold returns what the store knows of variants, by their numbers. Those that it
// does not sell are left out.
func (s *Service) sold(ctx context.Context, of shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	variants := make(map[int64]platform.Variant, len(ids))
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		found, err := s.Platform.Variants(ctx, of.At(), chunk)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			variants[v.ID] = v
		}
	}
	return variants, nil
}

// sellingPlan returns the option that is a selling plan; false when it is not one of
// ours or does not sell the variant.
func (s *Service) sellingPlan(ctx context.Context, of shop.ID, place place, id int64, v platform.Variant) (plan.Offer, bool, error) {
	offers, err := s.Plans.OffersOf(ctx, of, place.line, []int64{id})
	if err != nil || len(offers) == 0 {
		return plan.Offer{}, false, err
	}
	group, err := s.Plans.PlanGroup(ctx, of, place.line, offers[0].Group)
	if err != nil {
		return plan.Offer{}, false, err
	}
	sold := group.Assigned()
	return offers[0], slices.Contains(sold.Products, v.ProductID) || slices.Contains(sold.Variants, v.ID), nil
}
