package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// LineChange says what a line is to become. What is nil stays as it is.
type LineChange struct {
	Line                 string // graph id of the line, or
	OldVariant           int64  // the line with this variant
	Variant              *int64
	Quantity             *int
	Price                *money.Amount // of a unit
	Reprice              bool          // when the variant changes, the plan gives the price
	DowngradeAtNextOrder bool          // a downgrade waits for the next order
	Pricing              *[]contract.CyclePrice
	Base                 *money.Amount // what prices by cycle count from; nil: the current price, or with no Pricing what they count from now
	Attributes           *[]contract.Attribute
	SellingPlan          *int64
	PlanName             *string // as the line names its selling plan
}

// ChangeLine changes one line.
func (s *Service) ChangeLine(ctx context.Context, of shop.ID, cmd Command, l LineChange) (contract.Detail, error) {
	quantity := 1
	if l.Quantity != nil {
		quantity = *l.Quantity
	}
	if err := checkLine(quantity, l.Price); err != nil {
		return contract.Detail{}, err
	}
	if err := CheckPrice("basePrice", l.Base); err != nil {
		return contract.Detail{}, err
	}
	if l.Attributes != nil {
		if err := CheckAttributes(*l.Attributes); err != nil {
			return contract.Detail{}, err
		}
	}
	if l.Pricing != nil {
		if err := checkPricing(*l.Pricing); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) { return s.lineChange(ctx, store, d, l) })
}

// SetLineAttributes replaces the attributes of lines, by their graph ids, in one change.
func (s *Service) SetLineAttributes(ctx context.Context, of shop.ID, cmd Command, by map[string][]contract.Attribute) (contract.Detail, error) {
	if len(by) == 0 || len(by) > MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give the attributes of 1 to %d lines", MaxLines).Entity(entity).Code("linesCount")
	}
	for _, list := range by {
		if err := CheckAttributes(list); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		var all change
		found := 0
		for _, l := range d.Lines {
			list, named := by[l.ID]
			if !named {
				continue
			}
			found++
			one, err := s.lineChange(ctx, store, d, LineChange{Line: l.ID, Attributes: &list})
			if err != nil {
				return change{}, err
			}
			all.edit.Lines = append(all.edit.Lines, one.edit.Lines...)
			all.entries = append(all.entries, one.entries...)
		}
		if found < len(by) {
			return change{}, lineNotFound()
		}
		return all, nil
	})
}

func (s *Service) lineChange(ctx context.Context, store shop.Shop, d contract.Detail, l LineChange) (change, error) {
	if err := changeable(d.Contract); err != nil {
		return change{}, err
	}
	at := d.LineByID(l.Line)
	if l.Line == "" {
		at = d.LineByVariant(l.OldVariant)
	}
	if at < 0 {
		return change{}, lineNotFound()
	}
	is := d.Lines[at]
	var c change
	edit := platform.LineEdit{Line: is.ID}
	about := lineNote{Line: is.ID, Title: is.Title, Variant: is.VariantID}
	tell := func(event activity.EventType, n lineNote) { c.entries = append(c.entries, note{event, n}) }
	plan := is.SellingPlanID
	if l.SellingPlan != nil && *l.SellingPlan != is.SellingPlanID {
		offer, err := s.option(ctx, store.ID, d.Line, *l.SellingPlan)
		if err != nil {
			return change{}, err
		}
		edit.SellingPlanID, edit.SellingPlanName = l.SellingPlan, &offer.Name
		plan = *l.SellingPlan
		tell(activity.ProductSellingPlanChange, about)
	}
	if l.PlanName != nil && *l.PlanName != is.SellingPlanName {
		edit.SellingPlanName = l.PlanName
		tell(activity.ProductSellingPlanChange, about)
	}
	price, cycles := l.Price, 0
	if l.Base != nil || l.Pricing != nil {
		var err error
		if cycles, err = s.cyclesBefore(ctx, store.ID, d.Contract); err != nil {
			return change{}, err
		}
	}
	if l.Base != nil && l.Pricing == nil {
		price, edit.Pricing = rebased(policyOf(d, at), *l.Base, cycles)
	}
	replaced := l.Variant != nil && *l.Variant != is.VariantID
	if replaced || edit.SellingPlanID != nil {
		variant := is.VariantID
		if replaced {
			variant = *l.Variant
		}
		sold, err := s.variants(ctx, store, []int64{variant})
		if err != nil {
			return change{}, err
		}
		if price == nil && l.Reprice {
			amount, pricing, err := s.unitPrice(ctx, store.ID, d.Contract, sold[variant], plan)
			if err != nil {
				return change{}, err
			}
			if amount.Currency != d.Currency {
				return change{}, foreignCurrency(sold[variant], d.Contract)
			}
			price, edit.Pricing = &amount, inPlace(pricing, policyOf(d, at), amount)
		}
		if l.DowngradeAtNextOrder && replaced && price != nil && price.Minor < is.Price.Minor && !d.NextBillingDate.IsZero() {
			offer, ours, err := s.offer(ctx, store.ID, d.Line, plan)
			if err != nil {
				return change{}, err
			}
			if ours && offer.Exchange {
				return s.wait(ctx, store, d, is, platform.LineEdit{Line: is.ID, Variant: l.Variant, Price: price})
			}
		}
		if replaced {
			edit.Variant = l.Variant
			about.Title, about.Variant = sold[variant].ProductTitle, variant
			told := about
			told.OldVariant = is.VariantID
			tell(activity.ProductReplace, told)
		}
	}
	if l.Quantity != nil && *l.Quantity != is.Quantity {
		edit.Quantity = l.Quantity
		told := about
		told.Quantity, told.OldQuantity = *l.Quantity, is.Quantity
		tell(activity.ProductQuantityChange, told)
	}
	if price != nil && *price != is.Price {
		edit.Price = price
		if !replaced || l.Price != nil { // else the price came with the product
			told := about
			told.Price, told.OldPrice = price.String(), is.Price.String()
			tell(activity.ProductPriceChange, told)
		}
	}
	if was := policyOf(d, at); l.Pricing == nil && l.Base != nil && was != nil && was.Base != *l.Base && edit.Price == nil {
		tell(activity.ProductPricingPolicyChange, about)
	}
	if l.Pricing != nil {
		base := is.Price
		if l.Base != nil {
			base = *l.Base
		}
		edit.Pricing = pricingOf(base, *l.Pricing)
		now, counts := priceNow(edit.Pricing, cycles)
		if !counts {
			now = base
		}
		if price == nil && now != is.Price {
			edit.Price = &now
		}
		tell(activity.ProductPricingPolicyChange, about)
	}
	if l.Attributes != nil {
		if len(d.LineDetails) <= at || !slices.Equal(attributes(*l.Attributes), d.LineDetails[at].Attributes) {
			edit.Attributes = new(attributes(*l.Attributes))
			tell(activity.SubscriptionContractUpdated, about)
		}
	}
	if len(c.entries) > 0 {
		c.edit.Lines = []platform.LineEdit{edit}
	}
	return c, nil
}

// cyclesBefore returns how many cycles come before that of the contract's next order,
// at the price of which it is charged. Those that were skipped count too.
func (s *Service) cyclesBefore(ctx context.Context, of shop.ID, c contract.Contract) (int, error) {
	var attempts []billing.Attempt
	err := s.Store.Update(ctx, of, func(tx intake.Tx) (err error) {
		attempts, err = tx.AttemptsOf(ctx, []contract.ID{c.ID})
		return err
	})
	return nextCycle(c, attempts, s.Clock.Now()) - 1, err
}

// policyOf returns how the price of a line changes with the orders; nil when it does
// not.
func policyOf(d contract.Detail, at int) *platform.Pricing {
	if at < 0 || at >= len(d.LineDetails) {
		return nil
	}
	return d.LineDetails[at].Pricing
}

// inPlace returns the policy that takes another's place: one without steps when the
// price has none of its own, so that the old ones are gone.
func inPlace(own, was *platform.Pricing, price money.Amount) *platform.Pricing {
	if own == nil && was != nil {
		return &platform.Pricing{Base: price}
	}
	return own
}

// rebased returns what a line costs after so many cycles, and by which policy, when
// its price without discounts is another. Of a policy that has a price and no discount
// by now, that price is meant.
func rebased(p *platform.Pricing, base money.Amount, cycles int) (*money.Amount, *platform.Pricing) {
	if p == nil {
		return &base, nil
	}
	on, now := p.On(base), base
	if i := stepNow(&on, cycles); i >= 0 {
		step := &on.Cycles[i]
		if step.Kind == platform.FixedPrice {
			step.Amount, step.Computed = base, base
		}
		now = step.Computed
	}
	return &now, &on
}

// checkPricing says what is wrong with prices by cycle.
func checkPricing(cycles []contract.CyclePrice) error {
	if len(cycles) > platform.MaxCyclePrices {
		return fault.New(fault.Invalid, "at most %d prices by cycle can be given", platform.MaxCyclePrices).Entity(entity).Code("pricingPolicy")
	}
	for i, step := range cycles {
		if step.After < 0 || i > 0 && step.After <= cycles[i-1].After {
			return fault.New(fault.Invalid, "afterCycle must be 0 or more and grow from one price to the next").Entity(entity).Code("pricingPolicy").Field("afterCycle")
		}
		if step.Kind == platform.PercentOff && (step.Percent < 0 || step.Percent > 100) {
			return fault.New(fault.Invalid, "a percentage is from 0 to 100").Entity(entity).Code("pricingPolicy").Field("value")
		}
		if step.Amount.Minor < 0 || step.Amount.Milli() > MaxPriceMilli {
			return fault.New(fault.Invalid, "an amount of a price by cycle must be from 0 to 999999.99").Entity(entity).Code("pricingPolicy").Field("value")
		}
	}
	return nil
}

// pricingOf computes the unit prices that prices by cycle give.
func pricingOf(base money.Amount, cycles []contract.CyclePrice) *platform.Pricing {
	on := platform.Pricing{Cycles: cycles}.On(base)
	return &on
}

// priceNow returns the price that a policy gives after so many cycles; false when
// none of its steps counts yet.
func priceNow(p *platform.Pricing, cycles int) (now money.Amount, ok bool) {
	if i := stepNow(p, cycles); i >= 0 {
		return p.Cycles[i].Computed, true
	}
	return money.Amount{}, false
}

// stepNow returns which step of a policy counts after so many cycles; -1 when none
// does yet.
func stepNow(p *platform.Pricing, cycles int) int {
	now := -1
	for i, step := range p.Cycles {
		if step.After <= cycles {
			now = i
		}
	}
	return now
}
