package session

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
)

// again is how long the same kind of offer is not made to a customer twice.
const again = 90 * 24 * time.Hour

// impossible is why an offer cannot be made.
func impossible(code, format string, args ...any) error {
	return fault.New(fault.FailedPrecondition, format, args...).Entity(entity).Code(code)
}

// choose returns the first offer of a reason that can be made to the customer; nil: none can.
func choose(x facts, f flow.Flow, r flow.Reason, now time.Time) *Proposal {
	for _, o := range r.Offers {
		if p, err := propose(x, f, o, now); err == nil {
			return &p
		}
	}
	return nil
}

// propose returns what an offer is for the customer, or why it cannot be made.
func propose(x facts, f flow.Flow, o flow.Offer, now time.Time) (Proposal, error) {
	p := Proposal{Offer: o}
	if err := x.mayOffer(o.Kind, now); err != nil {
		return p, err
	}
	if r, ok := x.next(); ok {
		p.Was, p.Next, p.Pays = r.Cost(), r.BillingDate, r.Cost()
	}
	err := proposals[o.Kind](x, f, &p, now)
	return p, err
}

// proposals say, for each kind, what an offer is for a customer.
var proposals = map[flow.Kind]func(x facts, f flow.Flow, p *Proposal, now time.Time) error{
	flow.Skip: proposeSkip, flow.Pause: proposePause, flow.Discount: proposeDiscount, flow.Swap: proposeSwap, flow.Frequency: proposeFrequency,
	flow.Quantity: proposeQuantity, flow.Reschedule: proposeMove, flow.Sample: proposeSample, flow.Support: proposeSupport, flow.PaymentLink: proposeLink,
}

// unchanging are the kinds of offer that change no contract. They can be made at any time.
var unchanging = []flow.Kind{flow.Support, flow.PaymentLink}

// unpaid are the kinds of offer that a prepaid contract does not have: its orders are paid for.
var unpaid = []flow.Kind{flow.Skip, flow.Pause, flow.Frequency, flow.Quantity, flow.Reschedule}

// portalActions are the actions of the portal that an accepted offer comes to. A discount is
// the store's to give.
var portalActions = map[flow.Kind]portal.Action{
	flow.Skip: portal.Skip, flow.Pause: portal.Pause, flow.Swap: portal.Swap, flow.Frequency: portal.ChangeFrequency,
	flow.Quantity: portal.ChangeQuantity, flow.Reschedule: portal.Reschedule, flow.Sample: portal.AddOneTime,
}

// permitted refuses a kind of offer whose action the portal refuses its customers now.
func (x facts) permitted(k flow.Kind, now time.Time) error {
	action, known := portalActions[k]
	if !known {
		return nil
	}
	is := portal.State{Shop: x.shop, Contract: x.contract, Orders: x.attempts, Now: now}
	allowed, err := x.portal.ForContract(is)
	if r, ok := x.next(); ok && err == nil && (k == flow.Skip || k == flow.Reschedule || k == flow.Sample) {
		allowed, err = x.portal.ForOrder(is, r.Attempt)
	}
	if err != nil {
		return err
	}
	if refusal := allowed[action]; refusal != nil {
		return refusal
	}
	return nil
}

// mayOffer refuses a kind of offer that the contract or the customer cannot have now.
func (x facts) mayOffer(k flow.Kind, now time.Time) error {
	c := x.contract
	if slices.Contains(unchanging, k) {
		return nil
	}
	switch {
	case c.Status != contract.Active:
		return impossible("contractNotActive", "the contract is %s", c.Status)
	case c.Moving != nil || c.Ending != nil:
		return impossible("cancellationPending", "the status of the contract is being changed")
	case c.InCommitment(x.shop.Settings) && x.actor.Source == activity.CustomerPortal:
		return impossible("contractFrozen", "%d of %d orders are completed", c.Completed(), c.MinCycles)
	case c.Prepaid() && slices.Contains(unpaid, k):
		return impossible("prepaid", "the contract is prepaid")
	}
	if err := x.permitted(k, now); err != nil {
		return err
	}
	for _, s := range x.recent {
		switch {
		case s.Offer == nil || s.Offer.Kind != k || s.Open():
		case k == flow.Discount && !s.AcceptedAt.IsZero() && s.AcceptedAt.After(now.Add(-once)):
			return impossible("offeredBefore", "the customer had a discount on %s, and gets one in 12 months", s.AcceptedAt.UTC().Format(time.DateOnly))
		case !s.OfferedAt.IsZero() && s.OfferedAt.After(now.Add(-again)):
			return impossible("offeredBefore", "the customer was offered this on %s, and is not again for 90 days", s.OfferedAt.UTC().Format(time.DateOnly))
		}
	}
	return nil
}
