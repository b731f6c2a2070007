package analytics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// march is the first day of the forecasts here.
var march = dayOfDate(2026, time.March, 1)

// due returns orders that fall due some days after the first.
func due(days int, cycle, orders, amount int64) QueueFigures {
	at := march.In(time.UTC).AddDate(0, 0, days).Add(6 * time.Hour)
	return QueueFigures{Quarter: QuarterOf(at), Dimension: Dimension{Currency: "EUR"}, Cycle: cycle, Orders: orders, Amount: amount}
}

func forecastOf(results []CycleFigures, days int, queued ...QueueFigures) Forecast {
	return forecast(queued, newOdds(results), Period{march, march + Day(days) - 1}, time.UTC)
}

func TestForecastTakesOffWhatIsSkippedOrNeverPaid(t *testing.T) {
	t.Parallel()
	f := forecastOf([]CycleFigures{{Cycle: 1, Paid: 60, Lost: 20, Skipped: 20}, {Cycle: 2, Paid: 9, Lost: 1}}, 2,
		due(0, 1, 2, 1001), // 3/4 paid, 4/5 not skipped
		due(1, 2, 1, 900),  // too few results: those of all orders, 69 of 110
		due(2, 1, 1, 5),    // after the period
	)
	for i, want := range []ForecastSum{{Orders: 2, Scheduled: 1001, Expected: 601}, {Orders: 1, Scheduled: 900, Expected: 565}} {
		got := f.Days[i].ForecastSum
		if got.Low, got.High = 0, 0; got != want {
			t.Errorf("day %d is %+v, want %+v", i, got, want)
		}
	}
	if len(f.Days) != 2 || !f.Known || f.Results != 110 || f.Orders != 3 || f.Scheduled != 1901 || f.Expected != 1166 {
		t.Errorf("the forecast is %+v", f)
	}
}

func TestForecastExpectsNothingWithFewerThanThirtyResults(t *testing.T) {
	t.Parallel()
	for results, known := range map[int64]bool{0: false, 29: false, 30: true} {
		f := forecastOf([]CycleFigures{{Cycle: 1, Paid: results}}, 8, due(0, 1, 2, 1000), due(7, 2, 1, 300))
		want := ForecastSum{Orders: 3, Scheduled: 1300}
		if known {
			want.Expected, want.Low, want.High = 1300, f.Low, 1300
		}
		if f.Known != known || f.Results != results || f.ForecastSum != want || known == (f.Days[0].Expected == 0) || known == (f.Weeks[0].High == 0) {
			t.Errorf("of %d results comes %+v", results, f)
		}
	}
}

// The numbers are worked out by hand from the definition of the metric.
func TestBandIsThatOfItsDefinition(t *testing.T) {
	t.Parallel()
	results := []CycleFigures{{Cycle: 1, Paid: 78, Lost: 10, Skipped: 10}, {Cycle: 2, Paid: 30}, {Cycle: 3, Paid: 15, Lost: 15}} // p is 79/100, 31/32 and 1/2
	for name, row := range map[string]struct {
		queued    []QueueFigures
		low, high int64
	}{
		"nothing": {nil, 0, 0},
		// 100² × 100 × 0.1659 + 10,000² × 0.1659 ÷ 100 = 331,800, whose root is 576.0; 1.2816 of these are 738
		"100 orders of 100": {[]QueueFigures{due(0, 1, 100, 10_000)}, 7959 - 738, 7959 + 738},
		// 10,000² × 0.1659 × 1.01 = 16,755,900, whose root is 4093.4: 5246; not above what is scheduled
		"one order of 10,000": {[]QueueFigures{due(0, 1, 1, 10_000)}, 7959 - 5246, 10_000},
		// the sum of the variance of each day's orders, and of a share of 20,000: 2 × 165,900 + 20,000² × 0.001659 = 995,400: 1279
		"the share is the same on both days": {[]QueueFigures{due(0, 1, 100, 10_000), due(3, 1, 100, 10_000)}, 15_918 - 1279, 15_918 + 1279},
		// 100² × 100 × 0.030273 + 10,000² × 0.030273 ÷ 32 = 30,273 + 94,604 = 124,878, whose root is 353.4: 453
		"all were paid": {[]QueueFigures{due(0, 2, 100, 10_000)}, 10_000 - 453, 10_000},
		// 10,000² × 0.25 × 33/32 = 25,781,250, whose root is 5077.5: 6507; not below 0
		"one order that may be lost": {[]QueueFigures{due(0, 3, 1, 10_000)}, 0, 10_000},
		// 331,800 + 124,878 = 456,678, whose root is 675.8: 866
		"two shares are independent": {[]QueueFigures{due(0, 1, 100, 10_000), due(0, 2, 100, 10_000)}, 17_959 - 866, 17_959 + 866},
	} {
		f := forecastOf(results, 7, row.queued...)
		if f.Low != row.low || f.High != row.high {
			t.Errorf("%s: the band is %d to %d around %d, want %d to %d", name, f.Low, f.High, f.Expected, row.low, row.high)
		}
		if f.Weeks[0].ForecastSum != f.ForecastSum {
			t.Errorf("%s: the only week is %+v, and all is %+v", name, f.Weeks[0], f.ForecastSum)
		}
	}
}

// What comes true is drawn: the share that is paid, from what the results leave open, and then
// each order. Four fifths of that must lie in the band; with many results, a tenth lies on each
// side, and with few rather more below it.
func TestBandHoldsFourFifthsOfWhatComesTrue(t *testing.T) {
	t.Parallel()
	const rounds = 8000
	for name, of := range map[string]struct{ paid, results, orders, least int64 }{
		"few orders": {340, 400, 80, 7}, "many orders": {340, 400, 4000, 7}, "few results": {24, 30, 500, 3},
	} {
		r := rand.New(rand.NewPCG(11, 3)) //nolint:gosec // draws that are the same every time
		f := forecastOf([]CycleFigures{{Cycle: 1, Paid: of.paid, Lost: of.results - of.paid}}, 1, due(0, 1, of.orders, of.orders*100))
		var below, above int64
		for range rounds {
			share := beta(r, of.paid+1, of.results-of.paid+1)
			var came int64
			for range of.orders {
				if r.Float64() < share {
					came += 100
				}
			}
			if came < f.Low {
				below++
			} else if came > f.High {
				above++
			}
		}
		if math.Abs(float64(below+above)/rounds-.2) > .03 || min(below, above) < of.least*rounds/100 {
			t.Errorf("%s: of %d draws, %d are below the band and %d above it", name, rounds, below, above)
		}
	}
}

// beta draws from the beta distribution.
func beta(r *rand.Rand, a, b int64) float64 {
	var x, y float64
	for range a {
		x += r.ExpFloat64()
	}
	for range b {
		y += r.ExpFloat64()
	}
	return x / (x + y)
}

func TestWeeksOfForecastAddUpToIt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 8)) //nolint:gosec // numbers that are the same every time
	for _, days := range []int{1, 7, 30, 90} {
		var queued []QueueFigures
		for i := range 300 {
			n := 1 + r.Int64N(4)
			queued = append(queued, due(i%days, 1+r.Int64N(13), n, n*r.Int64N(9000)))
		}
		f := forecastOf([]CycleFigures{{Cycle: 1, Paid: 60, Lost: 20, Skipped: 20}, {Cycle: 2, Paid: 9, Lost: 1}, {Cycle: 13, Skipped: 20}}, days, queued...)
		var byDay, byWeek ForecastSum
		next := march
		for _, d := range f.Days {
			byDay = ForecastSum{byDay.Orders + d.Orders, byDay.Scheduled + d.Scheduled, byDay.Expected + d.Expected, byDay.Low + d.Low, byDay.High + d.High}
		}
		for _, d := range f.Weeks {
			if d.From != next || d.Days() != min(7, days-int(d.From-march)) {
				t.Errorf("of %d days a week is from %s to %s", days, d.From, d.To)
			}
			next = d.To + 1
			byWeek = ForecastSum{byWeek.Orders + d.Orders, byWeek.Scheduled + d.Scheduled, byWeek.Expected + d.Expected, byWeek.Low + d.Low, byWeek.High + d.High}
			if d.Low < 0 || d.Low > d.Expected || d.Expected > d.High || d.High > d.Scheduled {
				t.Errorf("a week cannot be: %+v", d)
			}
		}
		whole := func(s ForecastSum) string { return fmt.Sprint(s.Orders, s.Scheduled, s.Expected) }
		if len(f.Days) != days || whole(byDay) != whole(f.ForecastSum) || whole(byWeek) != whole(f.ForecastSum) {
			t.Errorf("%d days have %+v, their weeks %+v, and all is %+v", days, byDay, byWeek, f.ForecastSum)
		}
		if days > 7 && (f.High-f.Low >= byWeek.High-byWeek.Low || byWeek.High-byWeek.Low >= byDay.High-byDay.Low) {
			t.Errorf("the bands of %d days do not balance out: days %+v, weeks %+v, all %+v", days, byDay, byWeek, f.ForecastSum)
		}
	}
}
