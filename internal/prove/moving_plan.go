package prove

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Sizes of worlds in which contracts move.
var (
	smallMoves = size{shops: 2, contracts: 60, lasts: 150 * day, calm: 10 * day, slack: 200 * time.Millisecond}
	largeMoves = size{shops: 1, contracts: 500, lasts: 300 * day, calm: 10 * day, slack: 2 * time.Second}
)

func sizeOfMoves(number int) size {
	if number%4 == 0 {
		return largeMoves
	}
	return smallMoves
}

// unexplained are kinds of faults that leave out an order or move its date: they are tried where
// nothing moves.
var unexplained = []Kind{ServiceDown, PlatformOutage}

// drawMoves draws a world in which contracts move. They are not changed and no charge is declined, so that
// every order that is owed can be said in advance.
func drawMoves(seed uint64, number int, z size) plan {
	p := drawPlan(seed, number, z)
	p.Acts = nil
	d := newDrawer(p.Seed, number)
	for _, k := range unexplained {
		delete(p.Rates, k)
	}
	for _, k := range slices.Sorted(maps.Keys(between)) {
		if d.chance(0.7) {
			p.Rates[k] = between[k] * pick(d, []float64{0.3, 1, 1, 4})
		}
	}
	p.Nodes = 1 + d.IntN(2)
	p.Deals = slices.DeleteFunc(p.Deals, func(deal dealPlan) bool { return deal.Spec.NextBillingDate.Before(p.Start.Add(day)) }) // due before the service is there
	for i := range p.Deals {
		deal := &p.Deals[i]
		deal.Offer, deal.Outcomes, deal.Finish, deal.Second = "", nil, simulator.Succeed, d.chance(0.3)
		deal.Spec.Customer.Email = fmt.Sprintf("c%d@%s.example.com", i, deal.Spec.Shop)
		if b := &deal.Spec.Billing; b.Interval == "DAY" {
			b.IntervalCount = 7 + d.IntN(20)
		}
		if d.chance(0.8) { // so that much is charged between two moves
			deal.Spec.Billing = simulator.PolicySpec{Interval: "WEEK", IntervalCount: 1}
		}
		deal.Spec.Delivery = simulator.PolicySpec{Interval: deal.Spec.Billing.Interval, IntervalCount: deal.Spec.Billing.IntervalCount, Anchors: deal.Spec.Billing.Anchors}
		deal.Terms = d.terms(*deal, p.Shops[deal.Shop])
	}
	return p
}

// liveMoves runs one world in which contracts move.
func (o Options) liveMoves(ctx context.Context, p plan) (l Life) {
	o.adapt(&p)
	l = Life{Number: p.Number, On: slices.Sorted(maps.Keys(p.Rates)), Nodes: 2 * p.Nodes}
	r, err := newPair(p, o.Database)
	if err != nil {
		l.Err = err
		return l
	}
	defer r.close()
	defer caught(&l, r.kernel)
	l.Err = r.live(ctx)
	l.Renewals, l.Steps, l.Trace, l.tally, l.moveTally = r.due, r.steps, r.trace.Sum64(), r.tally, r.moveTally
	for _, w := range r.sides {
		l.deaths, l.calls, l.webhooks, l.failed, l.tasksTaken = l.deaths+w.deaths, l.calls+w.calls, l.webhooks+w.webhooks, l.failed+w.failed, l.tasksTaken+w.tasksTaken
	}
	return l
}
