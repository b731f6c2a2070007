package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// ofCustomer returns an ordinary contract of a customer.
func ofCustomer(id contract.ID, customer int64, name, email string, change ...func(*contract.Contract)) contract.Contract {
	c := monthly(id)
	c.Customer = contract.Customer{ID: customer, Name: name, Email: email}
	c.Lifetime.Minor = 1000 * int64(id)
	for _, f := range change {
		f(&c)
	}
	return c
}

func testCustomers(t *testing.T, open opener) {
	w := begin(t, open)
	cancelled := func(c *contract.Contract) { c.Status, c.NextBillingDate = contract.Cancelled, time.Time{} }
	yen := func(c *contract.Contract) { c.Currency, c.Lifetime.Currency = "JPY", "JPY" }
	member := func(c *contract.Contract) { c.Line = shop.Memberships }
	later := func(c *contract.Contract) { c.NextBillingDate = day.AddDate(0, 0, 5) }
	w.put(
		ofCustomer(9, 70, "Ana Ilves", "ana@example.com", later), ofCustomer(3, 70, "Ana Jansen", "ana.j@example.com"), ofCustomer(5, 70, "Ana Jansen", "ana.j@example.com", cancelled),
		ofCustomer(1, 50, "Bo 50% Off", "bo@example.com", cancelled), ofCustomer(6, 60, "Cy", "cy@example.com", yen), ofCustomer(2, 60, "Cy", "cy@example.com"),
		ofCustomer(4, 70, "Ana Jansen", "ana.j@example.com", member), ofCustomer(7, 0, "Nobody", "nobody@example.com"),
	)
	other := w.addShop("second.myshopify.com")
	w.inShop(other.ID, func(tx *store.Tx) error {
		return tx.PutContracts(t.Context(), []contract.Contract{ofCustomer(8, 70, "Ana", "ana@example.com"), ofCustomer(10, 80, "Di", "di@example.com")})
	})

	t.Run("numbers of a customer's contracts, of the shop and the line", func(t *testing.T) {
		for customer, want := range map[int64][]contract.ID{70: {3, 5, 9}, 50: {1}, 80: nil, 4711: nil} {
			ids, err := w.db.ContractIDs(t.Context(), w.shop.ID, shop.Subscriptions, customer)
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("customer %d: %v, %v, want %v", customer, ids, err, want)
			}
		}
	})
	t.Run("a customer's contracts, oldest first", func(t *testing.T) {
		found, err := w.db.ContractsOf(t.Context(), w.shop.ID, shop.Subscriptions, 70)
		if err != nil || len(found) != 3 || found[0].ID != 3 || found[1].ID != 5 || found[2].ID != 9 || found[2].Customer.Name != "Ana Ilves" {
			t.Errorf("got %+v, %v", found, err)
		}
	})

	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	ana := contract.CustomerSummary{ID: 70, Name: "Ana Ilves", Email: "ana@example.com", Active: 2, Inactive: 1, NextOrder: day, Lifetime: eur(17000)}
	bo := contract.CustomerSummary{ID: 50, Name: "Bo 50% Off", Email: "bo@example.com", Inactive: 1, Lifetime: eur(1000)}
	cy := contract.CustomerSummary{ID: 60, Name: "Cy", Email: "cy@example.com", Active: 2, NextOrder: day, Lifetime: eur(8000), Mixed: true}
	for _, tt := range []struct {
		name  string
		f     contract.CustomerFilter
		page  page.Request
		want  []contract.CustomerSummary
		total int
	}{
		{"all, by their numbers", contract.CustomerFilter{}, page.Request{Size: 10}, []contract.CustomerSummary{bo, cy, ana}, 3},
		{"a page of them", contract.CustomerFilter{}, page.Request{Size: 2}, []contract.CustomerSummary{bo, cy}, 3},
		{"the last page", contract.CustomerFilter{}, page.Request{Size: 2, Page: 1}, []contract.CustomerSummary{ana}, 3},
		{"a page past the end", contract.CustomerFilter{}, page.Request{Size: 2, Page: 9}, []contract.CustomerSummary{}, 3},
		{"by the whole address, in any letter case, with all their contracts", contract.CustomerFilter{Email: "ANA.J@example.com"}, page.Request{Size: 10}, []contract.CustomerSummary{ana}, 1},
		{"part of an address is not the whole", contract.CustomerFilter{Email: "ana"}, page.Request{Size: 10}, []contract.CustomerSummary{}, 0},
		{"by part of the name, an earlier one too", contract.CustomerFilter{NamePart: "jANSEN"}, page.Request{Size: 10}, []contract.CustomerSummary{ana}, 1},
		{"by a short part", contract.CustomerFilter{NamePart: "cY"}, page.Request{Size: 10}, []contract.CustomerSummary{cy}, 1},
		{"a part of the address is none of the name", contract.CustomerFilter{NamePart: "example"}, page.Request{Size: 10}, []contract.CustomerSummary{}, 0},
		{"% stands for itself", contract.CustomerFilter{NamePart: "0% o"}, page.Request{Size: 10}, []contract.CustomerSummary{bo}, 1},
		{"more than one active contract", contract.CustomerFilter{Several: true}, page.Request{Size: 10}, []contract.CustomerSummary{cy, ana}, 2},
		{"more than one active contract, a page", contract.CustomerFilter{Several: true}, page.Request{Size: 1}, []contract.CustomerSummary{cy}, 2},
		{"by several conditions", contract.CustomerFilter{Several: true, NamePart: "ana"}, page.Request{Size: 10}, []contract.CustomerSummary{ana}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.f.Line = shop.Subscriptions
			got, total, err := w.db.Customers(t.Context(), w.shop.ID, tt.f, tt.page)
			if diff := cmp.Diff(tt.want, got); err != nil || total != tt.total || diff != "" {
				t.Errorf("%d in all, %v (-want +got):\n%s", total, err, diff)
			}
		})
	}
	t.Run("amounts of several currencies are in the order of their numbers, and none comes first", func(t *testing.T) {
		in := func(c money.Currency, minor int64) func(*contract.Contract) {
			return func(k *contract.Contract) {
				k.Line, k.Currency, k.Lifetime = shop.Memberships, c, money.Amount{Minor: minor, Currency: c}
			}
		}
		w.put(
			ofCustomer(21, 91, "Yen", "yen@example.com", in("JPY", 900)), ofCustomer(22, 92, "Euro", "euro@example.com", in("EUR", 1500)),
			ofCustomer(23, 93, "Dinar", "dinar@example.com", in("KWD", 20000)),
			ofCustomer(24, 94, "Both", "both@example.com", in("KWD", 20000)), ofCustomer(25, 94, "Both", "both@example.com", in("JPY", 900)),
		)
		for desc, want := range map[bool][]int64{false: {94, 92, 93, 70, 91}, true: {91, 70, 93, 92, 94}} {
			sorted := page.Request{Size: 10, Sort: []page.Sort{{Field: "lifetimeValue", Desc: desc}}}
			got, _, err := w.db.Customers(t.Context(), w.shop.ID, contract.CustomerFilter{Line: shop.Memberships}, sorted)
			ids := make([]int64, len(got))
			for i, c := range got {
				ids[i] = c.ID
			}
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("desc=%t: %v, %v, want %v", desc, ids, err, want)
			}
		}
	})
	t.Run("every sort field sorts, both ways", func(t *testing.T) {
		// What is equal by the field is in the order of the numbers, which turns with
		// the field's.
		for field, want := range map[string][]int64{
			"customerId": {50, 60, 70}, "id": {50, 60, 70}, "name": {70, 50, 60}, "email": {70, 50, 60}, "activeSubscriptions": {50, 60, 70},
			"inActiveSubscriptions": {60, 50, 70}, "nextOrderDate": {50, 60, 70}, "lifetimeValue": {60, 50, 70},
		} {
			for _, desc := range []bool{false, true} {
				sorted := page.Request{Size: 10, Sort: []page.Sort{{Field: field, Desc: desc}}}
				got, _, err := w.db.Customers(t.Context(), w.shop.ID, contract.CustomerFilter{Line: shop.Subscriptions}, sorted)
				ids := make([]int64, len(got))
				for i, c := range got {
					ids[i] = c.ID
				}
				if desc {
					slices.Reverse(ids)
				}
				if err != nil || !slices.Equal(ids, want) {
					t.Errorf("%s desc=%t: %v, %v, want %v", field, desc, ids, err, want)
				}
			}
			if !slices.Contains(contract.CustomerSortFields, field) {
				t.Errorf("%s is not on the list", field)
			}
		}
		if _, _, err := w.db.Customers(t.Context(), w.shop.ID, contract.CustomerFilter{Line: shop.Subscriptions}, page.Request{Size: 1, Sort: []page.Sort{{Field: "phone"}}}); err == nil {
			t.Error("a field that is not on the list sorts")
		}
		if len(contract.CustomerSortFields) != 8 {
			t.Errorf("%d fields are on the list", len(contract.CustomerSortFields))
		}
	})
}

func testReports(t *testing.T, open opener) {
	w := begin(t, open)
	member := monthly(3)
	member.Line = shop.Memberships
	paused := monthly(2)
	paused.Status = contract.Paused
	w.put(monthly(1), paused, member)
	past := func(c contract.ID, cycle int, s billing.Status, days, tries int) billing.Attempt {
		a := queued(c, cycle, day.AddDate(0, 0, days))
		a.Status, a.Try = s, tries
		return a
	}
	w.queue(
		past(1, 1, billing.Success, -60, 1), past(1, 2, billing.Success, -30, 3), past(1, 3, billing.Failure, -1, 1), past(1, 4, billing.Queued, 30, 0),
		past(2, 1, billing.Success, -10, 1), past(2, 2, billing.Progress, -5, 1), past(3, 1, billing.Success, -7, 1),
	)
	other := w.addShop("second.myshopify.com")
	w.inShop(other.ID, func(tx *store.Tx) error {
		if err := tx.PutContracts(t.Context(), []contract.Contract{monthly(1)}); err != nil {
			return err
		}
		return tx.PutAttempts(t.Context(), []billing.Attempt{past(1, 1, billing.Success, -3, 1)})
	})
	success := []billing.Status{billing.Success}
	for _, tt := range []struct {
		name  string
		s     billing.Survey
		page  page.Request
		want  [][2]int
		total int
	}{
		{"of a status, newest first", billing.Survey{Statuses: success}, anyPage, [][2]int{{2, 1}, {1, 2}, {1, 1}}, 3},
		{"of several statuses", billing.Survey{Statuses: []billing.Status{billing.Failure, billing.Progress}}, anyPage, [][2]int{{1, 3}, {2, 2}}, 2},
		{"a page", billing.Survey{Statuses: success}, page.Request{Page: 1, Size: 2}, [][2]int{{1, 1}}, 3},
		{"of no status", billing.Survey{}, anyPage, nil, 0},
		{"what waits is not past", billing.Survey{Statuses: []billing.Status{billing.Queued, billing.Failure}}, anyPage, [][2]int{{1, 3}}, 1},
		{"of a contract", billing.Survey{Statuses: success, Contract: 2}, anyPage, [][2]int{{2, 1}}, 1},
		{"of the other line", billing.Survey{Statuses: success, Line: shop.Memberships}, anyPage, [][2]int{{3, 1}}, 1},
		{"from an instant on, inclusive", billing.Survey{Statuses: success, From: day.AddDate(0, 0, -30)}, anyPage, [][2]int{{2, 1}, {1, 2}}, 2},
		{"until an instant, inclusive", billing.Survey{Statuses: success, To: day.AddDate(0, 0, -30)}, anyPage, [][2]int{{1, 2}, {1, 1}}, 2},
		{"charged so often", billing.Survey{Statuses: success, Tries: new(3)}, anyPage, [][2]int{{1, 2}}, 1},
		{"never charged", billing.Survey{Statuses: success, Tries: new(0)}, anyPage, nil, 0},
		{"of contracts of a status", billing.Survey{Statuses: success, ContractStatus: contract.Paused}, anyPage, [][2]int{{2, 1}}, 1},
		{"sorted", billing.Survey{Statuses: success}, page.Request{Size: 10, Sort: []page.Sort{{Field: "attemptCount", Desc: true}, {Field: "billingDate"}}}, [][2]int{{1, 2}, {1, 1}, {2, 1}}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.s.Line == "" {
				tt.s.Line = shop.Subscriptions
			}
			records, total, err := w.db.PastAttempts(t.Context(), w.shop.ID, tt.s, tt.page)
			var got [][2]int
			for _, r := range records {
				got = append(got, [2]int{int(r.Contract), r.Cycle})
			}
			if err != nil || total != tt.total || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v of %d, %v, want %v", got, total, err, tt.want)
			}
		})
	}
	t.Run("a contract that the line does not have", func(t *testing.T) {
		for name, s := range map[string]billing.Survey{
			"of the other line": {Line: shop.Subscriptions, Statuses: success, Contract: 3}, "of an unknown contract, and no status": {Line: shop.Subscriptions, Contract: 4711},
		} {
			if _, _, err := w.db.PastAttempts(t.Context(), w.shop.ID, s, anyPage); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("the figures of a contract", func(t *testing.T) {
		charged := func(c contract.ID, cycle int, s billing.Status, days int) billing.Attempt {
			a := past(c, cycle, s, days, 1)
			a.AttemptedAt = day.AddDate(0, 0, days).Add(time.Minute)
			return a
		}
		w.put(monthly(8))
		w.queue(charged(8, 1, billing.Success, -60), charged(8, 2, billing.Success, -30), charged(8, 3, billing.Success, -20), charged(8, 4, billing.Failure, -1), charged(8, 5, billing.SkippedDunning, -2),
			past(8, 6, billing.Skipped, 30, 0), past(8, 7, billing.Queued, 60, 0))
		is, err := w.db.Analytics(t.Context(), w.shop.ID, shop.Subscriptions, 8)
		is.Of = contract.Contract{ID: is.Of.ID}
		want := billing.Analytics{
			Of: contract.Contract{ID: 8}, First: day.AddDate(0, 0, -60).Add(time.Minute), Last: day.AddDate(0, 0, -20).Add(time.Minute), Skipped: 1, Failed: 2,
		}
		if err != nil || !reflect.DeepEqual(is, want) {
			t.Errorf("got %+v, %v, want %+v", is, err, want)
		}
		for name, of := range map[string]struct {
			shop shop.ID
			line shop.Line
			id   contract.ID
		}{
			"of another store": {other.ID, shop.Subscriptions, 8}, "of the other line": {w.shop.ID, shop.Subscriptions, 3}, "of an unknown contract": {w.shop.ID, shop.Subscriptions, 4711},
		} {
			if _, err := w.db.Analytics(t.Context(), of.shop, of.line, of.id); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("lists of a contract's orders can be sorted by every field", func(t *testing.T) {
		for _, field := range billing.SortFields {
			ask := billing.Question{Line: shop.Subscriptions, Contract: 1}
			if _, total, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, ask, page.Request{Size: 10, Sort: []page.Sort{{Field: field, Desc: true}}}); err != nil || total != 3 {
				t.Errorf("%s: %d, %v", field, total, err)
			}
		}
		records, _, err := w.db.AttemptsWhere(t.Context(), w.shop.ID, billing.Question{Line: shop.Subscriptions, Contract: 1}, page.Request{Size: 1, Sort: []page.Sort{{Field: "billingDate"}}})
		if err != nil || len(records) != 1 || records[0].Cycle != 1 {
			t.Errorf("got %+v, %v", records, err)
		}
	})
}
