package decide

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

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

// Allowance returns how many charges may be sent now. Until one is paid, a decline makes no room
// for another charge: the number of customers that a broken gateway is tried on must not depend on
// how soon the first declines come.
func Allowance(r billing.ChargeStats, probing bool) int {
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
func spike(r billing.ChargeStats) bool {
	ends := r.Paid + r.Declined
	return ends >= gatewayEnds && r.Gateway*100 >= gatewayShare*ends || ends >= anyEnds && r.Declined*100 >= anyShare*ends
}

// worked reports whether a probe went well; known is false while too few of its
// charges have ended.
func worked(r billing.ChargeStats) (well, known bool) {
	ends := r.Paid + r.Declined
	return r.Declined*100 < gatewayShare*ends, ends >= probeEnds
}

// NextHold returns the hold that follows from the statistics since hold.From. change says what
// happened; it is empty if nothing did.
func NextHold(h shop.Hold, r billing.ChargeStats, p billing.Policy, now time.Time) (next shop.Hold, change string) {
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
		well, known := worked(r)
		switch {
		case !known:
			return h, ""
		case well:
			return shop.Hold{From: now}, fmt.Sprintf("charges go on: %d of %d that were sent to probe were paid", r.Paid, r.Paid+r.Declined)
		}
		next = again()
		return next, fmt.Sprintf("charges are held until %s: %d of %d that were sent to probe were declined", next.Until.Format(time.RFC3339), r.Declined, r.Paid+r.Declined)
	case spike(r):
		next = again()
		return next, fmt.Sprintf("charges are held until %s: of %d that ended lately %d were declined, %d of them by the payment gateway's fault",
			next.Until.Format(time.RFC3339), r.Paid+r.Declined, r.Declined, r.Gateway)
	case now.Before(h.Until) && Allowance(r, false) > 0:
		return shop.Hold{From: h.From}, "" // what paced the run is over
	}
	return h, ""
}

// maxHoldDoublings is how often the wait of a hold doubles.
const maxHoldDoublings = 3

// StatsSince is the instant from which the statistics count.
func StatsSince(h shop.Hold, p billing.Policy, now time.Time) time.Time {
	if from := now.Add(-p.Window); from.After(h.From) {
		return from
	}
	return h.From
}

// BlockIfFrozen changes a decision if the store may not be charged at all: a charge that was sent
// is only asked about, and everything else waits. If the store has left, its orders end.
func BlockIfFrozen(v Decision, a billing.Attempt, g shop.Guard, p billing.Policy, now time.Time) Decision {
	reason := g.BlockReason(now)
	if reason == "" || v.Action == Poll || v.Action == Ask || v.Action == Wait || v.Status == billing.ConnectionGone {
		return v
	}
	if a.Sent() {
		return Decision{Action: Ask}
	}
	return Decision{Action: Wait, Until: now.Add(p.Repair), Reason: reason}
}

// WithGuard changes a decision as the store's guard will when the attempt falls due. A
// confirmation of the platform that holds now is renewed before it ends.
func WithGuard(v Decision, a billing.Attempt, g shop.Guard, p billing.Policy, now, at time.Time) Decision {
	if now.Before(g.ConfirmBy) {
		g.ConfirmBy = time.Time{}
	}
	v = BlockIfFrozen(v, a, g, p, at)
	if (v.Action == Charge || v.Action == Prepare) && !a.Status.InFlight() && at.Before(g.Hold.Until) {
		return Decision{Action: Wait, Until: g.Hold.Until, Reason: "charges of the store are held, since nearly all were declined or many are under way"}
	}
	return v
}
