package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Renewals is orders that were paid in a period, and what they paid.
type Renewals struct {
	Period
	Orders, Revenue int64 // Revenue is minor units
}

// Average returns the average order, rounded half up, and false without an order.
func (r Renewals) Average() (minor int64, has bool) { return average(r.Revenue, r.Orders) }

// average returns a sum divided by a number, rounded half up; false for a number that is 0.
func average(sum, of int64) (int64, bool) {
	if of <= 0 {
		return 0, false
	}
	whole, rest := sum/of, sum%of
	if rest >= of-rest {
		whole++
	}
	return whole, true
}

// Renewals returns the renewals of a period in a currency: by day up to 31 days, by week up to
// 92, and by month of the calendar otherwise. The last part may be shorter, and months the
// first.
func (s *Service) Renewals(ctx context.Context, of shop.ID, p Period, f Filter) (list []Renewals, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if f.Currency == "" {
		return nil, errNoCurrency()
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		rows, err := tx.MetricDays(ctx, p.From, p.To, f)
		list = renewals(rows, p)
		return err
	})
	return list, err
}

func renewals(rows []DayFigures, p Period) []Renewals {
	var list []Renewals
	for from := p.From; from <= p.To; {
		to := from
		switch {
		case p.Days() > 92:
			to = from.Month().Last()
		case p.Days() > 31:
			to += 6
		}
		r := Renewals{Period: Period{from, min(to, p.To)}}
		for ; len(rows) > 0 && rows[0].Day <= r.To; rows = rows[1:] {
			r.Orders += rows[0].Orders
			r.Revenue += rows[0].Revenue
		}
		list = append(list, r)
		from = r.To + 1
	}
	return list
}

// Lifetime is the subscribers whose first contract began in a month, and what they have paid.
type Lifetime struct {
	Month       Month // 0: all
	Subscribers int64 // who ever had an ACTIVE contract in the currency
	Revenue     int64 // of their renewals to date, in minor units
}

// Value returns revenue for each subscriber, rounded half up, and false without a subscriber.
func (l Lifetime) Value() (minor int64, has bool) { return average(l.Revenue, l.Subscribers) }

// Lifetimes returns what subscribers have paid to date in a currency, by month, oldest first,
// and all together.
func (s *Service) Lifetimes(ctx context.Context, of shop.ID, c money.Currency) (list []Lifetime, all Lifetime, err error) {
	if c == "" {
		return nil, all, errNoCurrency()
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		rows, err := tx.CohortSums(ctx, c)
		list, all = lifetimes(rows)
		return err
	})
	return list, all, err
}

func lifetimes(rows []CohortMonth) (list []Lifetime, all Lifetime) {
	for _, r := range rows {
		if r.Cohort == 0 || r.Joined == 0 {
			continue
		}
		list = append(list, Lifetime{r.Cohort, r.Joined, r.Revenue})
		all.Subscribers += r.Joined
		all.Revenue += r.Revenue
	}
	return list, all
}
