package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// SetSellingPlan moves all lines to another selling plan and takes over its intervals,
// fixed days and prices. A product that the store does not sell in the contract's
// currency keeps its price.
func (s *Service) SetSellingPlan(ctx context.Context, of shop.ID, cmd amend.Command, sellingPlan int64) (contract.Detail, error) {
	offer, err := s.Option(ctx, of, cmd.Line, sellingPlan)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		c, err := s.moveToPlan(ctx, store, d, offer)
		if err != nil {
			return amend.Change{}, err
		}
		billed, delivered := terms.Frequency(offer.Billing), terms.Frequency(offer.Delivery)
		days := offer.Anchors()
		if !billed.Equals(d.Contract.Billing) || !terms.HasAnchors(d.Contract.Billing, days) {
			c.Edit.Billing = &platform.Policy{Interval: billed.Interval.String(), Count: billed.Count, Anchors: days, MinCycles: d.MinCycles, MaxCycles: d.MaxCycles}
			c.Entries = append(c.Entries, amend.Note{Event: activity.BillingIntervalChange, Details: termsDetails{From: terms.Describe(terms.PlatformPolicy(terms.FrequencyOf(d.Billing), d.Billing, 0, 0)), To: terms.Describe(*c.Edit.Billing)}})
		}
		if !delivered.Equals(d.Contract.Delivery) || !terms.HasAnchors(d.Contract.Delivery, days) {
			c.Edit.Delivery = &platform.Policy{Interval: delivered.Interval.String(), Count: delivered.Count, Anchors: days}
			c.Entries = append(c.Entries, amend.Note{Event: activity.DeliveryIntervalChange, Details: termsDetails{From: terms.Describe(terms.PlatformPolicy(terms.FrequencyOf(d.Delivery), d.Delivery, 0, 0)), To: terms.Describe(*c.Edit.Delivery)}})
		}
		return c, nil
	})
}

// moveToPlan moves every line to a plan, at its price. A line that is on the plan keeps
// its price, unless the number of deliveries per payment changes.
func (s *Service) moveToPlan(ctx context.Context, store shop.Shop, d contract.Detail, offer plan.Offer) (amend.Change, error) {
	var c amend.Change
	sold, err := s.VariantsOfLines(ctx, store, d.Lines)
	if err != nil {
		return amend.Change{}, err
	}
	next, err := s.NextPlace(ctx, store.ID, d.Contract)
	if err != nil {
		return amend.Change{}, err
	}
	next.Deliveries = offer.Deliveries()
	for at, l := range d.Lines {
		there := l.SellingPlanID == offer.ID
		if keepsPrice(d.Contract, l, offer.Option) {
			continue
		}
		edit := platform.LineEdit{Line: l.ID, SellingPlanID: &offer.ID, SellingPlanName: &offer.Name}
		about := terms.LineDetails{Line: l.ID, Title: l.Title, Variant: l.VariantID}
		if v, known := sold[l.VariantID]; known && v.Price.Currency == d.Currency {
			price, pricing := offer.Sells(v.Price, next)
			edit.Pricing = terms.ReplacePricing(pricing, terms.PricingOf(d, at), price)
			if price != l.Price {
				edit.Price, about.Price, about.OldPrice = &price, price.String(), l.Price.String()
			}
		}
		event := activity.ProductSellingPlanChange
		if there {
			if edit.Price == nil {
				continue
			}
			event = activity.ProductPriceChange
		}
		c.Edit.Lines = append(c.Edit.Lines, edit)
		c.Entries = append(c.Entries, amend.Note{Event: event, Details: about})
	}
	return c, nil
}

// keepsPrice reports whether a line keeps its price on an option: it is on it, and a payment is for
// as many deliveries as before.
func keepsPrice(c contract.Contract, l contract.LineItem, o plan.Option) bool {
	return l.SellingPlanID == o.ID && c.Deliveries() == o.Deliveries()
}

// OnPlans returns a contract as SetSellingPlan would leave it on each of some options, by their
// number, at the prices of its next order.
func (s *Service) OnPlans(ctx context.Context, store shop.Shop, c contract.Contract, options []plan.Option) (map[int64]contract.Contract, error) {
	sold, err := s.VariantsOfLines(ctx, store, c.Lines)
	if err != nil {
		return nil, err
	}
	next, err := s.NextPlace(ctx, store.ID, c)
	if err != nil {
		return nil, err
	}
	on := make(map[int64]contract.Contract, len(options))
	for _, o := range options {
		is := c
		next.Deliveries = o.Deliveries()
		for _, l := range c.Lines {
			if v, known := sold[l.VariantID]; known && v.Price.Currency == c.Currency && !keepsPrice(c, l, o) {
				price, _ := o.Sells(v.Price, next)
				is = is.Repriced(l.ID, price)
			}
		}
		is.Billing, is.Delivery = o.Policy(o.Billing), o.Policy(o.Delivery)
		on[o.ID] = is
	}
	return on, nil
}
