package retention_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

// shelf is a store with two subscriptions, of customers 1 and 2.
type shelf struct {
	*testing.T
	*retention.Service
	db *store.DB
	of shop.ID
}

func begin(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{T: t, db: storetest.SQLite(t)}
	s.Service = &retention.Service{Store: s.db.Retention(), Clock: clock.NewManual(noon)}
	store1 := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "Europe/Berlin", CreatedAt: noon}
	if err := s.db.Shops().AddShop(t.Context(), &store1); err != nil {
		t.Fatal(err)
	}
	s.of = store1.ID
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	s.tx(func(tx *store.Tx) error {
		return tx.PutContracts(t.Context(), []contract.Contract{
			{ID: 10, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month, Customer: contract.Customer{ID: 1}, CreatedAt: noon},
			{ID: 20, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month, Customer: contract.Customer{ID: 2}, CreatedAt: noon},
		})
	})
	return s
}

func (s *shelf) tx(do func(*store.Tx) error) {
	s.Helper()
	if err := s.db.Update(s.Context(), s.of, do); err != nil {
		s.Fatal(err)
	}
}

func (s *shelf) kept(c contract.ID) (list []retention.Activity) {
	s.Helper()
	s.tx(func(tx *store.Tx) (err error) {
		list, err = tx.RetentionsOf(s.Context(), c)
		return err
	})
	return list
}

func said(action string) retention.Command {
	return retention.Command{
		Line: shop.Subscriptions, Contract: 10, Details: retention.Details{Action: action, Reason: "price", Discount: "10OFF", Info: `{"a":1}`},
		Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", Customer: 1},
	}
}

func TestWhatWasSaidIsKept(t *testing.T) {
	t.Parallel()
	s := begin(t)
	got, err := s.Record(t.Context(), s.of, said("OUR_OWN_WORD"))
	if err != nil {
		t.Fatal(err)
	}
	want := retention.Activity{ID: got.ID, Contract: 10, Customer: 1, At: noon, Details: retention.Details{Action: "OUR_OWN_WORD", Reason: "price", Discount: "10OFF", Info: `{"a":1}`}}
	if diff := cmp.Diff([]retention.Activity{want}, s.kept(10)); diff != "" || got != want {
		t.Errorf("kept (-want +got):\n%s\nanswered %+v", diff, got)
	}
}

func TestTheNewestOfAContractAreKept(t *testing.T) {
	t.Parallel()
	s := begin(t)
	other := said("KEPT")
	other.Contract, other.Actor.Customer = 20, 2
	if _, err := s.Record(t.Context(), s.of, other); err != nil {
		t.Fatal(err)
	}
	var last retention.Activity
	for range 103 {
		var err error
		if last, err = s.Record(t.Context(), s.of, said("SKIPPED")); err != nil {
			t.Fatal(err)
		}
	}
	if list := s.kept(10); len(list) != 100 || list[0].ID != last.ID || len(s.kept(20)) != 1 {
		t.Errorf("%d are kept, the newest %d, want 100 with %d; of the other contract %d", len(list), list[0].ID, last.ID, len(s.kept(20)))
	}
}

func TestWhatIsNotKept(t *testing.T) {
	t.Parallel()
	s := begin(t)
	for name, row := range map[string]struct {
		change func(*retention.Command)
		kind   fault.Kind
		at     string
	}{
		"no action":         {func(c *retention.Command) { c.Details.Action = "" }, fault.Invalid, "retentionAction"},
		"a long action":     {func(c *retention.Command) { c.Details.Action = strings.Repeat("ü", 101) }, fault.Invalid, "retentionAction"},
		"a long reason":     {func(c *retention.Command) { c.Details.Reason = strings.Repeat("ü", 501) }, fault.Invalid, "cancellationReason"},
		"a long discount":   {func(c *retention.Command) { c.Details.Discount = strings.Repeat("ü", 256) }, fault.Invalid, "discountApplied"},
		"a long story":      {func(c *retention.Command) { c.Details.Info = strings.Repeat("ü", 10_001) }, fault.Invalid, "additionalInfo"},
		"somebody else's":   {func(c *retention.Command) { c.Contract = 20 }, fault.NotFound, "contractId"},
		"of the other line": {func(c *retention.Command) { c.Line = shop.Memberships }, fault.NotFound, "contractId"},
		"of nothing":        {func(c *retention.Command) { c.Contract = 30 }, fault.NotFound, "contractId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := said("KEPT")
			row.change(&c)
			_, err := s.Record(t.Context(), s.of, c)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != row.kind || f.Param != row.at {
				t.Errorf("got %v", err)
			}
		})
	}
}
