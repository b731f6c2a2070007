package analytics

import (
	"maps"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestMonthlyShareIsExact(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		minor    int64
		interval cadence.Interval
		count    int
		want     int64
	}{
		{1000, cadence.Day, 1, 30438}, {1000, cadence.Day, 30, 1015}, {1000, cadence.Week, 1, 4348}, {1000, cadence.Week, 4, 1087}, {100_000_000, cadence.Week, 1, 434_821_429},
		{1000, cadence.Month, 1, 1000}, {1000, cadence.Month, 3, 333}, {1001, cadence.Month, 2, 501}, {1000, cadence.Year, 1, 83}, {1000, cadence.Year, 2, 42},
		{9_000_000_000_000, cadence.Year, 1, 750_000_000_000}, {1000, 0, 1, 0}, {1000, cadence.Month, 0, 0},
	} {
		got := Monthly(money.Amount{Minor: row.minor, Currency: "EUR"}, cadence.Policy{Interval: row.interval, Count: row.count})
		if got != (money.Amount{Minor: row.want, Currency: "EUR"}) {
			t.Errorf("%d every %d %v is %v a month, want %d", row.minor, row.count, row.interval, got, row.want)
		}
	}
}

func TestRecurringAmountLeavesOutWhatEnds(t *testing.T) {
	t.Parallel()
	eur := func(n int64) money.Amount { return money.Amount{Minor: n, Currency: "EUR"} }
	c := contract.Contract{
		Currency: "EUR", DeliveryPrice: eur(490), Lines: []contract.LineItem{{ID: "a", Quantity: 2, Price: eur(1000)}},
		Discounts: []contract.Discount{
			{Percent: 10, AllLines: true}, {Percent: 50, AllLines: true, CycleLimit: 3}, {FreeShipping: true}, {Amount: eur(300), TargetIsOrder: true}, {Percent: 20, AllLines: true, RejectedWhy: "gone"},
		},
	}
	if got := RecurringAmount(c); got != eur(1800) {
		t.Errorf("it is %v, want 18.00", got)
	}
}

// step is a state of a contract on a day.
type step struct {
	day    Day
	status contract.Status
	mrr    int64
	group  int64
	reason Reason
	trial  bool
}

func TestMovementsSayWhyMRRChanged(t *testing.T) {
	t.Parallel()
	const a, p, c, f = contract.Active, contract.Paused, contract.Cancelled, contract.Failed
	for name, row := range map[string]struct {
		steps []step
		want  map[Movement]int64 // of both groups together
	}{
		"a new contract grows and shrinks":                        {[]step{{1, a, 10, 1, "", false}, {2, a, 15, 1, "", false}, {3, a, 12, 1, "", false}}, map[Movement]int64{New: 10, Expansion: 5, Contraction: -3}},
		"a trial counts when it ends":                             {[]step{{1, a, 0, 1, "", true}, {2, a, 10, 1, "", false}}, map[Movement]int64{New: 10}},
		"a pause and its end":                                     {[]step{{1, a, 10, 1, "", false}, {2, p, 0, 1, "", false}, {3, a, 11, 1, "", false}}, map[Movement]int64{New: 10, Paused: -10, Resumed: 11}},
		"a cancellation and a return":                             {[]step{{1, a, 10, 1, "", false}, {2, c, 0, 1, "", false}, {3, a, 10, 1, "", false}}, map[Movement]int64{New: 10, ChurnedVoluntary: -10, Reactivated: 10}},
		"a payment that failed for good cancels":                  {[]step{{1, a, 10, 1, "", false}, {2, c, 0, 1, ByDunning, false}}, map[Movement]int64{New: 10, ChurnedByDeclines: -10}},
		"a contract that failed at the platform":                  {[]step{{1, a, 10, 1, "", false}, {2, f, 0, 1, "", false}}, map[Movement]int64{New: 10, ChurnedByDeclines: -10}},
		"a contract that was there before":                        {[]step{{1, a, 10, 1, Existed, false}}, map[Movement]int64{Opening: 10}},
		"a paused contract that was there before resumes":         {[]step{{1, p, 0, 1, Existed, false}, {2, a, 10, 1, "", false}}, map[Movement]int64{Resumed: 10}},
		"a contract that continues another":                       {[]step{{1, a, 10, 1, Restarts, false}}, map[Movement]int64{Reactivated: 10}},
		"a split":                                                 {[]step{{1, a, 10, 1, "", false}, {2, a, 4, 1, BySplit, false}}, map[Movement]int64{New: 10, Transferred: -6}},
		"another plan group at a higher price":                    {[]step{{1, a, 10, 1, "", false}, {2, a, 13, 2, "", false}}, map[Movement]int64{New: 10, Expansion: 3, Transferred: 0}},
		"a cancellation that is read together with another group": {[]step{{1, a, 10, 1, "", false}, {2, c, 0, 2, "", false}}, map[Movement]int64{New: 10, ChurnedVoluntary: -10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, days := moved(row.steps)
			for why, by := range row.want {
				if got[why] != by {
					t.Errorf("%s is %d, want %d", why, got[why], by)
				}
				delete(got, why)
			}
			for why, by := range maps.All(got) {
				if by != 0 {
					t.Errorf("%s is %d, want nothing", why, by)
				}
			}
			level := make(map[Dimension]int64)
			for _, d := range days {
				if level[d.Dimension] += d.Moved.Sum(); level[d.Dimension] != d.MRR {
					t.Errorf("%s ends at %d, and its movements at %d", d.Day, d.MRR, level[d.Dimension])
				}
			}
		})
	}
}

// moved returns the movements of one contract's steps, and the days.
func moved(steps []step) (Flow, []DayFigures) {
	book := NewBook(Tables{})
	var before *Version
	for i, s := range steps {
		v := Version{
			Number: int64(i + 1), Contract: 1, Day: s.day, Reason: s.reason, Counted: s.mrr != 0, Cohort: 1,
			State: State{Dimension: Dimension{Currency: "EUR", Group: s.group}, Status: s.status, MRR: s.mrr, Customer: 9, Trial: s.trial},
		}
		if before != nil {
			v.Counted, v.Cohort = v.Counted || before.Counted, before.Cohort
		} else if s.reason == Existed {
			v.Cohort = 0
		}
		book.Change(before, v)
		before = &v
	}
	sums, days := make(Flow), book.Tables().Days
	for _, d := range days {
		for why, by := range d.Moved {
			sums[why] += by
		}
	}
	return sums, days
}

func TestChurnOfMonthCountsThoseOfItsStart(t *testing.T) {
	t.Parallel()
	march := dayOfDate(2026, time.March, 1)
	month := march.Month()
	for name, row := range map[string]struct {
		active, declined []Day // days on which the one contract changes, first to ACTIVE
		want             ChurnMonth
	}{
		"left":                        {[]Day{march - 40, march + 3}, nil, ChurnMonth{month, 1, 0}},
		"left by a failed payment":    {[]Day{march - 40, march + 3}, []Day{march + 3}, ChurnMonth{month, 0, 1}},
		"came and left":               {[]Day{march + 1, march + 3}, nil, ChurnMonth{}},
		"left and is back":            {[]Day{march - 40, march + 3, march + 5}, nil, ChurnMonth{Month: month}},
		"left, was back and left":     {[]Day{march - 40, march + 3, march + 5, march + 9}, []Day{march + 9}, ChurnMonth{month, 0, 1}},
		"is back in the next month":   {[]Day{march - 40, march + 3, march + 35}, nil, ChurnMonth{month, 1, 0}},
		"left before the month began": {[]Day{march - 40, march - 3, march + 5, march + 9}, nil, ChurnMonth{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := NewBook(Tables{})
			var before *Version
			for i, day := range row.active {
				v := Version{Number: int64(i + 1), Contract: 1, Day: day, Cohort: 1, State: State{Dimension: Dimension{Currency: "EUR"}, Status: contract.Cancelled, Customer: 9}}
				if i%2 == 0 {
					v.Status = contract.Active
				}
				for _, d := range row.declined {
					if d == day {
						v.Reason = ByDunning
					}
				}
				book.Change(before, v)
				before = &v
			}
			var got ChurnMonth
			for _, c := range book.Tables().Churn {
				if c.Month == month {
					got = c
				}
			}
			if got != row.want {
				t.Errorf("churn is %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestWeeksBeginOnMondayAndMonthsEndOnTheirLastDay(t *testing.T) {
	t.Parallel()
	for day, monday := range map[string]string{"2026-03-02": "2026-03-02", "2026-03-08": "2026-03-02", "2026-03-01": "2026-02-23"} {
		d, err := ParseDay(day)
		if err != nil || d.Week().String() != monday {
			t.Errorf("the week of %s begins on %s (%v), want %s", day, d.Week(), err, monday)
		}
	}
	feb := dayOfDate(2028, time.February, 10).Month()
	if feb.String() != "2028-02" || feb.First().String() != "2028-02-01" || feb.Last().String() != "2028-02-29" || (feb+11).String() != "2029-01" {
		t.Errorf("February is %s, from %s to %s", feb, feb.First(), feb.Last())
	}
}
