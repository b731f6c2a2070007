package analytics

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tile is a figure with its past.
type Tile struct {
	Value  int64
	Before int64   // at the start of the trend
	Trend  []int64 // day after day, to today
}

// Overview is the figures of a store's first page.
type Overview struct {
	At       time.Time // to when the figures are
	First    Day       // that has figures; 0: there are none
	Currency money.Currency
	// Others are further currencies in which the store has figures.
	Others []money.Currency

	MRR         Tile
	Subscribers Tile
	// Churn counts subscribers who left in the last 30 days, of ChurnOf at their start. Its
	// trend counts those who left on each day.
	Churn   Tile
	ChurnOf int64
	// Revenue is what is expected of the next 30 days, or what is scheduled where that is not
	// known. Its trend is what renewals of the past days paid.
	Revenue         Tile
	RevenueExpected bool
	// ToRecover is the amount of declined orders that are not given up; its trend is what was
	// declined for the first time on each day.
	ToRecover       Tile
	ToRecoverOrders int64
}

// churnDays is over how many days the overview counts churn, and how many days it looks ahead.
const churnDays = 30

// Overview returns the figures with the trend of a number of days, in the currency in which
// the store has most MRR, or in its own when it has none.
func (s *Service) Overview(ctx context.Context, of shop.Shop, days int) (o Overview, err error) {
	err = s.Store.View(ctx, of.ID, func(tx ReadTx) error {
		o = Overview{At: s.Clock.Now()}
		return s.overview(ctx, tx, &o, days, of.Currency)
	})
	return o, err
}

func (s *Service) overview(ctx context.Context, tx ReadTx, o *Overview, days int, own money.Currency) error {
	zone, err := tx.Zone(ctx)
	if err != nil {
		return err
	}
	today := DayOf(o.At, zone)
	p := Period{today - Day(days) + 1, today}
	if o.First, err = tx.FirstDay(ctx); err != nil {
		return err
	}
	last, err := tx.MetricsBefore(ctx, today+1, Filter{})
	if err != nil {
		return err
	}
	o.Currency, o.Others = currencies(last, own)
	f := Filter{Currency: o.Currency}
	for _, t := range []struct {
		to *Tile
		of Metric
	}{{&o.MRR, MRR}, {&o.Subscribers, ActiveSubscribers}, {&o.Revenue, RenewalRevenue}, {&o.ToRecover, FailedToRecover}} {
		list, err := series(ctx, tx, t.of, p, f)
		if err != nil {
			return err
		}
		for _, point := range list {
			t.to.Trend = append(t.to.Trend, point.Value)
		}
		t.to.Before, t.to.Value = list[0].Value, list[len(list)-1].Value
	}
	ahead, err := s.forecast(ctx, tx, churnDays, f)
	if err != nil {
		return err
	}
	if o.Revenue.Value, o.RevenueExpected = ahead.Scheduled, ahead.Known; ahead.Known {
		o.Revenue.Value = ahead.Expected
	}
	owed, err := tx.InDunning(ctx)
	if err != nil {
		return err
	}
	o.ToRecover.Value = 0
	for _, w := range owed {
		if w.Currency == o.Currency {
			o.ToRecover.Value, o.ToRecoverOrders = w.Amount, w.Orders
		}
	}
	return o.churn(ctx, tx, p)
}

func (o *Overview) churn(ctx context.Context, tx ReadTx, p Period) error {
	since := p.To - churnDays + 1
	voluntary, failed, err := tx.Churned(ctx, since)
	if err != nil {
		return err
	}
	o.Churn.Value = voluntary + failed
	level, err := subscriberSeries(ctx, tx, Period{since - 1, since - 1})
	if err != nil {
		return err
	}
	o.ChurnOf = level[0].Value
	rows, err := tx.SubscriberDays(ctx, p.From, p.To)
	if err != nil {
		return err
	}
	o.Churn.Trend = make([]int64, p.Days())
	for _, r := range rows {
		if r.Day >= p.From {
			o.Churn.Trend[r.Day-p.From] = r.Lost + r.LostDecline
		}
	}
	return nil
}

// currencies returns the currency with the most MRR by face value, or own when there is no
// MRR, and the others that occur.
func currencies(last []DayFigures, own money.Currency) (money.Currency, []money.Currency) {
	sums := make(map[money.Currency]int64)
	for _, d := range last {
		sums[d.Currency] += d.MRR
	}
	best := own
	for _, d := range last { // in a fixed order
		if (money.Amount{Minor: sums[d.Currency], Currency: d.Currency}).Milli() > (money.Amount{Minor: sums[best], Currency: best}).Milli() {
			best = d.Currency
		}
	}
	delete(sums, best)
	return best, slices.Sorted(maps.Keys(sums))
}
