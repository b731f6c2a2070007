package demo_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

var start = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

func build(t *testing.T, o demo.Options) (*simulator.Simulator, demo.Cast) {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Clock: clock.NewManual(start)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	o.Now, o.Token = start, func(domain string) platform.Token { return platform.Token("token of " + domain) }
	cast, err := demo.Build(sim, o)
	if err != nil {
		t.Fatal(err)
	}
	return sim, cast
}

func TestSameSeedMakesSameStores(t *testing.T) {
	t.Parallel()
	text := func(seed uint64) string {
		sim, _ := build(t, demo.Options{Seed: seed, Contracts: 60})
		var b bytes.Buffer
		if err := sim.Snapshot(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one, again, other := text(1), text(1), text(2)
	if one != again {
		t.Error("two stores of one seed differ")
	}
	if one == other {
		t.Error("two seeds make one store")
	}
}

func TestDemoStoreHasEveryKind(t *testing.T) {
	t.Parallel()
	sim, cast := build(t, demo.Options{Seed: 1, Contracts: 200})
	seen := map[string]int{}
	n := 0
	for _, who := range cast.Customers {
		for _, id := range who.Contracts {
			n++
			c, err := sim.Contract(id)
			if err != nil {
				t.Fatal(err)
			}
			seen["status "+c.Status]++
			seen["every "+c.Billing.Interval]++
			seen["in "+string(c.Currency)]++
			seen["card "+string(c.MethodStatus)]++
			if c.Billing.MaxCycles > 0 {
				seen["ends"]++
			}
			for _, a := range c.Billing.Anchors {
				seen["anchored "+a.Type]++
			}
			if c.Billing.IntervalCount != c.Delivery.IntervalCount {
				seen["prepaid"]++
			}
			if !c.NextBillingDate.After(start) {
				t.Errorf("contract %d was due before the store opened: %s", id, c.NextBillingDate)
			}
			if c.CreatedAt.After(start) {
				t.Errorf("contract %d was made after the store opened: %s", id, c.CreatedAt)
			}
			for _, member := range demo.MembershipPlans() {
				if c.Lines[0].SellingPlanID == member {
					seen["membership"]++
				}
			}
		}
	}
	if n != 200 {
		t.Errorf("%d contracts, want 200", n)
	}
	for _, what := range []string{
		"status ACTIVE", "status PAUSED", "status CANCELLED", "status EXPIRED", "every DAY", "every WEEK", "every MONTH", "every YEAR",
		"in USD", "in CAD", "card valid", "card expired", "card none", "ends", "anchored WEEKDAY", "anchored MONTHDAY", "anchored YEARDAY",
		"prepaid", "membership",
	} {
		if seen[what] == 0 {
			t.Errorf("no contract is %q (%v)", what, seen)
		}
	}
	if cast.Prepaid == 0 || cast.Frozen == 0 {
		t.Errorf("the prepaid contract is %d and the frozen one %d, want both", cast.Prepaid, cast.Frozen)
	}
	if len(cast.Customers) > 195 {
		t.Errorf("%d customers: no customer has two contracts", len(cast.Customers))
	}
}

func TestFirstContractIsSimple(t *testing.T) {
	t.Parallel()
	sim, cast := build(t, demo.Options{Seed: 99, Contracts: 1})
	if who := cast.Customers[0]; who.ID != 7001 || len(who.Contracts) != 1 || who.Contracts[0] != 9001 {
		t.Fatalf("the first customer is %+v", who)
	}
	c, err := sim.Contract(9001)
	if err != nil {
		t.Fatal(err)
	}
	if c.Status != "ACTIVE" || c.MethodStatus != simulator.MethodValid || c.Billing.Interval != "MONTH" || c.Billing.IntervalCount != 1 || len(c.Billing.Anchors) != 0 {
		t.Errorf("it is %+v", c)
	}
	if want := time.Date(2026, time.November, 15, 14, 0, 0, 0, time.UTC); !c.NextBillingDate.Equal(want) {
		t.Errorf("it renews first at %s, want nine o'clock in New York: %s", c.NextBillingDate, want)
	}
	if got := cast.Others; len(got) == 0 || got[0] != 9901 {
		t.Errorf("the other store's contracts are %v, want them from 9901", got)
	}
}

func TestEmptyStoreSellsWithoutContracts(t *testing.T) {
	t.Parallel()
	sim, cast := build(t, demo.Options{Seed: 1, Contracts: 200, Empty: true})
	if len(cast.Customers) != 0 || len(cast.Others) != 0 {
		t.Errorf("the empty store has customers: %+v", cast)
	}
	for _, s := range demo.Stores() {
		if v, err := sim.Variants(s.Domain); err != nil || len(v) < 20 {
			t.Errorf("%s sells %d things (%v)", s.Domain, len(v), err)
		}
	}
}

func TestFirstRenewal(t *testing.T) {
	t.Parallel()
	store, _ := demo.StoreByDomain(demo.Main)
	for _, row := range []struct {
		name, now, want string
		plan            int64
	}{
		{"a month later at the store's order time", "2026-11-03T20:00:00Z", "2026-12-03T14:00:00Z", demo.EveryMonth},
		{"the local day counts, and summer time", "2026-10-01T03:00:00Z", "2026-10-30T13:00:00Z", demo.EveryMonth},
		{"the next anchor", "2026-11-03T20:00:00Z", "2026-12-01T14:00:00Z", 6010},
		{"today is too early for an anchor", "2026-12-01T05:30:00Z", "2027-01-01T14:00:00Z", 6010},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			plan, _ := demo.PlanByID(row.plan)
			now, err := time.Parse(time.RFC3339, row.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := store.FirstRenewal(plan, now).Format(time.RFC3339); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
