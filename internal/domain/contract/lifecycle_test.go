package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func date(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestASubscriberIsHeldToTheOrdersTheyCommittedTo(t *testing.T) {
	t.Parallel()
	held := shop.Settings{FreezeUntilMinCycles: true}
	for _, row := range []struct {
		name     string
		contract Contract
		settings shop.Settings
		source   activity.Source
		want     string // empty: allowed
	}{
		{"nothing was committed to", Contract{Line: shop.Memberships}, held, activity.CustomerPortal, ""},
		{"a membership, in any store", Contract{Line: shop.Memberships, MinCycles: 3, OriginOrderID: 1, Orders: 1}, shop.Settings{}, activity.CustomerPortal, "2 of 3 orders are completed: 1 more"},
		{"a subscription, in a store that says so", Contract{Line: shop.Subscriptions, MinCycles: 3, Orders: 1}, held, activity.CustomerPortal, "1 of 3 orders are completed: 2 more"},
		{"a subscription, elsewhere", Contract{Line: shop.Subscriptions, MinCycles: 3}, shop.Settings{}, activity.CustomerPortal, ""},
		{"every order was had, with the one of the checkout", Contract{Line: shop.Memberships, MinCycles: 3, OriginOrderID: 1, Orders: 2}, held, activity.CustomerPortal, ""},
		{"the merchant asks", Contract{Line: shop.Memberships, MinCycles: 3}, held, activity.MerchantExternalAPI, ""},
		{"the service itself acts", Contract{Line: shop.Memberships, MinCycles: 3}, held, activity.SystemEvent, ""},
	} {
		err := row.contract.CheckCommitment(row.settings, activity.Actor{Source: row.source})
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", row.name, err)
		case row.want != "" && (!fault.Is(err, fault.FailedPrecondition) || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v, want a refusal that says %q", row.name, err, row.want)
		}
	}
}

func TestATermIsWhatTheLastPaymentCovers(t *testing.T) {
	t.Parallel()
	quarter, month := Policy{Interval: cadence.Month, Count: 3}, Policy{Interval: cadence.Month, Count: 1}
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	made := Contract{Billing: quarter, Delivery: month, OriginOrderID: 1, CreatedAt: date("2026-01-31")}
	renewed := made
	renewed.LastOrderAt = date("2026-04-30").Add(20 * time.Hour) // late by half a day
	moved := renewed
	moved.NextBillingDate = date("2026-09-30")
	sooner := renewed
	sooner.NextBillingDate = date("2026-06-15")
	short := renewed
	short.Series, short.LastOrderAt, short.NextBillingDate = Series{Cycle: 1, Start: date("2025-11-30").Add(9 * time.Hour)}, date("2026-02-28").Add(9*time.Hour+2*time.Second), date("2026-05-30")
	for _, row := range []struct {
		name     string
		contract Contract
		want     string // days of deliveries, and of the end
		now      string
		left     int
	}{
		{"nothing was paid", Contract{Billing: quarter, Delivery: month}, "", "2026-02-01", 0},
		{"the checkout's order", made, "01-31 02-28 03-31 until 04-30", "2026-02-01", 2},
		{"a renewal that came late", renewed, "04-30 05-30 06-30 until 07-30", "2026-06-30", 1},
		{"the next payment was put off", moved, "04-30 05-30 06-30 until 07-30", "2026-07-15", 0},
		{"a payment in a short month", short, "02-28 03-30 04-30 until 05-30", "2026-03-31", 1},
		{"the next payment comes sooner", sooner, "04-30 05-30 until 06-15", "2026-05-01", 1},
	} {
		term := row.contract.Term(cal)
		var days []string
		for _, d := range term.Deliveries {
			days = append(days, d.Format("01-02"))
		}
		got := strings.Join(days, " ")
		if !term.End.IsZero() {
			got += " until " + term.End.Format("01-02")
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if left := term.Left(date(row.now)); left != row.left {
			t.Errorf("%s: %d deliveries are left, want %d", row.name, left, row.left)
		}
	}
}

func TestAContractIsLookedAtWhenTheFirstOfWhatItWaitsForIsDue(t *testing.T) {
	t.Parallel()
	day := date("2026-03-10")
	pause := &Pause{Until: day}
	for _, row := range []struct {
		name     string
		contract Contract
		want     time.Time
	}{
		{"it waits for nothing", Contract{Status: Active}, time.Time{}},
		{"a pause ends", Contract{Status: Paused, Pause: pause}, day},
		{"a pause has no end", Contract{Status: Paused, Pause: &Pause{Reason: "away"}}, time.Time{}},
		{"it is cancelled before its pause ends", Contract{Status: Paused, Pause: pause, Ending: &Ending{Why: EndOfTerm, At: day.Add(-time.Hour)}}, day.Add(-time.Hour)},
		{"orders that it committed to do not come while it is paused", Contract{Status: Paused, Ending: &Ending{Why: EndOfMinimum, At: day}}, time.Time{}},
		{"a cancellation of a contract that was cancelled otherwise", Contract{Status: Cancelled, Ending: &Ending{Why: EndOfTerm, At: day}}, time.Time{}},
		{"it expires", Contract{Status: Active, ExpireAt: day}, day},
		{"a change of status is under way", Contract{Status: Active, Moving: &Move{At: day}, ExpireAt: day.Add(time.Hour)}, day.Add(PendingChangeTimeout)},
		{"a change of status was told again", Contract{Status: Active, Moving: &Move{At: day, Tries: 1, Again: day.Add(time.Hour)}}, day.Add(time.Hour)},
		{"a change of status is under way that ends what is due", Contract{Status: Paused, Moving: &Move{At: day}, Pause: &Pause{Until: day}}, day.Add(PendingChangeTimeout)},
		{"a change waits for the next order", Contract{Status: Active, Pending: &PendingChange{At: day}}, day.Add(-PendingLead)},
		{"a split is under way and says when", Contract{Status: Active, Split: &SplitIntent{}, AmendAt: day, ExpireAt: day.Add(-time.Hour)}, day},
	} {
		if row.contract.ResetAmendAt(); !row.contract.AmendAt.Equal(row.want) {
			t.Errorf("%s: %s, want %s", row.name, row.contract.AmendAt, row.want)
		}
	}
}

func TestNoCycleIsChargedBeyondTheLast(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		contract Contract
		beyond   int // the first cycle beyond the last one; 0: there is none
	}{
		{"there is no end", Contract{}, 0},
		{"after so many cycles", Contract{MaxCycles: 3}, 4},
		{"a cancellation waits", Contract{Ending: &Ending{Cycle: 2}}, 3},
		{"a cancellation waits, and no cycle was charged at all", Contract{Ending: &Ending{}}, 1},
		{"whatever comes first", Contract{MaxCycles: 3, Ending: &Ending{Cycle: 5}}, 4},
	} {
		first := 0
		for cycle := 1; cycle < 10 && first == 0; cycle++ {
			if row.contract.PastLastCycle(cycle) {
				first = cycle
			}
		}
		if first != row.beyond {
			t.Errorf("%s: cycle %d, want %d", row.name, first, row.beyond)
		}
	}
}
