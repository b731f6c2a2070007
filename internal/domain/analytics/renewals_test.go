package analytics

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestRenewalsAreOfDaysWeeksOrMonths(t *testing.T) {
	t.Parallel()
	first := dayOfDate(2026, time.January, 20)
	var rows []DayFigures // two dimensions a day
	for day := first; day < first+730; day++ {
		rows = append(rows, DayFigures{Day: day, Orders: 1, Revenue: 10}, DayFigures{Day: day, Orders: 1, Revenue: 5})
	}
	for days, want := range map[int][]string{
		1:  {"2026-01-20 2026-01-20 2 15"},
		15: {"2026-01-20 2026-01-20 2 15", "2026-02-03 2026-02-03 2 15"},
		32: {"2026-01-20 2026-01-26 14 105", "2026-02-17 2026-02-20 8 60"},
		93: {"2026-01-20 2026-01-31 24 180", "2026-04-01 2026-04-22 44 330"},
	} {
		p := Period{first, first + Day(days) - 1}
		list := renewals(rows[:2*days], p)
		text := func(r Renewals) string {
			return r.From.String() + " " + r.To.String() + " " + fmt.Sprint(r.Orders) + " " + fmt.Sprint(r.Revenue)
		}
		got := slices.Compact([]string{text(list[0]), text(list[len(list)-1])})
		var all Renewals
		for i, r := range list {
			if all.Orders, all.Revenue = all.Orders+r.Orders, all.Revenue+r.Revenue; i > 0 && r.From != list[i-1].To+1 {
				t.Errorf("of %d days a part from %s follows one to %s", days, r.From, list[i-1].To)
			}
		}
		if !slices.Equal(got, want) || all.Orders != int64(2*days) || all.Revenue != int64(15*days) {
			t.Errorf("%d days are %q, want %q; all is %+v", days, got, want, all)
		}
	}
	if list := renewals(nil, Period{first, first + 2}); len(list) != 3 || list[1].Orders != 0 {
		t.Errorf("without renewals the days are %+v", list)
	}
}

func TestAverageRoundsHalfUp(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sum, of, want int64
		has           bool
	}{{10, 4, 3, true}, {9, 4, 2, true}, {11, 4, 3, true}, {0, 3, 0, true}, {5, 0, 0, false}, {9_000_000_000_000_000_000, 2, 4_500_000_000_000_000_000, true}} {
		if got, has := (Renewals{Orders: row.of, Revenue: row.sum}).Average(); got != row.want || has != row.has {
			t.Errorf("%d of %d orders is %d each (%t), want %d", row.sum, row.of, got, has, row.want)
		}
		if got, has := (Lifetime{Subscribers: row.of, Revenue: row.sum}).Value(); got != row.want || has != row.has {
			t.Errorf("%d of %d subscribers is %d each (%t), want %d", row.sum, row.of, got, has, row.want)
		}
	}
}

func TestLifetimesLeaveOutMonthsWithoutSubscribers(t *testing.T) {
	t.Parallel()
	list, all := lifetimes([]CohortMonth{{Cohort: 0, Joined: 9, Revenue: 9}, {Cohort: 24300, Joined: 2, Revenue: 700}, {Cohort: 24301, Revenue: 5}, {Cohort: 24302, Joined: 1}})
	if !slices.Equal(list, []Lifetime{{24300, 2, 700}, {24302, 1, 0}}) || all != (Lifetime{0, 3, 700}) {
		t.Errorf("they are %+v, all is %+v", list, all)
	}
}
