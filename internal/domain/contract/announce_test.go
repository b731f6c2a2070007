package contract

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestNotifyAt(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)
	at := func(day int) time.Time { return time.Date(2026, time.January, day, 12, 0, 0, 0, time.UTC) }
	every := func(i cadence.Interval, n int) Contract {
		return Contract{Status: Active, AutoCharge: true, NextBillingDate: date, Billing: Policy{Interval: i, Count: n}}
	}
	but := func(change func(*Contract)) Contract {
		c := every(cadence.Month, 1)
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		of   Contract
		want time.Time
	}{
		"every month: three days before":        {every(cadence.Month, 1), at(28)},
		"every year":                            {every(cadence.Year, 1), at(28)},
		"every two weeks":                       {every(cadence.Week, 2), at(28)},
		"every eight days":                      {every(cadence.Day, 8), at(28)},
		"every seven days: a day before":        {every(cadence.Day, 7), at(30)},
		"every week":                            {every(cadence.Week, 1), at(30)},
		"every day":                             {every(cadence.Day, 1), at(30)},
		"a paused one: never":                   {but(func(c *Contract) { c.Status = Paused }), time.Time{}},
		"a cancelled one":                       {but(func(c *Contract) { c.Status = Cancelled }), time.Time{}},
		"one that is not charged automatically": {but(func(c *Contract) { c.AutoCharge = false }), time.Time{}},
		"one without an upcoming order":         {but(func(c *Contract) { c.NextBillingDate = time.Time{} }), time.Time{}},
	} {
		if got := test.of.NotifyAt(); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
