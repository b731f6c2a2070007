package storetest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// fullContract is a contract in which nothing is zero but its version.
func fullContract(id contract.ID) contract.Contract {
	at := func(hours int) time.Time { return day.Add(time.Duration(hours) * time.Hour) }
	kwd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "KWD"} }
	return contract.Contract{
		ID: id, Line: shop.Memberships, Revision: 1<<64 - 1, Status: contract.Paused, Currency: "KWD",
		Customer: contract.Customer{ID: 5, Email: "Zoë@Example.com", FirstName: "Zoë", LastName: "O'Hara", Name: "Zoë O'Hara 🌱", Phone: "+49 1"},
		Billing:  contract.Policy{Interval: cadence.Week, Count: 2, Anchors: []cadence.Anchor{{Kind: cadence.Weekday, Day: 3, Cutoff: 1}, {Kind: cadence.Weekday, Day: 5}}},
		Delivery: contract.Policy{Interval: cadence.Year, Count: 1, Anchors: []cadence.Anchor{{Kind: cadence.YearDay, Day: 29, Month: 2}}},
		Lines:    []contract.LineItem{line(1, 100), line(2, 250)}, OriginOrderID: 9, OriginOrderName: "#1009", PaymentMethod: "gid://shopify/CustomerPaymentMethod/9", PaymentUsable: true,
		Card:           contract.Card{Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", ExpiryMonth: 12, ExpiryYear: 2030, Since: day.Add(7 * time.Hour)},
		BillingCountry: "DE", DeliveryCountry: "KW", DeliveryPrice: money.Amount{Minor: 1500, Currency: "KWD"}, Note: strings.Repeat("long ", 2000),
		Attributes: []contract.Attribute{{Key: "gift", Value: "yes \"please\""}, {Key: "", Value: "%_\\"}}, ImportedID: "import-1", LastPayment: "FAILED", Priced: true,
		Pricing:     map[string]contract.Pricing{"gid://shopify/SubscriptionLine/1": {Base: money.Amount{Minor: 1500, Currency: "KWD"}, Cycles: []contract.CyclePrice{{After: 0, Computed: kwd(1250)}, {After: 3, Computed: kwd(0)}}}},
		FirstAmount: kwd(3750), FirstPaid: kwd(4000),
		PlanPricing: map[string]contract.Pricing{"gid://shopify/SubscriptionLine/2": {Base: money.Amount{Minor: 1500, Currency: "KWD"}, Cycles: []contract.CyclePrice{
			{After: 0, Kind: platform.PercentOff, Percent: 12.5, Computed: kwd(1312)}, {After: 3, Kind: platform.AmountOff, Amount: kwd(500), Computed: kwd(1000)},
		}}},
		Discounts: []contract.Discount{
			{ID: "gid://shopify/SubscriptionManualDiscount/1", Title: "Half \"off\"", Percent: 50, AllLines: true, CycleLimit: 3, UsedCycles: 1},
			{ID: "gid://shopify/SubscriptionManualDiscount/2", Title: "TEN", Code: "TEN", Amount: kwd(1000), EachItem: true, Lines: []string{"gid://shopify/SubscriptionLine/1"}, RejectedWhy: "NOT_FOUND"},
			{ID: "gid://shopify/SubscriptionManualDiscount/3", Title: "Free", Percent: 100, FreeShipping: true, TargetIsOrder: true},
		},
		Series: contract.Series{Cycle: 4, Start: at(1), Passed: 2, Moved: true}, LaterSeries: []contract.Series{{Cycle: 6, Start: at(9), Moved: true}}, NextBillingDate: at(2), QueueUpdatedAt: at(17), MaxCycles: 12, PassedCycles: 2, MinCycles: 3, AutoCharge: true, EarlierOrders: 4,
		ChangingUntil: at(9), InFlightEdits: []contract.InFlightEdit{{From: 1<<64 - 2, Until: at(10)}}, Overrides: []contract.OrderOverride{{Cycle: 6, Note: "\"ring\"", Flags: contract.Flags{ApplyUsageCharge: true}}},
		Orders: 3, Lifetime: kwd(123456), LastOrderID: 8, LastOrder: "#1008", LastOrderAt: at(3), LastOrderAmount: kwd(41152),
		CreatedAt: at(4), UpdatedAt: at(5), ActivatedAt: at(6), PausedAt: at(7), CancelledAt: at(8),
		AmendAt: at(9), ExpireAt: at(10), Lifelong: true, CancelledOrderDate: at(18), CancellationFeedback: "moving", CancellationNote: "back in June",
		Moving: &contract.Move{To: contract.Paused, Actor: activity.Actor{Source: activity.CustomerPortal, By: "ana", ClientIP: "::1"}, At: at(11), Pause: &contract.Pause{Until: at(12), Cycles: 2, Reason: "away", Feedback: "\"ja\""}, Feedback: "f", Note: "n", Tries: 2, Again: at(13)},
		Pause:  &contract.Pause{Until: at(13)}, Ending: &contract.Ending{Why: contract.EndOfTerm, Cycle: 4, At: at(14)}, Trial: &contract.Trial{EndsAt: at(15), ChargeAt: at(16)},
		Dunning: unpaid(77),
	}
}

func (w world) contract(id contract.ID) contract.Contract {
	w.Helper()
	var found []contract.Contract
	w.in(func(tx *store.Tx) (err error) {
		found, err = tx.Contracts(w.Context(), []contract.ID{id})
		return err
	})
	if len(found) != 1 {
		w.Fatalf("contract %d: %d rows", id, len(found))
	}
	return found[0]
}

func testContracts(t *testing.T, open opener) {
	t.Run("a contract comes back as it was put, full or bare", func(t *testing.T) {
		w := begin(t, open)
		day := contract.Policy{Interval: cadence.Day, Count: 1}
		for _, c := range []contract.Contract{fullContract(1), {
			ID: 2, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: day, Delivery: day,
			DeliveryPrice: money.Amount{Currency: "EUR"}, Lifetime: money.Amount{Currency: "EUR"}, LastOrderAmount: money.Amount{Currency: "EUR"},
		}} {
			w.put(c)
			c.Version = 1
			if got := w.contract(c.ID); !reflect.DeepEqual(got, c) {
				t.Errorf("got  %+v\nwant %+v", got, c)
			}
			c.Status, c.Lines, c.Note = contract.Cancelled, []contract.LineItem{line(3, 1)}, ""
			w.put(c)
			c.Version = 2
			if got := w.contract(c.ID); !reflect.DeepEqual(got, c) {
				t.Errorf("after a change: got %+v\nwant %+v", got, c)
			}
		}
	})
	t.Run("contracts come in the order of their ids, and unknown ones are left out", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(3), monthly(1), monthly(2))
		w.in(func(tx *store.Tx) error {
			found, err := tx.Contracts(t.Context(), []contract.ID{3, 99, 1})
			if len(found) != 2 || found[0].ID != 1 || found[1].ID != 3 {
				t.Errorf("got %d contracts", len(found))
			}
			return err
		})
	})
	t.Run("a contract that changed meanwhile, or exists already, is not overwritten", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		stale := w.contract(1)
		w.put(stale)
		for _, put := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{stale}) },
			func(tx *store.Tx) error { return tx.PutProgress(t.Context(), []contract.Contract{stale}) },
			func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{monthly(1)}) },
		} {
			w.wantKind(w.db.Update(t.Context(), w.shop.ID, put), fault.Conflict)
		}
		if got := w.contract(1); got.Version != 2 {
			t.Errorf("version %d", got.Version)
		}
	})
	t.Run("progress is what billing owns, the revision, and nothing else", func(t *testing.T) {
		w := begin(t, open)
		w.put(fullContract(1), monthly(2))
		before := w.contract(1)
		sent := monthly(1)
		sent.Currency, sent.Version, sent.Revision = "KWD", before.Version, 4711
		later := day.Add(99 * time.Hour)
		sent.Series, sent.NextBillingDate, sent.Orders, sent.Lifetime.Minor = contract.Series{Cycle: 40, Start: later, Passed: 3}, later, 7, 7000
		sent.LaterSeries = []contract.Series{{Cycle: 50, Start: later}}
		sent.PassedCycles, sent.Ending = 5, &contract.Ending{Why: contract.EndOfMinimum, Cycle: 44, At: later}
		sent.Overrides = []contract.OrderOverride{{Cycle: 41, Note: "ring\ntwice"}}
		sent.LastOrderID, sent.LastOrder, sent.LastOrderAt, sent.LastPayment, sent.UpdatedAt = 70, "#70", later, "SUCCEEDED", later
		sent.LastOrderAmount = money.Amount{Minor: 1500, Currency: "KWD"}
		sent.AmendAt, sent.ExpireAt, sent.QueueUpdatedAt = later, later.Add(time.Hour), later.Add(time.Minute)
		sent.InFlightEdits = []contract.InFlightEdit{{From: 4711, Until: later}}
		w.in(func(tx *store.Tx) error {
			list := []contract.Contract{sent, w.otherVersion(2)}
			err := tx.PutProgress(t.Context(), list)
			if err == nil && (list[0].Version != before.Version+1 || list[1].Version != 2) {
				t.Errorf("versions in the slice: %d, %d", list[0].Version, list[1].Version)
			}
			return err
		})
		want := before
		want.Series, want.NextBillingDate, want.Orders, want.Lifetime.Minor = sent.Series, later, 7, 7000
		want.LaterSeries, want.PassedCycles, want.Ending = sent.LaterSeries, sent.PassedCycles, sent.Ending
		want.LastOrderID, want.LastOrder, want.LastOrderAt, want.LastPayment, want.UpdatedAt = 70, "#70", later, "SUCCEEDED", later
		want.LastOrderAmount = money.Amount{Minor: 1500, Currency: "KWD"}
		want.Overrides = sent.Overrides
		want.AmendAt, want.ExpireAt, want.InFlightEdits, want.QueueUpdatedAt = sent.AmendAt, sent.ExpireAt, sent.InFlightEdits, sent.QueueUpdatedAt
		want.Version, want.Revision = want.Version+1, 4711
		want.Dunning = nil
		if got := w.contract(1); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	t.Run("contracts are found by their payment method", func(t *testing.T) {
		w := begin(t, open)
		none := monthly(3)
		none.PaymentMethod = ""
		w.put(monthly(2), monthly(1), none, fullContract(4))
		w.in(func(tx *store.Tx) error {
			ids, err := tx.ContractsPaidWith(t.Context(), monthly(1).PaymentMethod)
			if !reflect.DeepEqual(ids, []contract.ID{1, 2}) {
				t.Errorf("got %v", ids)
			}
			if err != nil {
				return err
			}
			ids, err = tx.ContractsPaidWith(t.Context(), "")
			if len(ids) != 0 {
				t.Errorf("with no payment method: %v", ids)
			}
			return err
		})
	})
}

// otherVersion returns an ordinary contract as it was inserted.
func (w world) otherVersion(id contract.ID) contract.Contract {
	c := monthly(id)
	c.Version = 1
	return c
}
