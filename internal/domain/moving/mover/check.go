package mover

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// check returns what of a contract is not carried over as it is, as far as the facts go.
func (w *worker) check(c moving.Contract, is facts) []moving.Finding {
	found := moving.Findings(slices.Clone(c.Remarks))
	if !c.Live() {
		found.Add(moving.Stays, "contractEnded", "status", "The contract is %s: it has no orders to come.", c.Status)
		return found
	}
	switch methods := is.people[c.Customer.ID]; {
	case c.Customer.ID == 0 && c.Customer.Email != "":
		found.Add(moving.Stays, "customerUnknown", "email", "The store has no customer with the address %s.", c.Customer.Email)
	case c.Customer.ID == 0:
		found.Add(moving.Stays, "customerMissing", "customerId", "The contract names no customer of the store: add the customer's number.")
	case methods == nil:
		found.Add(moving.Stays, "customerUnknown", "customerId", "The store has no customer %d.", c.Customer.ID)
	case len(*methods) == 0:
		found.Add(moving.Stays, "paymentMethodMissing", "paymentMethod", "The customer has no payment method that can be charged: have the customer add one, then read the contract again.")
	case c.PaymentMethod != "" && !slices.Contains(*methods, c.PaymentMethod):
		found.Add(moving.Changes, "paymentMethodOther", "paymentMethod", "The payment method of the contract can no longer be charged: the customer's newest one is taken.")
	}
	if owner := is.owners[strings.ToLower(c.Customer.Email)]; w.move.File != nil && owner != 0 && c.Customer.ID != 0 && owner != c.Customer.ID {
		found.Add(moving.Stays, "customerOther", "email", "The address %s belongs to customer %d of the store, not to %d: correct the number or the address in the file, or leave one of them empty.", c.Customer.Email, owner, c.Customer.ID)
	}
	if w.move.Direction == moving.Out && c.Currency != w.store.Currency {
		found.Add(moving.Stays, "currencyOther", "currency", "The contract is in %s: the interface creates contracts in the store's currency, %s, only.", c.Currency, w.store.Currency)
	}
	if w.move.Direction == moving.Out {
		switch len(c.Billing.Anchors) {
		case 0:
		case 1:
			found.Add(moving.Changes, "anchorByDates", "billingPolicy", "The interface creates no contract with an anchor: the orders to come are put on its days, and later ones are counted from them.")
		default:
			found.Add(moving.Stays, "anchorsMany", "billingPolicy", "The contract has %d anchors, and the interface creates none with anchors: give it one day for each interval.", len(c.Billing.Anchors))
		}
	}
	if err := c.Billing.Validate(); err != nil {
		found.Add(moving.Stays, "intervalInvalid", "billingPolicy", "The billing interval cannot be taken over: %s.", err)
	} else if err := c.Delivery.Validate(); err != nil {
		found.Add(moving.Stays, "intervalInvalid", "deliveryPolicy", "The delivery interval cannot be taken over: %s.", err)
	}
	w.checkLines(c, is, &found)
	w.checkDates(c, &found)
	for _, d := range c.Discounts {
		if d.Code != "" && d.RejectedWhy == "" {
			found.Add(moving.Changes, "discountByHand", "discounts", "The discount of code %s goes on as one that was made by hand: the code is not redeemed again.", d.Code)
		}
	}
	return found
}

// currencyLetters is the length of a currency's code.
const currencyLetters = 3

func (w *worker) checkLines(c moving.Contract, is facts, found *moving.Findings) {
	if len(c.Currency) != currencyLetters {
		found.Add(moving.Stays, "currencyUnknown", "currency", "%q is not a currency.", c.Currency)
	}
	if c.DeliveryPrice.Currency != c.Currency || c.DeliveryPrice.Minor < 0 {
		found.Add(moving.Stays, "priceInvalid", "deliveryPrice", "The delivery price cannot be read as an amount in %s: correct it in the contract, then read the contract again.", c.Currency)
	}
	ships := slices.ContainsFunc(c.Lines, func(l moving.Line) bool { v := is.variants[l.Variant]; return v != nil && v.RequiresShipping })
	a := c.Method.Address
	if ships && (c.Method.Kind == "" || c.Method.Kind == platform.MethodShipping && (a.Address1 == "" || a.Country == "" && a.CountryCode == "")) {
		found.Add(moving.Stays, "deliveryMissing", "delivery", "The contract has products that are shipped, and no whole delivery address: add street, city and country.")
	}
	if len(c.Lines) == 0 {
		found.Add(moving.Stays, "linesMissing", "lines", "The contract has no lines.")
	}
	_, come := w.move.Places()
	for n, l := range c.Lines {
		switch {
		case l.Variant == 0 || is.variants[l.Variant] == nil:
			found.Add(moving.Stays, "variantGone", fmt.Sprintf("lines[%d]", n), "The store no longer has the variant of %q: replace it in the contract, then read the contract again.", l.Title)
		case l.Price.Currency != c.Currency || l.Price.Minor < 0:
			found.Add(moving.Stays, "priceInvalid", fmt.Sprintf("lines[%d]", n), "The price of %q cannot be read as an amount in %s: correct it in the contract, then read the contract again.", l.Title, c.Currency)
		case l.Quantity < 1:
			found.Add(moving.Stays, "quantityInvalid", fmt.Sprintf("lines[%d]", n), "The quantity of %q is %d.", l.Title, l.Quantity)
		case c.Line == shop.Memberships && w.plan(l.Plan) == 0:
			found.Add(moving.Stays, "membershipPlanUnknown", fmt.Sprintf("lines[%d]", n), "The membership is on the selling plan %q (%d), which is not known %s: name the membership plan that takes its place.", l.PlanName, l.Plan, come)
		case l.Plan != 0 && w.plan(l.Plan) == 0:
			found.Add(moving.Changes, "planUnknown", fmt.Sprintf("lines[%d]", n), "The selling plan %q is not known %s: %q keeps its price and is on no plan. To change that, name the plan that takes its place.", l.PlanName, come, l.Title)
		}
	}
}

// plan returns the selling plan that takes the place of another one; 0: none does.
func (w *worker) plan(there int64) int64 {
	if here, named := w.move.Plans[there]; named {
		return here
	}
	if w.Known != nil && w.Known(there) {
		return there
	}
	return 0
}

func (w *worker) checkDates(c moving.Contract, found *moving.Findings) {
	now := w.Clock.Now()
	switch {
	case c.Status == contract.Paused && c.Next.IsZero():
		found.Add(moving.Changes, "pausedWithoutDate", "nextBillingDate", "The contract is paused and has no date: its next order is one interval after it is resumed.")
	case c.Next.IsZero():
		found.Add(moving.Stays, "dateMissing", "nextBillingDate", "The contract is active and no date of its next order is known.")
	case c.Next.Before(now.Add(-24*time.Hour)) && w.move.File != nil:
		found.Add(moving.Stays, "datePast", "nextOrderDate", "The next order was due on %s: write the date of the next order that this service is to charge.", w.cal.Day(c.Next))
	case c.Next.Before(now.Add(-24 * time.Hour)):
		found.Add(moving.Stays, "datePast", "nextBillingDate", "The next order was due on %s and was not made: solve this there first.", w.cal.Day(c.Next))
	}
	if !c.EndsAt.IsZero() {
		found.Add(moving.Stays, "cancellationScheduled", "pendingCancellationDate", "The contract will be cancelled on %s: it stays where it is until then.", w.cal.Day(c.EndsAt))
	}
	if p, is := c.UnderWay(); is && p.Status == moving.Declined {
		found.Add(moving.Changes, "declined", "status", "Its last charge, of %s, was declined: it is moved once that is solved there.", w.cal.Day(p.Date))
	}
}
