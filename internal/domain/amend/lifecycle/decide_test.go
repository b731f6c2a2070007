package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestSubscriberInCommitmentCannotPauseAndCancellingWaits(t *testing.T) {
	t.Parallel()
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC) }
	now := on(time.January, 20)
	// The customer committed to four orders and has had two, with that of the checkout.
	held := contract.Contract{
		ID: 9001, Line: shop.Subscriptions, Status: contract.Active, MinCycles: 4, OriginOrderID: 1, Orders: 1,
		Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Delivery: contract.Policy{Interval: cadence.Month, Count: 1},
		Series: contract.Series{Cycle: 1, Start: on(time.January, 10)}, NextBillingDate: on(time.February, 10),
	}
	member := held
	member.Line = shop.Memberships
	kept := held
	kept.Orders = 3
	stopped := held
	stopped.Status = contract.Paused
	second := billing.Attempt{ID: 2, Cycle: 2, Status: billing.Queued, BillingDate: on(time.February, 10)}
	third := billing.Attempt{ID: 3, Cycle: 3, Status: billing.Queued, BillingDate: on(time.March, 10)}
	both := []billing.Attempt{third, second}
	holds, free := shop.Settings{FreezeUntilMinCycles: true}, shop.Settings{}
	const portal, merchant = activity.CustomerPortal, activity.MerchantExternalAPI
	pause, cancel := StatusChange{To: contract.Paused}, StatusChange{To: contract.Cancelled, Feedback: "too much", Note: "n"}
	ends := &contract.Ending{Why: contract.EndOfMinimum, Cycle: 3, At: on(time.March, 10)}
	for name, test := range map[string]struct {
		contract contract.Contract
		settings shop.Settings
		source   activity.Source
		queued   []billing.Attempt
		change   StatusChange
		refused  bool
		waits    *contract.Ending // nil: the platform is called at once
	}{
		"a pause":                                      {held, holds, portal, both, pause, true, nil},
		"a pause with a date":                          {held, holds, portal, both, StatusChange{To: contract.Paused, Until: on(time.May, 1)}, true, nil},
		"a pause for an order":                         {held, holds, portal, both, StatusChange{To: contract.Paused, Cycles: 1}, true, nil},
		"a pause of a membership, in any store":        {member, free, portal, both, pause, true, nil},
		"a pause where the store holds members only":   {held, free, portal, both, pause, false, nil},
		"a pause after the minimum":                    {kept, holds, portal, both, pause, false, nil},
		"a pause by the merchant":                      {held, holds, merchant, both, pause, false, nil},
		"a cancellation":                               {held, holds, portal, both, cancel, false, ends},
		"a cancellation with one order in the queue":   {held, holds, portal, both[1:], cancel, false, ends},
		"a cancellation of a membership, in any store": {member, free, portal, both, cancel, false, ends},
		"a cancellation while paused":                  {stopped, holds, portal, both, cancel, true, nil},
		"a cancellation with no order in the queue":    {held, holds, portal, nil, cancel, true, nil},
		"a cancellation without commitments":           {held, free, portal, both, cancel, false, nil},
		"a cancellation after the minimum":             {kept, holds, portal, both, cancel, false, nil},
		"a cancellation by the merchant":               {held, holds, merchant, both, cancel, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := test.contract
			g := inputs{settings: test.settings, calendar: cadence.Calendar{Zone: time.UTC, Hour: 9}, queued: test.queued, actor: activity.Actor{Source: test.source}}
			entries, err := decide(&c, test.change, g, now)
			if test.refused {
				if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.FailedPrecondition || f.ErrorKey != "contractFrozen" {
					t.Errorf("got %v, want contractFrozen", err)
				}
				if c.Moving != nil || c.Ending != nil || c.Pause != test.contract.Pause || len(entries) > 0 {
					t.Errorf("refused, and on the move %+v, ending %+v, with entries %+v", c.Moving, c.Ending, entries)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.waits == nil {
				if c.Moving == nil || c.Moving.To != test.change.To || c.Ending != nil {
					t.Errorf("on the move %+v, ending %+v; want it on the way to %s", c.Moving, c.Ending, test.change.To)
				}
				return
			}
			if c.Moving != nil || c.Status != contract.Active || c.Ending == nil || *c.Ending != *test.waits {
				t.Errorf("%s, on the move %+v, ending %+v; want it to end as %+v", c.Status, c.Moving, c.Ending, test.waits)
			}
			if c.CancellationFeedback != "too much" || c.CancellationNote != "n" || len(entries) != 1 || entries[0].Actor.Source != portal {
				t.Errorf("feedback %q, note %q, entries %+v", c.CancellationFeedback, c.CancellationNote, entries)
			}
		})
	}
}
