package contractedit

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestAnnouncedPriceAppliesFromFirstOrderAfterNotice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	cal := cadence.Calendar{Hour: 9}
	at := func(days int) time.Time { return now.Truncate(24*time.Hour).AddDate(0, 0, days).Add(9 * time.Hour) }
	weekly := func(change func(*contract.Contract)) contract.Contract {
		c := contract.Contract{ID: 1, Status: contract.Active, Billing: contract.Policy{Interval: cadence.Week, Count: 1}, Series: contract.Series{Cycle: 5, Start: at(3)}}
		if change != nil {
			change(&c)
		}
		return c
	}
	queue := func(days ...int) (list []billing.Attempt) {
		for n, d := range days {
			list = append(list, billing.Attempt{Contract: 1, Cycle: 5 + n, Status: billing.Queued, BillingDate: at(d)})
		}
		return list
	}
	steps := contract.Pricing{Cycles: []contract.CyclePrice{{After: 9, Kind: platform.FixedPrice, Amount: money.Amount{Minor: 1}}}}
	for name, row := range map[string]struct {
		c     contract.Contract
		queue []billing.Attempt
		cycle int
		date  time.Time
		code  string
	}{
		"the third order is 17 days away":              {weekly(nil), queue(3, 10, 17, 24), 7, at(17), ""},
		"the next order is far enough":                 {weekly(func(c *contract.Contract) { c.Series.Start = at(15) }), queue(15, 22), 5, time.Time{}, ""},
		"one that was moved to an earlier day is late": {weekly(nil), queue(3, 10, 13, 24), 8, at(24), ""},
		"one that was moved to a later day keeps its":  {weekly(nil), queue(3, 15, 17), 7, at(17), ""},
		"it is beyond the queue":                       {weekly(nil), queue(3, 10), 7, at(17), ""},
		"a paused contract has it from the next order": {weekly(func(c *contract.Contract) { c.Status = contract.Paused }), nil, 5, time.Time{}, ""},
		"a contract that ends before":                  {weekly(func(c *contract.Contract) { c.MaxCycles = 5 }), queue(3), 0, time.Time{}, "noLaterOrder"},
		"a line with prices by cycle":                  {weekly(func(c *contract.Contract) { c.Pricing = map[string]contract.Pricing{"l": steps} }), queue(3, 10, 17), 0, time.Time{}, "pricesByCycle"},
	} {
		cycle, date, err := AnnouncedFrom(row.c, row.queue, "l", now, cal)
		code := ""
		if f, ok := errors.AsType[*fault.Error](err); ok {
			code = f.ErrorKey
		}
		if cycle != row.cycle || !date.Equal(row.date) || code != row.code {
			t.Errorf("%s: cycle %d on %s, %v; want %d on %s, %s", name, cycle, date, err, row.cycle, row.date, row.code)
		}
	}
}
