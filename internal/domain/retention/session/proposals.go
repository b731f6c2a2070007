package session

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/platform"
)

// proposeSkip skips the next orders, or as many of them as are planned.
func proposeSkip(x facts, _ flow.Flow, p *Proposal, now time.Time) error {
	queue := x.queued()
	if len(queue) == 0 {
		return command.NoUpcomingOrder(x.contract)
	}
	for _, a := range queue[:min(p.Orders, len(queue))] {
		r := x.record(a, queue)
		after, err := command.PreviewSkip(x.shop, r, x.actor, now)
		if err != nil {
			return err
		}
		p.Skips = append(p.Skips, Skipped{a.ID, a.BillingDate, after.Amount})
	}
	rest := queue[len(p.Skips):]
	if p.Orders = len(p.Skips); len(rest) == 0 {
		last := queue[len(queue)-1]
		p.Next, p.Pays = x.contract.DueOn(max(last.Cycle+1, x.contract.Series.Cycle), x.calendar), money.Amount{}
		return nil
	}
	r := x.record(rest[0], rest)
	p.Next, p.Pays = r.BillingDate, r.Cost()
	return nil
}

// proposePause pauses the contract for months, until the beginning of a day of the store's.
func proposePause(x facts, _ flow.Flow, p *Proposal, now time.Time) error {
	days := cadence.Calendar{Zone: x.calendar.Zone}
	p.Until = days.At(now.In(x.calendar.Zone).AddDate(0, p.Months, 0))
	if last := x.portal.PausedUntil(now, days); !last.IsZero() && last.Before(p.Until) {
		p.Until = last
	}
	p.Next, p.Pays = time.Time{}, money.Amount{}
	_, err := lifecycle.Preview(x.shop, x.contract, x.attempts, x.actor, p.pause(), now)
	return err
}

// pause is the change of the status that an offer of a pause asks for.
func (p Proposal) pause() lifecycle.StatusChange {
	return lifecycle.StatusChange{To: contract.Paused, Until: p.Until}
}

// proposeDiscount makes the next orders cheaper, as long as the store's budget lasts.
func proposeDiscount(x facts, f flow.Flow, p *Proposal, _ time.Time) error {
	c := x.contract
	switch {
	case f.Budget == 0:
		return impossible("discountBudget", "the store has set no budget for discounts")
	case c.Currency != f.Currency:
		return impossible("currencyMismatch", "the contract is in %s and the budget is in %s", c.Currency, f.Currency)
	case c.HasDiscount(p.title()):
		return impossible("discountApplied", "the contract has this discount")
	}
	r, ok := x.next()
	if !ok {
		return command.NoUpcomingOrder(c)
	}
	with := c
	with.Discounts = append(slices.Clone(c.Discounts), contract.Discount{Title: p.title(), Percent: p.Percent, Amount: p.Amount, AllLines: true})
	p.Pays = r.With(with).Cost()
	costs := money.Amount{Currency: c.Currency}
	queue := x.queued()
	for n := range p.Orders {
		o := x.record(queue[min(n, len(queue)-1)], queue) // those that are not planned yet cost as much as the last one that is
		costs.Minor += o.Cost().Minor - o.With(with).Cost().Minor
	}
	switch {
	case p.Pays.Minor >= p.Was.Minor:
		return impossible("nothingToDiscount", "the next order costs nothing that could be taken off")
	case x.spent+costs.Minor > f.Budget:
		return impossible("discountBudget", "the budget for discounts of 30 days is spent")
	}
	p.Costs = costs
	return nil
}

// title is how the discount of an offer is named at the platform.
func (p Proposal) title() string {
	off := p.Amount.String() + " " + string(p.Amount.Currency)
	if p.Percent > 0 {
		off = strconv.Itoa(p.Percent) + "%"
	}
	if p.Orders == 1 {
		return off + " off the next order"
	}
	return fmt.Sprintf("%s off the next %d orders", off, p.Orders)
}

// proposeSwap offers other products in place of the contract's only one.
func proposeSwap(x facts, _ flow.Flow, p *Proposal, _ time.Time) error {
	c := x.contract
	if len(c.Lines) != 1 {
		return impossible("severalProducts", "the contract has %d products", len(c.Lines))
	}
	line := c.Lines[0]
	for _, id := range p.Variants {
		v, sold := x.catalogue.sold[id]
		price, priced := x.catalogue.prices[id]
		if !sold || !v.Available || !priced || price.Currency != c.Currency || id == line.VariantID {
			continue
		}
		to := c.Swapped(line.ID, id, price)
		choice := Choice{Key: strconv.FormatInt(id, 10), Title: titleOf(v.ProductTitle, v.Title), Image: v.Image, Line: line.ID, Variant: id, Quantity: line.Quantity}
		choice.Pays = x.nextCost(to)
		p.Choices = append(p.Choices, choice)
	}
	if len(p.Choices) == 0 {
		return impossible("noVariant", "none of the products can be had instead")
	}
	p.Pays = money.Amount{}
	return nil
}

func titleOf(product, variant string) string {
	if variant == "" || variant == platform.OnlyVariant {
		return product
	}
	return product + ", " + variant
}

// nextCost returns what the next order of a changed contract costs; no amount when there is
// no next order.
func (x facts) nextCost(to contract.Contract) money.Amount {
	r, ok := x.next()
	if !ok {
		return money.Amount{}
	}
	return r.With(to).Cost()
}

// proposeFrequency offers the other frequencies of the contract's plan group.
func proposeFrequency(x facts, _ flow.Flow, p *Proposal, _ time.Time) error {
	c := x.contract
	if len(x.groups) != 1 {
		return impossible("noFrequency", "the contract has no plan group of the store with other frequencies")
	}
	for _, o := range x.groups[0].Options {
		if !selectable(c, o) || p.Direction == flow.Rarer && days(o.Billing) <= days(plan.Frequency{Interval: c.Billing.Interval, Count: c.Billing.Count}) {
			continue
		}
		p.Choices = append(p.Choices, Choice{
			Key: strconv.FormatInt(o.ID, 10), Title: o.Name, Plan: o.ID, Pays: x.catalogue.totals[o.ID], Every: fmt.Sprintf("%d %s", o.Billing.Count, o.Billing.Interval),
		})
	}
	if len(p.Choices) == 0 {
		return impossible("noFrequency", "the contract's plan group has no other frequency")
	}
	p.Next, p.Pays = time.Time{}, money.Amount{}
	return nil
}

// selectable reports whether a customer may move a contract to an option of its group: it is
// paid for with each delivery, for everybody, and of another frequency.
func selectable(c contract.Contract, o plan.Option) bool {
	same := o.Billing.Interval == c.Billing.Interval && o.Billing.Count == c.Billing.Count
	return o.ID != 0 && o.Deliveries() == 1 && !o.Lifetime && !o.MemberOnly && !o.NonMemberOnly && o.InclusiveTags == "" && o.ExclusiveTags == "" && !same
}

// days returns how long an interval is, about.
func days(f plan.Frequency) float64 {
	return float64(f.Count) * map[cadence.Interval]float64{cadence.Day: 1, cadence.Week: 7, cadence.Month: 30.4375, cadence.Year: 365.25}[f.Interval]
}

// proposeQuantity offers one piece less of a product.
func proposeQuantity(x facts, _ flow.Flow, p *Proposal, _ time.Time) error {
	c := x.contract
	for i, l := range c.Lines {
		if l.Quantity < 2 {
			continue
		}
		to := c
		to.Lines = slices.Clone(c.Lines)
		to.Lines[i].Quantity--
		p.Choices = append(p.Choices, Choice{
			Key: l.ID, Title: titleOf(l.Title, l.VariantTitle), Image: l.Image, Line: l.ID, Variant: l.VariantID, Quantity: l.Quantity - 1, Pays: x.nextCost(to),
		})
	}
	if len(p.Choices) == 0 {
		return impossible("quantity", "the contract has one piece of each product")
	}
	if p.Pays = (money.Amount{}); len(p.Choices) == 1 {
		p.Pays = p.Choices[0].Pays
	}
	return nil
}

// proposeMove moves the next order to a later day.
func proposeMove(x facts, _ flow.Flow, p *Proposal, now time.Time) error {
	r, ok := x.next()
	if !ok {
		return command.NoUpcomingOrder(x.contract)
	}
	to := x.calendar.At(r.BillingDate.In(x.calendar.Zone).AddDate(0, 0, p.Days))
	after, err := command.PreviewMove(x.shop, r, to, x.actor, now)
	if err != nil {
		return err
	}
	p.Order, p.Next = int64(r.ID), after.BillingDate
	return nil
}

// proposeSample adds a product to the next order, free of charge.
func proposeSample(x facts, _ flow.Flow, p *Proposal, _ time.Time) error {
	r, ok := x.next()
	if !ok {
		return command.NoUpcomingOrder(x.contract)
	}
	v, sold := x.catalogue.sold[p.Variants[0]]
	switch {
	case !sold || !v.Available || v.OnlyOnPlans:
		return impossible("noVariant", "the product cannot be had once")
	case slices.ContainsFunc(r.OneOffs, func(o billing.OneOff) bool { return o.Variant.ID == v.ID }):
		return impossible("oneOffAdded", "the next order has the product")
	}
	p.Order = int64(r.ID)
	p.Choices = []Choice{{Key: strconv.FormatInt(v.ID, 10), Title: titleOf(v.ProductTitle, v.Title), Image: v.Image, Variant: v.ID, Quantity: 1}}
	return nil
}

// proposeSupport names the store's contact.
func proposeSupport(_ facts, f flow.Flow, p *Proposal, _ time.Time) error {
	if p.Contact = f.Support; p.Contact == "" {
		return impossible("noSupport", "the store has no contact for support")
	}
	return nil
}

// proposeLink has the platform send a link with which the payment method is changed.
func proposeLink(x facts, _ flow.Flow, _ *Proposal, _ time.Time) error {
	if x.contract.PaymentMethod == "" || x.contract.Terminated() {
		return impossible("paymentMethodMissing", "the contract has no payment method that could be updated")
	}
	return nil
}
