package intake

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestActivatedContractContinuesItsCalendar(t *testing.T) {
	t.Parallel()
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 9, 0, 0, 0, time.UTC) }
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	ran := contract.Contract{Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Series: contract.Series{Cycle: 4, Start: day(1, 31)}}
	turned := ran
	turned.LaterSeries = []contract.Series{{Cycle: 6, Start: day(4, 10)}}
	putOff := ran
	putOff.Overrides = []contract.OrderOverride{{Cycle: 5, Date: day(3, 8)}}
	for _, row := range []struct {
		name string
		had  history
		now  time.Time
		want int
	}{
		{"it never ran", history{}, day(3, 1), 0},
		{"the next date that is not past", history{calendar: ran}, day(3, 1), 6},
		{"the date of this very instant", history{calendar: ran}, day(3, 31), 6},
		{"not the date of an order that people skip", history{calendar: ran, skipped: map[int]bool{6: true, 7: true}}, day(3, 1), 8},
		{"a date before a later order that begins a new series", history{calendar: turned}, day(2, 15), 5},
		{"the date with which it does", history{calendar: turned}, day(3, 1), 6},
		{"the one after that", history{calendar: turned}, day(4, 11), 7},
		{"the one after that, when people skip that order", history{calendar: turned, skipped: map[int]bool{6: true}}, day(3, 1), 7},
		{"not the date of an order that was made before its day", history{calendar: ran, reached: 6}, day(3, 1), 7},
		{"not the date of an order that was moved to a later one, which comes in addition", history{calendar: putOff}, day(3, 7), 6},
	} {
		if got := row.had.resumeCycle(cal, row.now); got != row.want {
			t.Errorf("%s: cycle %d, want %d", row.name, got, row.want)
		}
	}
}

// An order that stands for another one has a lower cycle than that by the calendar of
// before. What lies between the two, on days of its own, takes no day of the calendar.
func TestCalendarBeginsBehindOrdersWithOwnDates(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, time.May, 30, 9, 0, 0, 0, time.UTC)
	begins, stands := contract.Series{Cycle: 4, Start: day}, contract.OrderOverride{Cycle: 4, Date: day}
	for _, row := range []struct {
		name   string
		aside  map[int]bool
		number int
		want   queueStart
	}{
		{"the order itself is next", map[int]bool{5: true}, 4, queueStart{series: begins}},
		{"nothing lies between", map[int]bool{3: true, 7: true}, 6, queueStart{series: begins}},
		{"an order before it by its number is put off", map[int]bool{5: true}, 6, queueStart{series: begins.Before(6), ownDates: []contract.OrderOverride{stands}}},
		{"and a cycle before that one is no order", map[int]bool{6: true}, 9, queueStart{series: begins.Before(7), ownDates: []contract.OrderOverride{stands}, passedCycles: 1}},
	} {
		p := queueStart{series: begins}
		if p.startBehind(row.aside, row.number); !reflect.DeepEqual(p, row.want) {
			t.Errorf("%s: %+v, want %+v", row.name, p, row.want)
		}
	}
}
