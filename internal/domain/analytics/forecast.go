package analytics

import (
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ForecastSum is orders that fall due, and what they bring. Amounts are minor units.
type ForecastSum struct {
	Orders    int64
	Scheduled int64

	// Both are 0 unless the forecast is Known.
	Expected  int64 // of a day, rounded half up; of several days, the sum of theirs
	Low, High int64 // the 10 % and the 90 % quantile of what may come, from 0 to Scheduled
}

// ForecastDays is the orders that fall due from one day to another.
type ForecastDays struct {
	Period
	ForecastSum
}

// Forecast is the orders of the coming days of a currency, from today on. The band of several
// days is narrower than their bands together, since chance balances out.
type Forecast struct {
	ForecastSum
	Days    []ForecastDays // one each
	Weeks   []ForecastDays // seven days each, from today on; the last may have fewer
	Results int64          // that say what is expected
	Known   bool           // there are EnoughResults
}

// experience is for how many days back results count for what is expected.
const experience = 90

// EnoughResults is how many results of the last 90 days it takes to expect anything.
const EnoughResults = 30

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
	days := make([]prospect, p.Days())
	for i := range days {
		days[i].exact = new(big.Rat)
	}
	for _, q := range queued {
		if at := int(DayOf(q.Quarter.Start(), zone) - p.From); at >= 0 && at < len(days) {
			days[at].add(q, chances)
		}
	}
	f := Forecast{Results: chances[0].results(), Known: chances.known()}
	var all, week prospect
	for i, d := range days {
		day := p.From + Day(i)
		d.expected = rounded(d.exact)
		f.Days = append(f.Days, ForecastDays{Period{day, day}, d.sum(chances)})
		all.join(d)
		week.join(d)
		if i%7 == 6 || day == p.To {
			f.Weeks = append(f.Weeks, ForecastDays{Period{p.From + Day(i-i%7), day}, week.sum(chances)})
			week = prospect{}
		}
	}
	f.ForecastSum = all.sum(chances)
	return f
}

// prospect is orders that fall due, and how sure they are.
type prospect struct {
	orders, scheduled int64
	exact             *big.Rat        // what is expected of a day
	expected          int64           // rounded, or the sum of days
	chance            float64         // variance that comes from each order being paid or not
	byCycle           map[int64]int64 // what is scheduled, by the key of the odds that it has
}

// add counts orders that are queued. Their own amounts are not known, and count as equal.
func (p *prospect) add(q QueueFigures, o odds) {
	if q.Orders == 0 {
		return
	}
	p.orders += q.Orders
	p.scheduled += q.Amount
	key := o.key(q.Cycle)
	p.exact.Add(p.exact, new(big.Rat).Mul(o[key].share(), big.NewRat(q.Amount, 1)))
	variance, _ := o[key].doubt()
	p.chance += float64(q.Amount) * float64(q.Amount) / float64(q.Orders) * variance
	p.at(key, q.Amount)
}

func (p *prospect) at(key, amount int64) {
	if p.byCycle == nil {
		p.byCycle = make(map[int64]int64)
	}
	p.byCycle[key] += amount
}

// join counts what falls due on another day.
func (p *prospect) join(d prospect) {
	p.orders, p.scheduled, p.expected, p.chance = p.orders+d.orders, p.scheduled+d.scheduled, p.expected+d.expected, p.chance+d.chance
	for key, amount := range d.byCycle {
		p.at(key, amount)
	}
}

// bandQuantile is how many standard deviations the 10 % and the 90 % quantile of a normal
// distribution are from its middle.
const bandQuantile = 1.2815515655446004

// sum returns what the orders bring.
func (p prospect) sum(o odds) ForecastSum {
	s := ForecastSum{Orders: p.orders, Scheduled: p.scheduled}
	if !o.known() {
		return s
	}
	variance := p.chance
	for _, key := range slices.Sorted(maps.Keys(p.byCycle)) { // in a fixed order: sums of fractions depend on it
		_, estimate := o[key].doubt()
		variance += float64(p.byCycle[key]) * float64(p.byCycle[key]) * estimate
	}
	half := int64(math.Round(bandQuantile * math.Sqrt(variance)))
	s.Expected, s.Low, s.High = p.expected, max(p.expected-half, 0), min(p.expected+half, max(p.scheduled, p.expected))
	return s
}

// rounded returns a fraction that is not negative as a whole number, halves rounded up.
func rounded(r *big.Rat) int64 {
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	return twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1)).Int64()
}

// odds is how orders ended that were decided lately, by cycle; 0 stands for all cycles.
// Cycles with few results are not in it.
type odds map[int64]CycleFigures

func newOdds(results []CycleFigures) odds {
	var all CycleFigures
	chances := make(odds)
	for _, r := range results {
		all.Paid, all.Lost, all.Skipped = all.Paid+r.Paid, all.Lost+r.Lost, all.Skipped+r.Skipped
		if r.results() >= fewResults {
			chances[r.Cycle] = r
		}
	}
	chances[0] = all
	return chances
}

// known reports whether the results are enough to expect anything.
func (o odds) known() bool { return o[0].results() >= EnoughResults }

// key returns whose odds an order of a cycle has.
func (o odds) key(cycle int64) int64 {
	if _, has := o[cycle]; has {
		return cycle
	}
	return 0
}

func (r CycleFigures) results() int64 { return r.Paid + r.Lost + r.Skipped }

// share returns paid ÷ (paid + lost) times the share that is not skipped, which is the share
// of all that is paid; 1 without results.
func (r CycleFigures) share() *big.Rat {
	if r.results() == 0 {
		return big.NewRat(1, 1)
	}
	return big.NewRat(r.Paid, r.results())
}

// doubt returns the variance of whether one order is paid, and that of the share itself,
// which so many results leave open. One more order that was paid and one that was not
// count for both, so that what never happened is not impossible.
func (r CycleFigures) doubt() (ofOne, ofShare float64) {
	n := float64(r.results() + 2)
	share := float64(r.Paid+1) / n
	return share * (1 - share), share * (1 - share) / n
}
