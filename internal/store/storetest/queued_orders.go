package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/store"
)

func testQueuedOrders(t *testing.T, open opener) {
	w := begin(t, open)
	second := monthly(2)
	second.Currency, second.Customer.Name = "JPY", "Bo"
	w.put(monthly(1), second)
	w.in(func(tx *store.Tx) error {
		of := func(n, c int64, valid time.Time, currency money.Currency) analytics.Version {
			return analytics.Version{Number: n, Contract: c, ValidFrom: valid, State: analytics.State{Dimension: analytics.Dimension{Currency: currency}}}
		}
		return tx.AddVersions(t.Context(), []analytics.Version{of(101, 1, day, "EUR"), of(102, 2, day, "JPY")})
	})
	later := day.AddDate(0, 0, 1)
	paid, manual := queued(2, 1, day), queued(2, 4, day)
	paid.Status, manual.DueAt = billing.Success, time.Time{} // neither is charged automatically
	moved := queued(2, 3, later)
	moved.Moved = true
	list := w.queue(queued(1, 2, day), queued(1, 3, later), queued(2, 2, day), moved, paid, manual)
	first := upcoming.Order{
		Attempt: list[0].ID, Contract: 1, Line: "SUBSCRIPTION", Cycle: 2, Date: day, Next: true, Customer: "Ada Lovelace", Email: "Ada@Example.com",
		Amount: money.Amount{Minor: 2000, Currency: "EUR"},
	}
	last := upcoming.Order{
		Attempt: list[3].ID, Contract: 2, Line: "SUBSCRIPTION", Cycle: 3, Date: later, Moved: true, Customer: "Bo", Email: "Ada@Example.com",
		Amount: money.Amount{Minor: 2000, Currency: "JPY"},
	}
	err := w.db.Upcoming().View(t.Context(), w.shop.ID, func(tx upcoming.ReadTx) error {
		sums, err := tx.QueueSums(t.Context(), day, later)
		at := day.Truncate(15 * time.Minute)
		want := []upcoming.Sum{{At: at, Orders: 1, Amount: first.Amount}, {At: at, Orders: 1, Amount: last.Amount}}
		if diff := cmp.Diff(want, sums); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		if sums, err = tx.QueueSums(t.Context(), day, later.Add(15*time.Minute)); len(sums) != 4 || err != nil {
			t.Errorf("two days: %+v, %v", sums, err)
		}
		orders, err := tx.QueueOrders(t.Context(), day, later.Add(1e9), 0, 1)
		if diff := cmp.Diff([]upcoming.Order{first}, orders); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		orders, err = tx.QueueOrders(t.Context(), day, later.Add(1e9), 3, 9)
		if diff := cmp.Diff([]upcoming.Order{last}, orders); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		one, err := tx.QueueOrder(t.Context(), last.Attempt)
		if diff := cmp.Diff(last, one); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		_, err = tx.QueueOrder(t.Context(), list[4].ID)
		w.wantKind(err, fault.NotFound)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func testFinding(t *testing.T, open opener) {
	w := begin(t, open)
	w.put(searchable()...)
	paid := queued(23, 2, day)
	paid.Status, paid.OrderName = billing.Success, "#5055-X"
	w.queue(paid)
	for _, tt := range []struct {
		name, words string
		want        []contract.ID
		exact       bool
	}{
		{"a number", "1201", []contract.ID{1201}, true},
		{"a number of the other line", "4", []contract.ID{4}, true},
		{"a part of a number", "130", []contract.ID{1302}, false},
		{"an order, in any letter case", "#5055-x", []contract.ID{23}, true},
		{"an order without its mark", "5055-X", []contract.ID{23}, true},
		{"an order that several contracts have", "#1001", []contract.ID{4, 1201}, false},
		{"a part of an order", "055-", []contract.ID{23}, false},
		{"a part of a name", "Lovel", []contract.ID{4, 1201}, false},
		{"a part of an address", "example.org", []contract.ID{23}, false},
		{"a part that is too short", "bo", nil, false},
		{"nothing", "no such thing", nil, false},
		{"words of the index's own language", `" OR "`, nil, false},
		{"a percent sign", "%%%", nil, false},
	} {
		list, exact, err := w.db.FindContracts(t.Context(), w.shop.ID, tt.words, 10)
		var got []contract.ID
		for _, c := range list {
			got = append(got, c.ID)
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) || exact != tt.exact || err != nil {
			t.Errorf("%s: %v, exact %t, %v; want %v, %t", tt.name, got, exact, err, tt.want, tt.exact)
		}
	}
	if list, _, err := w.db.FindContracts(t.Context(), w.shop.ID, "example", 2); len(list) != 2 || err != nil {
		t.Errorf("%d contracts of at most 2, %v", len(list), err)
	}
	rows, err := w.db.MatchingRows(t.Context(), w.shop.ID, contract.Filter{Line: "SUBSCRIPTION"}, 23, 10)
	if len(rows) != 2 || err != nil || rows[0].ID != 1201 || rows[1].ID != 1302 {
		t.Errorf("rows after 23: %+v, %v", rows, err)
	}
}
