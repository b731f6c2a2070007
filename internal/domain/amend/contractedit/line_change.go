package contractedit

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// LineChange is a change of one line. Nil fields stay as they are.
type LineChange struct {
	Line                 string // graph id of the line, or
	OldVariant           int64  // the line with this variant
	Variant              *int64
	Quantity             *int
	Price                *money.Amount // of a unit
	Reprice              bool          // when the variant changes, the selling plan sets the price
	DowngradeAtNextOrder bool          // a cheaper variant is applied with the next order
	Settle               bool          // with Reprice: what the variant costs more or less in the paid term is settled with the next orders
	Pricing              *[]contract.CyclePrice
	Base                 *money.Amount // base of prices by cycle; nil: the current price, or without Pricing the current base
	Announced            bool          // a higher price applies from the first order that is due in PriceNotice or later
	Attributes           *[]contract.Attribute
	SellingPlan          *int64
	PlanName             *string // as the line names its selling plan
}

// ChangeLine changes one line.
func (s *Service) ChangeLine(ctx context.Context, of shop.ID, cmd amend.Command, l LineChange) (contract.Detail, error) {
	quantity := 1
	if l.Quantity != nil {
		quantity = *l.Quantity
	}
	if err := terms.CheckLine(quantity, l.Price); err != nil {
		return contract.Detail{}, err
	}
	if err := terms.CheckPrice("basePrice", l.Base); err != nil {
		return contract.Detail{}, err
	}
	if l.Attributes != nil {
		if err := terms.CheckAttributes(*l.Attributes); err != nil {
			return contract.Detail{}, err
		}
	}
	if l.Pricing != nil {
		if err := terms.CheckPricing(*l.Pricing); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) { return s.lineChange(ctx, store, d, l) })
}

// SetLineAttributes replaces the attributes of lines, by graph id, in one change.
func (s *Service) SetLineAttributes(ctx context.Context, of shop.ID, cmd amend.Command, by map[string][]contract.Attribute) (contract.Detail, error) {
	if len(by) == 0 || len(by) > terms.MaxLines {
		return contract.Detail{}, fault.New(fault.Invalid, "give the attributes of 1 to %d lines", terms.MaxLines).Entity(amend.Entity).Code("linesCount")
	}
	for _, list := range by {
		if err := terms.CheckAttributes(list); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		var all amend.Change
		found := 0
		for _, l := range d.Lines {
			list, named := by[l.ID]
			if !named {
				continue
			}
			found++
			one, err := s.lineChange(ctx, store, d, LineChange{Line: l.ID, Attributes: &list})
			if err != nil {
				return amend.Change{}, err
			}
			all.Edit.Lines = append(all.Edit.Lines, one.Edit.Lines...)
			all.Entries = append(all.Entries, one.Entries...)
		}
		if found < len(by) {
			return amend.Change{}, terms.LineNotFound()
		}
		return all, nil
	})
}

// FindLine returns the position of the line that a change is about, and refuses a contract
// that cannot be changed.
func FindLine(c contract.Contract, l LineChange) (int, error) {
	if err := amend.CheckEditable(c); err != nil {
		return 0, err
	}
	at := c.LineByID(l.Line)
	if l.Line == "" {
		at = c.LineByVariant(l.OldVariant)
	}
	if at < 0 {
		return 0, terms.LineNotFound()
	}
	return at, nil
}

func (s *Service) lineChange(ctx context.Context, store shop.Shop, d contract.Detail, l LineChange) (amend.Change, error) {
	at, err := FindLine(d.Contract, l)
	if err != nil {
		return amend.Change{}, err
	}
	is := d.Lines[at]
	var c amend.Change
	edit := platform.LineEdit{Line: is.ID}
	about := terms.LineDetails{Line: is.ID, Title: is.Title, Variant: is.VariantID}
	record := func(event activity.EventType, n terms.LineDetails) {
		c.Entries = append(c.Entries, amend.Note{Event: event, Details: n})
	}
	plan := is.SellingPlanID
	if l.SellingPlan != nil && *l.SellingPlan != is.SellingPlanID {
		offer, err := s.Option(ctx, store.ID, d.Line, *l.SellingPlan)
		if err != nil {
			return amend.Change{}, err
		}
		edit.SellingPlanID, edit.SellingPlanName = l.SellingPlan, &offer.Name
		plan = *l.SellingPlan
		record(activity.ProductSellingPlanChange, about)
	}
	if l.PlanName != nil && *l.PlanName != is.SellingPlanName {
		edit.SellingPlanName = l.PlanName
		record(activity.ProductSellingPlanChange, about)
	}
	if l.Announced {
		later, err := s.announce(ctx, store, d, at, l)
		if err != nil {
			return amend.Change{}, err
		}
		if later != nil {
			edit.Pricing = later.pricing
			details := about
			details.Price, details.OldPrice, details.AppliesAt = later.price.String(), is.Price.String(), later.at
			record(activity.ProductPriceChange, details)
			l.Price, l.Base = nil, nil
		}
	}
	price, cycles := l.Price, 0
	if l.Base != nil || l.Pricing != nil {
		var err error
		if cycles, err = s.CyclesBefore(ctx, store.ID, d.Contract); err != nil {
			return amend.Change{}, err
		}
	}
	if l.Base != nil && l.Pricing == nil {
		price, edit.Pricing = terms.Rebase(terms.PricingOf(d, at), *l.Base, cycles)
	}
	replaced := l.Variant != nil && *l.Variant != is.VariantID
	if replaced || edit.SellingPlanID != nil {
		variant := is.VariantID
		if replaced {
			variant = *l.Variant
		}
		sold, err := s.Variants(ctx, store, []int64{variant})
		if err != nil {
			return amend.Change{}, err
		}
		repriced := price == nil && l.Reprice
		if repriced {
			amount, pricing, err := s.UnitPrice(ctx, store.ID, d.Contract, sold[variant], plan)
			if err != nil {
				return amend.Change{}, err
			}
			if amount.Currency != d.Currency {
				return amend.Change{}, terms.CurrencyMismatch(sold[variant], d.Contract)
			}
			price, edit.Pricing = &amount, terms.ReplacePricing(pricing, terms.PricingOf(d, at), amount)
		}
		if l.DowngradeAtNextOrder && replaced && price != nil && price.Minor < is.Price.Minor && !d.NextBillingDate.IsZero() {
			offer, ours, err := s.Offer(ctx, store.ID, d.Line, plan)
			if err != nil {
				return amend.Change{}, err
			}
			if ours && offer.Exchange {
				return s.schedule(ctx, store, d, is, platform.LineEdit{Line: is.ID, Variant: l.Variant, Price: price})
			}
		}
		if replaced {
			edit.Variant = l.Variant
			about.Title, about.Variant = sold[variant].ProductTitle, variant
			details := about
			details.OldVariant = is.VariantID
			if l.Settle && repriced {
				more, err := s.differenceOf(ctx, store, d, replacement{line: at, plan: plan, variant: sold[variant], price: *price, pricing: edit.Pricing})
				if err != nil {
					return amend.Change{}, err
				}
				details.Difference = more.apply(&c, &edit)
			}
			record(activity.ProductReplace, details)
		}
	}
	if l.Quantity != nil && *l.Quantity != is.Quantity {
		edit.Quantity = l.Quantity
		details := about
		details.Quantity, details.OldQuantity = *l.Quantity, is.Quantity
		record(activity.ProductQuantityChange, details)
	}
	if price != nil && *price != is.Price {
		edit.Price = price
		if !replaced || l.Price != nil { // else the price came with the product
			details := about
			details.Price, details.OldPrice = price.String(), is.Price.String()
			record(activity.ProductPriceChange, details)
		}
	}
	if was := terms.PricingOf(d, at); l.Pricing == nil && l.Base != nil && was != nil && was.Base != *l.Base && edit.Price == nil {
		record(activity.ProductPricingPolicyChange, about)
	}
	if l.Pricing != nil {
		base := is.Price
		if l.Base != nil {
			base = *l.Base
		}
		edit.Pricing = terms.ComputePricing(base, *l.Pricing)
		now, counts := terms.PriceAfter(edit.Pricing, cycles)
		if !counts {
			now = base
		}
		if price == nil && now != is.Price {
			edit.Price = &now
		}
		record(activity.ProductPricingPolicyChange, about)
	}
	if l.Attributes != nil {
		if len(d.LineDetails) <= at || !slices.Equal(terms.PlatformAttributes(*l.Attributes), d.LineDetails[at].Attributes) {
			edit.Attributes = new(terms.PlatformAttributes(*l.Attributes))
			record(activity.SubscriptionContractUpdated, about)
		}
	}
	if len(c.Entries) > 0 {
		c.Edit.Lines = []platform.LineEdit{edit}
	}
	return c, nil
}
