package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// pursuit is what is done about a case that is due, besides charging.
type pursuit int

const (
	follow   pursuit = iota // tell the customer, take the final action
	leaveOut                // the retry, and go on with the plan
	putOff                  // the retry
	abandon                 // the case
)

// whySpent is why a payment method is left alone that was tried as often as may be.
var whySpent = fmt.Sprintf("the payment method was declined or tried again %d times within %d days", dunning.MaxTries, int(dunning.TryWindow.Hours()/24))

// decideFailed says what to do with a failed attempt that is due and that nothing
// forbids to charge.
func decideFailed(a Attempt, g inputs, now time.Time) decision {
	k := a.Dunning
	spent := dunning.CardLimitReached(g.tries, now)
	if !k.State.Live() { // a person gave it a date
		if spent {
			return decision{action: leave, reason: whySpent}
		}
		return decision{action: charge}
	}
	rules := rulesFor(g.shop, a, g.calendar)
	switch {
	case !k.Due(now):
		return decision{action: startDunning, how: follow}
	case spent:
		return decision{action: startDunning, how: leaveOut, reason: whySpent}
	case k.Spaced(rules) && dunning.TriedToday(g.tried, g.calendar, now):
		if day := g.tomorrow(a, now); !day.After(k.LastDay(rules)) {
			return decision{action: startDunning, how: putOff, until: day}
		}
		return decision{action: startDunning, how: leaveOut, reason: "the payment method is tried for another order every day"}
	}
	return decision{action: charge}
}

// tomorrow returns the instant of the next day at which the attempt is tried.
func (g inputs) tomorrow(a Attempt, now time.Time) time.Time {
	return g.calendar.At(now.In(g.calendar.Zone).AddDate(0, 0, 1)).Add(dunning.SpreadOf(KeyOf(g.shop.Domain, a.Contract, a.Cycle, 0)))
}

// dunned is an attempt whose case is due, and what is done about it.
type dunned struct {
	id AttemptID
	v  decision
}

// settleDunned does what is due about cases.
func (s *Service) settleDunned(ctx context.Context, of shop.ID, list []dunned) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]AttemptID, len(list))
	for i, d := range list {
		ids[i] = d.id
	}
	return s.inLedger(ctx, of, ids, func(_ Tx, l *settlement) error {
		for _, d := range list {
			a := l.attempts[d.id]
			if a == nil || a.Status != Failure || !a.Dunning.State.Live() {
				continue // a person was faster
			}
			if err := l.carryOn(a, d.v); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *settlement) carryOn(a *Attempt, v decision) error {
	l.changed = append(l.changed, a.ID)
	g, err := groundOf(l.shop, *a)
	if err != nil {
		return err
	}
	switch v.how {
	case abandon:
		l.forgo(a, v.reason)
		return nil
	case leaveOut:
		l.note(*a, activity.DunningAttemptSkipped, activity.Skipped, outcome{Cycle: a.Cycle, Reason: v.reason})
		a.Dunning.SkipRetry(g)
	case putOff:
		a.Dunning.RetryAt = v.until
	case follow:
	}
	return l.pursue(a, g)
}

// cards knows the tries of the payment methods of contracts that are tried again.
type cards struct {
	known map[string][]time.Time // that count against them
	tried map[string][]time.Time // when any charge with them was sent lately
	made  []CardTry
}

// readCards reads the tries of the contracts of which an attempt is failed.
func readCards(ctx context.Context, tx Tx, due []Attempt, contracts map[contract.ID]*contract.Contract, now time.Time) (cards, error) {
	var methods []string
	for _, a := range due {
		if method := contracts[a.Contract].PaymentMethod; a.Status == Failure && method != "" {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		return cards{}, nil
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	known, err := tx.CardTries(ctx, methods, now.Add(-dunning.TryWindow))
	if err != nil {
		return cards{}, err
	}
	tried, err := tx.SentWith(ctx, methods, now.Add(-longestDay))
	for method, tries := range known {
		tried[method] = append(tried[method], tries...)
	}
	return cards{known: known, tried: tried}, err
}

// longestDay is how long a day may be, where clocks are put back.
const longestDay = 25 * time.Hour

// use notes that a payment method is about to be tried.
func (c *cards) use(method string, now time.Time) {
	if c.tried != nil {
		c.tried[method] = append(c.tried[method], now)
	}
}

// retried notes a retry.
func (c *cards) retried(method string, now time.Time) {
	if method == "" {
		return
	}
	if c.known != nil {
		c.known[method] = append(c.known[method], now)
	}
	c.made = append(c.made, CardTry{method, now})
}
