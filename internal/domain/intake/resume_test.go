package intake

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestAContractRunsAgainByTheCalendarOfBefore(t *testing.T) {
	t.Parallel()
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 9, 0, 0, 0, time.UTC) }
	monthly := contract.Policy{Interval: cadence.Month, Count: 1}
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	ran := contract.Contract{Series: contract.Series{Cycle: 4, Start: day(1, 31)}}
	turned := ran
	turned.Turns = []contract.Series{{Cycle: 6, Start: day(4, 10)}}
	putOff := ran
	putOff.Wishes = []contract.Wish{{Cycle: 4, Date: day(3, 9)}, {Cycle: 5, Date: day(3, 8)}}
	for _, row := range []struct {
		name      string
		had       had
		notBefore time.Time
		want      time.Time
	}{
		{"it never ran", had{}, day(3, 1), time.Time{}},
		{"the next date that is not past", had{ran: ran}, day(3, 1), day(3, 31)},
		{"the date of this very instant", had{ran: ran}, day(3, 31), day(3, 31)},
		{"not the date of an order that people skip", had{ran: ran, skipped: map[int]bool{6: true, 7: true}}, day(3, 1), day(5, 31)},
		{"a date before a later order begins the calendar anew", had{ran: turned}, day(2, 15), day(2, 28)},
		{"the date with which it does", had{ran: turned}, day(3, 1), day(4, 10)},
		{"the one after that", had{ran: turned}, day(4, 11), day(5, 10)},
		{"the one after that, when people skip that order", had{ran: turned, skipped: map[int]bool{6: true}}, day(3, 1), day(5, 10)},
		{"not the date of an order that was made before its day", had{ran: ran, reached: 6}, day(3, 1), day(4, 30)},
		{"orders that people put off", had{ran: putOff}, day(3, 7), day(1, 31)},
		{"not when one between would be past", had{ran: putOff}, day(3, 8), day(3, 31)},
		{"an order put off is not made twice", had{ran: putOff, reached: 4}, day(3, 7), day(2, 28)},
		{"before one that people skip", had{ran: putOff, skipped: map[int]bool{5: true}}, day(3, 7), day(1, 31)},
		{"an order put off and skipped", had{ran: putOff, skipped: map[int]bool{4: true}}, day(3, 7), day(2, 28)},
	} {
		if got, _ := row.had.resumes(monthly, cal, row.notBefore, row.notBefore); !got.Equal(row.want) {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
