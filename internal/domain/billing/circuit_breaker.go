package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ChargeStats is what became of a store's charges of late.
type ChargeStats struct {
	Sent     int // charges that were asked for
	Ended    int // of which the end is known, whatever it was
	Paid     int
	Declined int // for the first time, or by the gateway's fault
	Gateway  int // of those declined, by the gateway's fault
}

// Plus adds another run.
func (r ChargeStats) Plus(o ChargeStats) ChargeStats {
	return ChargeStats{r.Sent + o.Sent, r.Ended + o.Ended, r.Paid + o.Paid, r.Declined + o.Declined, r.Gateway + o.Gateway}
}

// How a run goes on.
const (
	// firstCharges is how many charges of a store may be without an end, or
	// declined, before any has succeeded. Every success lets growth more go.
	firstCharges = 100
	growth       = 4
	// probeCharges is how many are sent to see whether a hold is over, and
	// probeEnds how many ends tell.
	probeCharges = 5
	probeEnds    = 3
	// Of so many ends, so many in a hundred make a spike of declines: by the
	// gateway's own words, or by any.
	gatewayEnds, gatewayShare = 20, 80
	anyEnds, anyShare         = 50, 95
)

// allowance returns how many charges may be sent now. Until one is paid a decline
// makes no room for another charge: how soon the first declines come must not say
// how many customers a broken gateway is tried on.
func (r ChargeStats) allowance(probing bool) int {
	most := max(firstCharges, growth*r.Paid)
	if probing {
		most = probeCharges
	}
	open := max(0, r.Sent-r.Ended)
	if r.Paid == 0 {
		open += r.Declined
	}
	return max(0, most-open)
}

// spike reports whether the declines are too many to be the customers'.
func (r ChargeStats) spike() bool {
	ends := r.Paid + r.Declined
	return ends >= gatewayEnds && r.Gateway*100 >= gatewayShare*ends || ends >= anyEnds && r.Declined*100 >= anyShare*ends
}

// worked reports whether a probe went well; known is false while too few of its
// charges have ended.
func (r ChargeStats) worked() (well, known bool) {
	ends := r.Paid + r.Declined
	return r.Declined*100 < gatewayShare*ends, ends >= probeEnds
}

// nextBreakerState returns the hold that follows from the run since hold.From. The change
// says what happened, "" when nothing did.
func nextBreakerState(h shop.Hold, r ChargeStats, p Policy, now time.Time) (next shop.Hold, change string) {
	again := func() shop.Hold {
		until := now.Add(p.Hold << min(h.Times, maxHoldDoublings))
		since := h.Since
		if since.IsZero() {
			since = now
		}
		return shop.Hold{Until: until, Since: since, Times: h.Times + 1, From: until}
	}
	held := !h.Since.IsZero()
	switch {
	case held && now.Before(h.From): // Until may be later: more wait than the probe may send
		return h, ""
	case held:
		well, known := r.worked()
		switch {
		case !known:
			return h, ""
		case well:
			return shop.Hold{From: now}, fmt.Sprintf("charges go on: %d of %d that were sent to probe were paid", r.Paid, r.Paid+r.Declined)
		}
		next = again()
		return next, fmt.Sprintf("charges are held until %s: %d of %d that were sent to probe were declined", next.Until.Format(time.RFC3339), r.Declined, r.Paid+r.Declined)
	case r.spike():
		next = again()
		return next, fmt.Sprintf("charges are held until %s: of %d that ended lately %d were declined, %d of them by the payment gateway's fault",
			next.Until.Format(time.RFC3339), r.Paid+r.Declined, r.Declined, r.Gateway)
	case now.Before(h.Until) && r.allowance(false) > 0:
		return shop.Hold{From: h.From}, "" // what paced the run is over
	}
	return h, ""
}

// maxHoldDoublings is how often the wait of a hold doubles.
const maxHoldDoublings = 3

// gatewayFaults are the platform's codes (SubscriptionBillingAttemptErrorCode) for
// declines in which neither the customer nor their bank has a part.
var gatewayFaults = map[string]bool{
	"MERCHANT_ACCOUNT_ERROR": true, "PAYMENT_PROVIDER_ERROR": true, "PAYMENT_PROVIDER_IS_NOT_ENABLED": true,
	"PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG": true, "PROCESSING_ERROR": true, "TRANSIENT_ERROR": true, "UNEXPECTED_ERROR": true,
	"GENERIC_ERROR": true, "INVALID_REQUEST": true, "TEST_MODE": true, "NON_TEST_ORDER_LIMIT_REACHED": true, "PAYPAL_ERROR_GENERAL": true,
}

// noGateway are codes that say nothing about the payment: it was not tried, or
// the customer did not act.
var noGateway = map[string]bool{
	"INSUFFICIENT_INVENTORY": true, "INVENTORY_ALLOCATIONS_NOT_FOUND": true, "INVALID_SHIPPING_ADDRESS": true,
	dunning.ChallengeExpired: true, dunning.EarlierChargeOpen: true,
}

// count adds the end of an attempt's charge to the ledger's run.
func (l *settlement) count(a Attempt) {
	l.run.Ended++
	switch gateway := gatewayFaults[a.ErrorCode]; {
	case a.Status == Success:
		l.run.Paid++
	case gateway:
		l.run.Declined++
		l.run.Gateway++
	case a.Try <= 1 && !noGateway[a.ErrorCode]:
		l.run.Declined++
	}
}

// since is the instant from which ends count.
func since(h shop.Hold, p Policy, now time.Time) time.Time {
	if from := now.Add(-p.Window); from.After(h.From) {
		return from
	}
	return h.From
}

// slotOf is the beginning of the slot of time in which an instant is counted.
func (p Policy) slotOf(t time.Time) time.Time {
	return t.Truncate(max(p.Window/slots, time.Millisecond))
}

// slots is how many slots a window has.
const slots = 15

// pace counts charges that are about to be sent. Where the run allows no more,
// the store is held for a moment; ends that come before let it go on.
func (s *Service) pace(ctx context.Context, tx Tx, b *batch, refused bool, now time.Time) error {
	if n := b.sends(); n > 0 {
		if err := tx.AddRun(ctx, s.Policy.slotOf(now), ChargeStats{Sent: n}); err != nil {
			return err
		}
	}
	if !refused {
		return nil
	}
	b.shop.Guard.Hold.Until = now.Add(s.Policy.Pace)
	return tx.PutShop(ctx, b.shop)
}

// sends is how many charges of the batch are to be sent.
func (b *batch) sends() (n int) {
	for _, e := range b.charges {
		if e.send {
			n++
		}
	}
	return n
}

// hear writes what ended and lets the store's hold follow.
func (l *settlement) hear(ctx context.Context, tx Tx) error {
	if l.run == (ChargeStats{}) {
		return nil
	}
	if err := tx.AddRun(ctx, l.policy.slotOf(l.now), l.run); err != nil {
		return err
	}
	hold := l.shop.Guard.Hold
	run, err := tx.RunSince(ctx, l.policy.slotOf(since(hold, l.policy, l.now)))
	if err != nil {
		return err
	}
	next, change := nextBreakerState(hold, run, l.policy, l.now)
	if next == hold {
		return nil
	}
	l.shop.Guard.Hold, l.guarded = next, true
	if change != "" {
		status := activity.Info
		if !next.Since.IsZero() {
			status = activity.Failure
		}
		l.entries = append(l.entries, activity.Entry{
			EntityID: int64(l.shop.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: status,
			Actor: activity.System, At: l.now, Info: activity.Details(outcome{Reason: change}),
		})
	}
	if next.Until.IsZero() {
		return tx.Enqueue(ctx, Work{Shop: l.shop.ID})
	}
	return nil
}

// due takes up what is due and says how much of it may be sent. Of a store that is
// not charged now only what is in flight is taken up.
func (b *batch) due(ctx context.Context, tx Tx, now time.Time) ([]Attempt, error) {
	var err error
	if b.shop, err = tx.ShopToCharge(ctx); err != nil {
		return nil, err
	}
	hold := b.shop.Guard.Hold
	if b.shop.Connected && !b.shop.Guard.ChargesAutomatically(now) {
		b.allowance = batchSize // what is in flight was asked for before, or by a person
		return tx.DueInFlight(ctx, now, batchSize)
	}
	run, err := tx.RunSince(ctx, b.policy.slotOf(since(hold, b.policy, now)))
	if err != nil {
		return nil, err
	}
	b.allowance = run.allowance(!hold.Since.IsZero())
	return tx.DueAttempts(ctx, now, batchSize)
}

// blockIfFrozen changes a verdict where nothing may be charged at all: what was sent is
// asked for, and the rest stays as it is. A store that has left is charged by nobody,
// and its orders end.
func blockIfFrozen(v decision, a Attempt, g shop.Guard, p Policy, now time.Time) decision {
	reason := g.BlockReason(now)
	if reason == "" || v.action == poll || v.action == ask || v.action == wait || v.status == ConnectionGone {
		return v
	}
	if a.sent() {
		return decision{action: ask}
	}
	return decision{action: wait, until: now.Add(p.Repair), reason: reason}
}

// guarded changes a verdict as the store's guard will when the attempt falls due.
// The platform's word that holds now is renewed before it ends.
func guarded(v decision, a Attempt, g shop.Guard, p Policy, now, at time.Time) decision {
	if now.Before(g.ConfirmBy) {
		g.ConfirmBy = time.Time{}
	}
	v = blockIfFrozen(v, a, g, p, at)
	if (v.action == charge || v.action == prepare) && !a.Status.InFlight() && at.Before(g.Hold.Until) {
		return decision{action: wait, until: g.Hold.Until, reason: "charges of the store are held, since nearly all were declined or many are under way"}
	}
	return v
}
