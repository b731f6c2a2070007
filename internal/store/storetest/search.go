package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// searchable are the contracts that the search is tested with.
func searchable() []contract.Contract {
	first, second, third, fourth := monthly(1201), monthly(1302), monthly(23), monthly(4)
	first.Billing = contract.Policy{Interval: cadence.Year, Count: 1}
	second.Customer = contract.Customer{ID: 7, Email: "per_cent@example.com", Name: `50% Off\ _Ünal "Q" 🌱`}
	second.OriginOrderName, second.Status = "#7_7", contract.Paused
	second.Delivery = contract.Policy{Interval: cadence.Week, Count: 2}
	second.Lines = []contract.LineItem{line(2, 250), line(3, 300)}
	second.CreatedAt, second.UpdatedAt, second.NextBillingDate = day.AddDate(0, 0, -9), day.AddDate(0, 0, 9), time.Time{}
	third.Customer = contract.Customer{ID: 8, Email: "bob@example.org", Name: "Bob"}
	third.OriginOrderName, third.ImportedID = "#1-77", "old-23"
	third.Currency, third.Lines = "JPY", []contract.LineItem{{ID: "x", ProductID: 50, Quantity: 1, Price: money.Amount{Minor: 21, Currency: "JPY"}}}
	third.NextBillingDate, third.UpdatedAt = day.AddDate(0, 1, 0), day.AddDate(0, 0, 3)
	third.Dunning, third.Ending = &contract.Dunning{Attempt: 9, Cycle: 2}, &contract.Ending{Why: contract.EndOfTerm, At: day}
	second.ExpireAt = day
	fourth.Line = shop.Memberships
	return []contract.Contract{first, second, third, fourth}
}

func testSearch(t *testing.T, open opener) {
	w := begin(t, open)
	w.put(searchable()...)
	paid := queued(23, 2, day)
	paid.Status, paid.OrderName = billing.Success, "#5055-X"
	failed := queued(1201, 2, day)
	failed.Status, failed.OrderName = billing.Failure, "#9999"
	w.queue(paid, failed)
	yes, no := true, false
	week := cadence.Week
	amount := func(milli int64) *int64 { return &milli }
	tests := []struct {
		name string
		f    contract.Filter
		want []contract.ID // in the order of ids
	}{
		{"no filter: the line's contracts", contract.Filter{}, []contract.ID{23, 1201, 1302}},
		{"created from an instant on", contract.Filter{CreatedFrom: day}, []contract.ID{23, 1201}},
		{"created until an instant, inclusive", contract.Filter{CreatedTo: day.Add(23 * time.Minute)}, []contract.ID{23, 1302}},
		{"updated from", contract.Filter{UpdatedFrom: day.AddDate(0, 0, 3)}, []contract.ID{23, 1302}},
		{"updated to", contract.Filter{UpdatedTo: day.AddDate(0, 0, 3)}, []contract.ID{23, 1201}},
		{"next date within, and no date is not within", contract.Filter{NextFrom: day.AddDate(-50, 0, 0), NextTo: day}, []contract.ID{1201}},
		{"a missing next date is not early", contract.Filter{NextTo: day.AddDate(1, 0, 0)}, []contract.ID{23, 1201}},
		{"part of the number, long", contract.Filter{IDPart: "1201"}, []contract.ID{1201}},
		{"part of the number, short", contract.Filter{IDPart: "30"}, []contract.ID{1302}},
		{"part of the number, one character", contract.Filter{IDPart: "3"}, []contract.ID{23, 1302}},
		{"part of the name, in any letter case", contract.Filter{CustomerPart: "LOVE"}, []contract.ID{1201}},
		{"part of the address", contract.Filter{CustomerPart: "example.ORG"}, []contract.ID{23}},
		{"short part of a name", contract.Filter{CustomerPart: "bO"}, []contract.ID{23}},
		{"letters beyond A to Z, in any letter case", contract.Filter{CustomerPart: "üNAL"}, []contract.ID{1302}},
		{"emoji", contract.Filter{CustomerPart: "🌱"}, []contract.ID{1302}},
		{"% stands for itself", contract.Filter{CustomerPart: "50% o"}, []contract.ID{1302}},
		{"% alone stands for itself", contract.Filter{CustomerPart: "%"}, []contract.ID{1302}},
		{"_ stands for itself", contract.Filter{CustomerPart: "r_c"}, []contract.ID{1302}},
		{"_ alone stands for itself", contract.Filter{CustomerPart: "_"}, []contract.ID{1302}},
		{`\ stands for itself`, contract.Filter{CustomerPart: `off\`}, []contract.ID{1302}},
		{`\ alone stands for itself`, contract.Filter{CustomerPart: `\`}, []contract.ID{1302}},
		{`a quoted word stands for itself`, contract.Filter{CustomerPart: `"q"`}, []contract.ID{1302}},
		{"quotes do not end the text", contract.Filter{CustomerPart: `' OR 1=1 --`}, nil},
		{"words of the index's own language stand for themselves", contract.Filter{CustomerPart: "ada OR bob"}, nil},
		{"a part does not reach from the name into the address", contract.Filter{CustomerPart: "lovelaceada"}, nil},
		{"part of the first order's name", contract.Filter{OrderPart: "1001"}, []contract.ID{1201}},
		{"_ in an order's name stands for itself", contract.Filter{OrderPart: "7_7"}, []contract.ID{1302}},
		{"part of a renewal order's name", contract.Filter{OrderPart: "055-x"}, []contract.ID{23}},
		{"an attempt that failed made no order", contract.Filter{OrderPart: "9999"}, nil},
		{"status", contract.Filter{Status: contract.Paused}, []contract.ID{1302}},
		{"delivery interval", contract.Filter{DeliveryInterval: &week}, []contract.ID{1302}},
		{"delivery count", contract.Filter{DeliveryCount: 1}, []contract.ID{23, 1201}},
		{"prepaid", contract.Filter{Prepaid: &yes}, []contract.ID{1302}},
		{"not prepaid", contract.Filter{Prepaid: &no}, []contract.ID{23, 1201}},
		{"imported", contract.Filter{Imported: &yes}, []contract.ID{23}},
		{"not imported", contract.Filter{Imported: &no}, []contract.ID{1201, 1302}},
		{"product", contract.Filter{ProductID: 12}, []contract.ID{1302}},
		{"variant of a later line", contract.Filter{VariantID: 103}, []contract.ID{1302}},
		{"selling plan", contract.Filter{SellingPlanID: 1001}, []contract.ID{1201}},
		{"no such product", contract.Filter{ProductID: 4711}, nil},
		{"amount at least, whatever the currency", contract.Filter{MinAmount: amount(20_000)}, []contract.ID{23, 1201}},
		{"amount at most", contract.Filter{MaxAmount: amount(20_000)}, []contract.ID{1201, 1302}},
		{"customer", contract.Filter{CustomerID: 8}, []contract.ID{23}},
		{"whole address, in any letter case", contract.Filter{CustomerEmail: "BOB@example.org"}, []contract.ID{23}},
		{"part of an address is not the whole", contract.Filter{CustomerEmail: "bob@"}, nil},
		{"an order is not paid", contract.Filter{Failing: true}, []contract.ID{23}},
		{"ends soon", contract.Filter{Ending: true}, []contract.ID{23, 1302}},
		{"an order is not paid, and more", contract.Filter{Failing: true, Ending: true, CustomerPart: "bob", Status: contract.Active}, []contract.ID{23}},
		{"the other line", contract.Filter{Line: shop.Memberships}, []contract.ID{4}},
		{"all conditions must hold", contract.Filter{CustomerPart: "example", Status: contract.Active, Imported: &no}, []contract.ID{1201}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.f.Line == "" {
				tt.f.Line = shop.Subscriptions
			}
			got, total := w.search(tt.f, page.Request{Size: 100, Sort: []page.Sort{{Field: "id"}}})
			if total != len(tt.want) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("found %v of %d, want %v", got, total, tt.want)
			}
		})
	}
	all := contract.Filter{Line: shop.Subscriptions}
	t.Run("oldest first unless the page says otherwise", func(t *testing.T) {
		if got, _ := w.search(all, anyPage); !reflect.DeepEqual(got, []contract.ID{1302, 23, 1201}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("every sort field sorts, both ways", func(t *testing.T) {
		for _, field := range contract.SortFields {
			up, _ := w.search(all, page.Request{Size: 10, Sort: []page.Sort{{Field: field}}})
			down, _ := w.search(all, page.Request{Size: 10, Sort: []page.Sort{{Field: field, Desc: true}}})
			slices.Reverse(down)
			if len(up) != 3 || !reflect.DeepEqual(up, down) {
				t.Errorf("%s: up %v, down reversed %v", field, up, down)
			}
		}
		if got, _ := w.search(all, page.Request{Size: 10, Sort: []page.Sort{{Field: "customer_name"}}}); !reflect.DeepEqual(got, []contract.ID{1302, 1201, 23}) {
			t.Errorf("by name: %v", got)
		}
	})
	t.Run("a page knows the whole number, past the end too", func(t *testing.T) {
		for _, tt := range []struct {
			page int
			want []contract.ID
		}{{0, []contract.ID{23, 1201}}, {1, []contract.ID{1302}}, {5, nil}} {
			got, total := w.search(all, page.Request{Page: tt.page, Size: 2, Sort: []page.Sort{{Field: "id"}}})
			if total != 3 || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("page %d: %v of %d", tt.page, got, total)
			}
		}
	})
	t.Run("what is equal by the sort field has the order of the ids, over all pages and both ways", func(t *testing.T) {
		own := begin(t, open)
		var put []contract.Contract
		var want []contract.ID
		for id := contract.ID(1); id <= 40; id++ {
			put = append(put, monthly(id))
			want = append(want, id)
		}
		slices.Reverse(put)
		own.put(put...)
		for _, desc := range []bool{false, true} {
			var got []contract.ID
			for n := range 8 {
				page, _ := own.search(all, page.Request{Page: n, Size: 5, Sort: []page.Sort{{Field: "status", Desc: desc}}})
				got = append(got, page...)
			}
			if desc {
				slices.Reverse(got)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("desc=%t: got %v", desc, got)
			}
		}
	})
	t.Run("a sort field that is not on the list is invalid", func(t *testing.T) {
		_, _, err := w.db.Search(t.Context(), w.shop.ID, all, page.Request{Size: 1, Sort: []page.Sort{{Field: "version"}}})
		w.wantKind(err, fault.Invalid)
	})
	t.Run("what a contract was found by is forgotten when it changes", func(t *testing.T) {
		own := begin(t, open)
		own.put(monthly(1))
		c := own.contract(1)
		c.Customer.Name, c.Customer.Email, c.Lines, c.OriginOrderName = "Grace", "grace@example.com", []contract.LineItem{line(4, 1)}, ""
		own.put(c)
		for _, gone := range []contract.Filter{{CustomerPart: "ada"}, {CustomerPart: "ad"}, {ProductID: 11}} {
			gone.Line = shop.Subscriptions
			if got, _ := own.search(gone, anyPage); len(got) != 0 {
				t.Errorf("%+v finds %v", gone, got)
			}
		}
		for _, there := range []contract.Filter{{CustomerPart: "grac"}, {CustomerPart: "gr"}, {ProductID: 14}, {OrderPart: "1001"}, {IDPart: "1"}} {
			there.Line = shop.Subscriptions
			if got, _ := own.search(there, anyPage); len(got) != 1 {
				t.Errorf("%+v finds %v", there, got)
			}
		}
	})
	t.Run("very long texts can be kept and found by their beginning", func(t *testing.T) {
		own := begin(t, open)
		c := monthly(1)
		for range 1000 {
			c.Customer.Name += "🌱 long "
		}
		own.put(c)
		if got, _ := own.search(contract.Filter{Line: shop.Subscriptions, CustomerPart: "🌱 LONG 🌱"}, anyPage); len(got) != 1 {
			t.Errorf("found %v", got)
		}
		if got := own.contract(1).Customer.Name; got != c.Customer.Name {
			t.Error("the name was cut")
		}
	})
}

func (w world) search(f contract.Filter, p page.Request) ([]contract.ID, int) {
	w.Helper()
	found, total, err := w.db.Search(w.Context(), w.shop.ID, f, p)
	if err != nil {
		w.Fatal(err)
	}
	var ids []contract.ID
	for _, c := range found {
		ids = append(ids, c.ID)
	}
	return ids, total
}
