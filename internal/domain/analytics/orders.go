package analytics

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ForecastDay is the orders that fall due on a day.
type ForecastDay struct {
	Day       Day
	Orders    int64
	Scheduled int64 // minor units
	Expected  int64 // minor units, rounded half away from zero
}

// Forecast is the orders of the coming days of a currency, from today on.
type Forecast struct {
	Days                []ForecastDay
	Orders              int64
	Scheduled, Expected int64
}

// experience is for how many days back results count for what is expected.
const experience = 90

// fewResults is below how many results of a cycle those of all cycles count.
const fewResults = 20

// Forecast returns what the orders in the queue bring in a number of days, from today on.
func (s *Service) Forecast(ctx context.Context, of shop.ID, days int, f Filter) (list Forecast, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = s.forecast(ctx, tx, days, f)
		return err
	})
	return list, err
}

func (s *Service) forecast(ctx context.Context, tx ReadTx, days int, f Filter) (Forecast, error) {
	zone, err := tx.Zone(ctx)
	if err != nil {
		return Forecast{}, err
	}
	now := s.Clock.Now()
	today := DayOf(now, zone)
	results, err := tx.CycleSums(ctx, today-experience, today)
	if err != nil {
		return Forecast{}, err
	}
	queued, err := tx.Queued(ctx, QuarterOf(now), QuarterOf((today + Day(days)).In(zone)), f)
	if err != nil {
		return Forecast{}, err
	}
	return forecast(queued, newOdds(results), Period{today, today + Day(days) - 1}, zone), nil
}

func forecast(queued []QueueFigures, chances odds, p Period, zone *time.Location) Forecast {
	expected := make([]*big.Rat, p.Days())
	f := Forecast{Days: make([]ForecastDay, p.Days())}
	for i := range f.Days {
		f.Days[i].Day, expected[i] = p.From+Day(i), new(big.Rat)
	}
	for _, q := range queued {
		at := int(DayOf(q.Quarter.Start(), zone) - p.From)
		if at < 0 || at >= len(f.Days) {
			continue
		}
		f.Days[at].Orders += q.Orders
		f.Days[at].Scheduled += q.Amount
		expected[at].Add(expected[at], new(big.Rat).Mul(chances.of(q.Cycle), big.NewRat(q.Amount, 1)))
	}
	for i := range f.Days {
		d := &f.Days[i]
		d.Expected = rounded(expected[i])
		f.Orders, f.Scheduled, f.Expected = f.Orders+d.Orders, f.Scheduled+d.Scheduled, f.Expected+d.Expected
	}
	return f
}

// rounded returns a fraction that is not negative as a whole number, halves rounded up.
func rounded(r *big.Rat) int64 {
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	return twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1)).Int64()
}

// odds is how likely orders are made and paid, by cycle; 0 stands for all cycles.
type odds map[int64]*big.Rat

func newOdds(results []CycleFigures) odds {
	var all CycleFigures
	chances := make(odds)
	for _, r := range results {
		all.Paid, all.Lost, all.Skipped = all.Paid+r.Paid, all.Lost+r.Lost, all.Skipped+r.Skipped
		if r.Paid+r.Lost+r.Skipped >= fewResults {
			chances[r.Cycle] = r.chance()
		}
	}
	chances[0] = all.chance()
	return chances
}

func (o odds) of(cycle int64) *big.Rat {
	if chance, has := o[cycle]; has {
		return chance
	}
	return o[0]
}

// chance returns paid ÷ (paid + lost) times the share that is not skipped; 1 without results.
func (r CycleFigures) chance() *big.Rat {
	chance := big.NewRat(1, 1)
	if tried := r.Paid + r.Lost; tried > 0 {
		chance.SetFrac64(r.Paid, tried)
		return chance.Mul(chance, big.NewRat(tried, tried+r.Skipped))
	}
	if r.Skipped > 0 {
		return chance.SetInt64(0)
	}
	return chance
}

// RecoveryWeek is what became of the orders whose first payment was declined in a week.
type RecoveryWeek struct {
	Week Day // its Monday
	RecoverySum
}

// RecoverySum is numbers and amounts of declined orders.
type RecoverySum struct {
	Failed, FailedAmount       int64
	Recovered, RecoveredAmount int64
	Stages
}

// Open returns the number and the amount of the orders that are neither paid nor given up.
func (s RecoverySum) Open() (orders, amount int64) {
	return max(s.Failed-s.Recovered-s.Lost, 0), max(s.FailedAmount-s.RecoveredAmount-s.LostAmount, 0)
}

func (s *RecoverySum) add(f FailureFigures) {
	s.Failed += f.Failed
	s.FailedAmount += f.FailedAmount
	s.Recovered += f.Recovered
	s.RecoveredAmount += f.RecoveredAmount
	s.Stages = s.plus(f.Stages)
}

// Recovery is declined orders by week, by class, and by the try that was paid.
type Recovery struct {
	Total   RecoverySum
	Weeks   []RecoveryWeek // every week of the period
	Classes []RecoveryClass
	Tries   []RecoveryTry // of recovered orders
}

// RecoveryClass is the orders whose first decline was of a class.
type RecoveryClass struct {
	Class dunning.Class
	RecoverySum
}

// RecoveryTry is the orders that a try recovered.
type RecoveryTry struct {
	Try               int64
	Recovered, Amount int64
}

// Recovery returns what became of the orders of a currency whose first payment was declined
// in a period. The first and the last week may be cut.
func (s *Service) Recovery(ctx context.Context, of shop.ID, p Period, c money.Currency) (r Recovery, err error) {
	if err := p.Check(); err != nil {
		return r, err
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		rows, err := tx.FailureDays(ctx, p.From, p.To, c)
		r = recovery(rows, p)
		return err
	})
	return r, err
}

func recovery(rows []FailureFigures, p Period) Recovery {
	var r Recovery
	for week := p.From.Week(); week <= p.To; week += 7 {
		r.Weeks = append(r.Weeks, RecoveryWeek{Week: week})
	}
	for _, row := range rows {
		r.Total.add(row)
		r.Weeks[(row.Day.Week()-p.From.Week())/7].add(row)
		at := slices.IndexFunc(r.Classes, func(c RecoveryClass) bool { return c.Class == row.Class })
		if at < 0 {
			at = len(r.Classes)
			r.Classes = append(r.Classes, RecoveryClass{Class: row.Class})
		}
		r.Classes[at].add(row)
		if row.Try > 0 {
			at := slices.IndexFunc(r.Tries, func(t RecoveryTry) bool { return t.Try == row.Try })
			if at < 0 {
				at = len(r.Tries)
				r.Tries = append(r.Tries, RecoveryTry{Try: row.Try})
			}
			r.Tries[at].Recovered += row.Recovered
			r.Tries[at].Amount += row.RecoveredAmount
		}
	}
	slices.SortFunc(r.Classes, func(a, b RecoveryClass) int { return int(b.FailedAmount - a.FailedAmount) })
	slices.SortFunc(r.Tries, func(a, b RecoveryTry) int { return int(a.Try - b.Try) })
	return r
}
