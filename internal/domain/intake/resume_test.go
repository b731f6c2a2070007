package intake

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestAContractRunsAgainByTheCalendarOfBefore(t *testing.T) {
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
		had  had
		now  time.Time
		want int
	}{
		{"it never ran", had{}, day(3, 1), 0},
		{"the next date that is not past", had{ran: ran}, day(3, 1), 6},
		{"the date of this very instant", had{ran: ran}, day(3, 31), 6},
		{"not the date of an order that people skip", had{ran: ran, skipped: map[int]bool{6: true, 7: true}}, day(3, 1), 8},
		{"a date before a later order begins the calendar anew", had{ran: turned}, day(2, 15), 5},
		{"the date with which it does", had{ran: turned}, day(3, 1), 6},
		{"the one after that", had{ran: turned}, day(4, 11), 7},
		{"the one after that, when people skip that order", had{ran: turned, skipped: map[int]bool{6: true}}, day(3, 1), 7},
		{"not the date of an order that was made before its day", had{ran: ran, reached: 6}, day(3, 1), 7},
		{"not the date of an order that people put off, which comes besides", had{ran: putOff}, day(3, 7), 6},
	} {
		if got := row.had.resumes(cal, row.now); got != row.want {
			t.Errorf("%s: cycle %d, want %d", row.name, got, row.want)
		}
	}
}

// An order that stands for another one has a lower cycle than that by the calendar of
// before. What lies between the two, on days of its own, takes no day of the calendar.
func TestTheCalendarGoesAroundOrdersOnDaysOfTheirOwn(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, time.May, 30, 9, 0, 0, 0, time.UTC)
	begins, stands := contract.Series{Cycle: 4, Start: day}, contract.OrderOverride{Cycle: 4, Date: day}
	for _, row := range []struct {
		name   string
		aside  map[int]bool
		number int
		want   plan
	}{
		{"the order itself is next", map[int]bool{5: true}, 4, plan{series: begins}},
		{"nothing lies between", map[int]bool{3: true, 7: true}, 6, plan{series: begins}},
		{"an order before it by its number is put off", map[int]bool{5: true}, 6, plan{series: begins.Before(6), own: []contract.OrderOverride{stands}}},
		{"and a cycle before that one is no order", map[int]bool{6: true}, 9, plan{series: begins.Before(7), own: []contract.OrderOverride{stands}, jumped: 1}},
	} {
		p := plan{series: begins}
		if p.goAround(row.aside, row.number); !reflect.DeepEqual(p, row.want) {
			t.Errorf("%s: %+v, want %+v", row.name, p, row.want)
		}
	}
}
