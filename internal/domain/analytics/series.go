package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Point is a value at the end of a day, or on it.
type Point struct {
	Day   Day
	Value int64
}

// amounts says how a metric is read from rows of days: a level stands until it changes, any
// other value is that of its day alone.
var amounts = map[Metric]struct {
	level bool
	of    func(DayFigures) int64
}{
	MRR:               {true, func(d DayFigures) int64 { return d.MRR }},
	ActiveContracts:   {true, func(d DayFigures) int64 { return d.Contracts }},
	ActiveSubscribers: {true, func(d DayFigures) int64 { return d.Subscribers }}, // of one dimension
	RenewalRevenue:    {false, func(d DayFigures) int64 { return d.Revenue }},
	FailedToRecover:   {false, func(d DayFigures) int64 { return d.FailedAmount - d.RecoveredAmount }},
}

// Series returns a metric for every day of a period: MRR, ActiveContracts, ActiveSubscribers
// or RenewalRevenue. Amounts need a currency. Subscribers are those of the whole store,
// unless a currency and a plan group are chosen: one subscriber may be in several.
func (s *Service) Series(ctx context.Context, of shop.ID, m Metric, p Period, f Filter) (list []Point, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = series(ctx, tx, m, p, f)
		return err
	})
	return list, err
}

func series(ctx context.Context, tx ReadTx, m Metric, p Period, f Filter) ([]Point, error) {
	if m == ActiveSubscribers && (f.Currency == "" || f.Group == nil) {
		return subscriberSeries(ctx, tx, p)
	}
	read, known := amounts[m]
	switch {
	case !known:
		return nil, fault.New(fault.Invalid, "%q has no series", m)
	case f.Currency == "" && m != ActiveContracts:
		return nil, errNoCurrency()
	}
	rows, err := tx.MetricDays(ctx, p.From, p.To, f)
	if err != nil {
		return nil, err
	}
	levels := make(map[Dimension]int64)
	var sum int64
	if read.level {
		before, err := tx.MetricsBefore(ctx, p.From, f)
		if err != nil {
			return nil, err
		}
		for _, d := range before {
			levels[d.Dimension] = read.of(d)
			sum += read.of(d)
		}
	}
	list := make([]Point, 0, p.Days())
	for day, n := p.From, 0; day <= p.To; day++ {
		if !read.level {
			sum = 0
		}
		for ; n < len(rows) && rows[n].Day == day; n++ {
			v := read.of(rows[n])
			if sum += v; read.level {
				sum -= levels[rows[n].Dimension]
				levels[rows[n].Dimension] = v
			}
		}
		list = append(list, Point{day, sum})
	}
	return list, nil
}

func subscriberSeries(ctx context.Context, tx ReadTx, p Period) ([]Point, error) {
	rows, err := tx.SubscriberDays(ctx, p.From, p.To)
	if err != nil {
		return nil, err
	}
	list := make([]Point, 0, p.Days())
	var level int64
	for day, n := p.From, 0; day <= p.To; day++ {
		for ; n < len(rows) && rows[n].Day <= day; n++ {
			level = rows[n].Subscribers
		}
		list = append(list, Point{day, level})
	}
	return list, nil
}

func errNoCurrency() error { return fault.New(fault.Invalid, "amounts are per currency: choose one") }

// MonthMoves is how MRR moved in a month, or in the part of it that a period covers.
type MonthMoves struct {
	Month      Month
	Start, End int64
	Moved      Flow
}

// Movements returns how MRR of a currency moved in each month of a period.
func (s *Service) Movements(ctx context.Context, of shop.ID, p Period, f Filter) (list []MonthMoves, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if f.Currency == "" {
		return nil, errNoCurrency()
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		before, err := tx.MetricsBefore(ctx, p.From, f)
		if err != nil {
			return err
		}
		rows, err := tx.MetricDays(ctx, p.From, p.To, f)
		if err != nil {
			return err
		}
		var start int64
		for _, d := range before {
			start += d.MRR
		}
		list = movements(start, rows, p)
		return nil
	})
	return list, err
}

func movements(start int64, rows []DayFigures, p Period) []MonthMoves {
	var list []MonthMoves
	n := 0
	for m := p.From.Month(); m <= p.To.Month(); m++ {
		month := MonthMoves{Month: m, Start: start, Moved: make(Flow)}
		for ; n < len(rows) && rows[n].Day <= m.Last(); n++ {
			for why, by := range rows[n].Moved {
				month.Moved[why] += by
			}
		}
		month.End = start + month.Moved.Sum()
		start = month.End
		list = append(list, month)
	}
	return list
}
