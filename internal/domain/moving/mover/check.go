package mover

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// known is what the store has of that which contracts name.
type known struct {
	since    time.Time
	mu       sync.Mutex
	variants map[int64]bool     // false: it has not
	methods  map[int64][]string // usable payment methods by customer; no entry: not asked
	missing  map[int64]bool     // customers that it does not have
}

// fresh is how long what the platform said is believed by a dry run.
const fresh = 10 * time.Minute

// knownOf returns what is known for a move.
func (s *Service) knownOf(id moving.ID) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	k := s.known[id]
	if k == nil || now.Sub(k.since) > fresh {
		k = &known{since: now, variants: map[int64]bool{}, methods: map[int64][]string{}, missing: map[int64]bool{}}
		s.known = map[moving.ID]*known{id: k}
	}
	return k
}

// add asks the platform for what a contract names and is not known yet.
func (k *known) add(ctx context.Context, w *worker, c moving.Contract) error {
	var variants []int64
	k.mu.Lock()
	for _, l := range c.Lines {
		if _, asked := k.variants[l.Variant]; !asked && l.Variant != 0 {
			variants = append(variants, l.Variant)
		}
	}
	_, asked := k.methods[c.Customer.ID]
	k.mu.Unlock()
	if len(variants) > 0 {
		sold, err := w.Platform.Variants(ctx, w.store.At(), variants)
		if err != nil {
			return unavailable(err)
		}
		k.mu.Lock()
		for _, id := range variants {
			k.variants[id] = slices.ContainsFunc(sold, func(v platform.Variant) bool { return v.ID == id })
		}
		k.mu.Unlock()
	}
	if asked || c.Customer.ID == 0 || !c.Live() {
		return nil
	}
	people, err := w.Platform.Customers(ctx, w.store.At(), []int64{c.Customer.ID})
	if err != nil {
		return unavailable(err)
	}
	var usable []string
	if len(people) > 0 {
		methods, err := w.Platform.PaymentMethods(ctx, w.store.At(), c.Customer.ID)
		if err != nil {
			return unavailable(err)
		}
		for _, m := range methods {
			if !m.Revoked {
				usable = append(usable, m.ID)
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.methods[c.Customer.ID], k.missing[c.Customer.ID] = usable, len(people) == 0
	return nil
}

func unavailable(err error) error {
	return fault.Because(fault.Unavailable, err, "the platform could not be asked what the store has")
}

// check returns what of a contract is not carried over as it is.
func (w *worker) check(c moving.Contract) []moving.Finding {
	var found []moving.Finding
	add := func(fit moving.Fit, code, field, format string, args ...any) {
		found = append(found, moving.Finding{Fit: fit, Code: code, Field: field, Text: fmt.Sprintf(format, args...)})
	}
	if !c.Live() {
		add(moving.Stays, "contractEnded", "status", "The contract is %s: it has no orders to come.", c.Status)
		return found
	}
	w.known.mu.Lock()
	defer w.known.mu.Unlock()
	switch methods := w.known.methods[c.Customer.ID]; {
	case c.Customer.ID == 0:
		add(moving.Stays, "customerMissing", "customerId", "The contract names no customer of the store: add the customer's number.")
	case w.known.missing[c.Customer.ID]:
		add(moving.Stays, "customerUnknown", "customerId", "The store has no customer %d.", c.Customer.ID)
	case len(methods) == 0:
		add(moving.Stays, "paymentMethodMissing", "paymentMethod", "The customer has no payment method that can be charged: have the customer add one, then read the contract again.")
	case c.PaymentMethod != "" && !slices.Contains(methods, c.PaymentMethod):
		add(moving.Changes, "paymentMethodOther", "paymentMethod", "The payment method of the contract can no longer be charged: the customer's newest one is taken.")
	}
	if w.move.Direction == moving.Out && c.Currency != w.store.Currency {
		add(moving.Stays, "currencyOther", "currency", "The contract is in %s: the interface creates contracts in the store's currency, %s, only.", c.Currency, w.store.Currency)
	}
	if err := c.Billing.Validate(); err != nil {
		add(moving.Stays, "intervalInvalid", "billingPolicy", "The billing interval cannot be taken over: %s.", faultText(err))
	} else if err := c.Delivery.Validate(); err != nil {
		add(moving.Stays, "intervalInvalid", "deliveryPolicy", "The delivery interval cannot be taken over: %s.", faultText(err))
	}
	w.checkLines(c, add)
	w.checkDates(c, add)
	for _, d := range c.Discounts {
		if d.Code != "" && d.RejectedWhy == "" {
			add(moving.Changes, "discountByHand", "discounts", "The discount of code %s goes on as one that was made by hand: the code is not redeemed again.", d.Code)
		}
	}
	return found
}

type adder func(fit moving.Fit, code, field, format string, args ...any)

func (w *worker) checkLines(c moving.Contract, add adder) {
	if len(c.Lines) == 0 {
		add(moving.Stays, "linesMissing", "lines", "The contract has no lines.")
	}
	for n, l := range c.Lines {
		switch {
		case l.Variant == 0 || !w.known.variants[l.Variant]:
			add(moving.Stays, "variantGone", fmt.Sprintf("lines[%d]", n), "The store no longer has the variant of %q: replace it in the contract, then read the contract again.", l.Title)
		case l.Quantity < 1:
			add(moving.Stays, "quantityInvalid", fmt.Sprintf("lines[%d]", n), "The quantity of %q is %d.", l.Title, l.Quantity)
		case c.Line == shop.Memberships && w.plan(l.Plan) == 0:
			add(moving.Stays, "membershipPlanUnknown", fmt.Sprintf("lines[%d]", n), "The membership is on the selling plan %q (%d), which is not known here: name the membership plan that takes its place.", l.PlanName, l.Plan)
		case l.Plan != 0 && w.plan(l.Plan) == 0:
			add(moving.Changes, "planUnknown", fmt.Sprintf("lines[%d]", n), "The selling plan %q is not known here: %q keeps its price and is on no plan. To change that, name the plan that takes its place.", l.PlanName, l.Title)
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

func (w *worker) checkDates(c moving.Contract, add adder) {
	now := w.Clock.Now()
	switch {
	case c.Status == contract.Paused && c.Next.IsZero():
		add(moving.Changes, "pausedWithoutDate", "nextBillingDate", "The contract is paused and has no date: its next order is one interval after it is resumed.")
	case c.Next.IsZero():
		add(moving.Stays, "dateMissing", "nextBillingDate", "The contract is active and no date of its next order is known.")
	case c.Next.Before(now.Add(-24 * time.Hour)):
		add(moving.Stays, "datePast", "nextBillingDate", "The next order was due on %s and was not made: solve this there first.", w.cal.Day(c.Next))
	}
	if !c.EndsAt.IsZero() {
		add(moving.Stays, "cancellationScheduled", "pendingCancellationDate", "The contract will be cancelled on %s: it stays where it is until then.", w.cal.Day(c.EndsAt))
	}
	if p, is := c.UnderWay(); is && p.Status == moving.Declined {
		add(moving.Changes, "declined", "status", "Its last charge, of %s, was declined: it is moved once that is solved there.", w.cal.Day(p.Date))
	}
}

func faultText(err error) string { return err.Error() }
