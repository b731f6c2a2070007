package contract

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var now = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

func monthly(change ...func(*platform.Contract)) platform.Contract {
	p := platform.Contract{
		ID: 9001, Revision: 1, Status: "ACTIVE", Currency: "USD", CreatedAt: now,
		Billing:       platform.Policy{Interval: "MONTH", Count: 3, MaxCycles: 4},
		Delivery:      platform.Policy{Interval: "MONTH", Count: 1},
		Customer:      platform.Customer{ID: 7001, DisplayName: "Ana Silva"},
		PaymentMethod: platform.PaymentMethod{ID: "gid://shopify/CustomerPaymentMethod/1"},
		Lines:         []platform.Line{{ID: "line", Quantity: 2, Price: money.Amount{Minor: 1250, Currency: "USD"}, SellingPlanID: 6001}},
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

func TestNewLineCopiesEveryField(t *testing.T) {
	t.Parallel()
	of := platform.Line{
		ID: "line", ProductID: 3001, VariantID: 4001, SKU: "COFFEE", Title: "Coffee", VariantTitle: "250 g", Image: "coffee.png",
		Quantity: 2, Price: money.Amount{Minor: 1250, Currency: "USD"}, SellingPlanID: 6001, SellingPlanName: "Every month", Taxable: true,
	}
	there, here := reflect.ValueOf(of), reflect.ValueOf(NewLine(of))
	for i := range there.NumField() {
		name := there.Type().Field(i).Name
		if there.Field(i).IsZero() || !here.FieldByName(name).Equal(there.Field(i)) {
			t.Errorf("%s is %v at the platform and %v here", name, there.Field(i), here.FieldByName(name))
		}
	}
}

func TestReadSetsWhatPlatformOwns(t *testing.T) {
	t.Parallel()
	c, change, err := Read(nil, monthly(), shop.Settings{Memberships: []int64{6001}}, now)
	if err != nil {
		t.Fatal(err)
	}
	if !change.Created || !c.Prepaid() || c.Amount().String() != "25.00" || c.MaxCycles != 4 || !c.PaymentUsable || !c.AutoCharge ||
		c.Line != shop.Memberships || c.Billing.Interval != cadence.Month || !c.ActivatedAt.Equal(now) {
		t.Errorf("read %+v with %+v", c, change)
	}
}

func TestFirstOrderAmountStays(t *testing.T) {
	t.Parallel()
	c, _, err := Read(nil, monthly(), shop.Settings{}, now)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err = Read(&c, monthly(func(p *platform.Contract) { p.Revision, p.Lines[0].Quantity = 2, 5 }), shop.Settings{}, now)
	if err != nil || c.Amount().String() != "62.50" || c.FirstOrderAmount().String() != "25.00" {
		t.Errorf("the lines cost %s and %s was bought, %v; want 62.50 and 25.00", c.Amount(), c.FirstOrderAmount(), err)
	}
}

func TestReadReportsChanges(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*platform.Contract)
		want   Change
	}{
		{"nothing", func(*platform.Contract) {}, Change{}},
		{"a revision that changed nothing that people see", func(p *platform.Contract) { p.Revision, p.LastPayment = 2, "FAILED" }, Change{Revision: true}},
		{"the status", func(p *platform.Contract) { p.Revision, p.Status = 2, "PAUSED" }, Change{Status: true, Revision: true}},
		{"the billing policy", func(p *platform.Contract) { p.Revision, p.Billing.Count = 2, 6 }, Change{Billing: true, Revision: true}},
		{"the delivery policy", func(p *platform.Contract) { p.Revision, p.Delivery.Interval = 2, "WEEK" }, Change{Delivery: true, Revision: true}},
		{"a line", func(p *platform.Contract) { p.Revision, p.Lines[0].Quantity = 2, 5 }, Change{Terms: true, Revision: true}},
		{"the note", func(p *platform.Contract) { p.Revision, p.Note = 2, "ring twice" }, Change{Terms: true, Revision: true}},
		{"a payment method that was revoked, without a new revision", func(p *platform.Contract) { p.PaymentMethod.Revoked = true }, Change{Payment: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			old, _, err := Read(nil, monthly(), shop.Settings{}, now)
			if err != nil {
				t.Fatal(err)
			}
			old.Orders, old.Series = 7, Series{Cycle: 3, Start: now}
			c, change, err := Read(&old, monthly(row.change), shop.Settings{}, now.Add(time.Hour))
			if err != nil || change != row.want {
				t.Errorf("change %+v (%v), want %+v", change, err, row.want)
			}
			if c.Orders != 7 || c.Series != old.Series {
				t.Errorf("what the service owns was altered: %+v", c)
			}
		})
	}
}

func TestReadRefusesInvalidContracts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*platform.Contract){
		"an unknown status":        func(p *platform.Contract) { p.Status = "STALE" },
		"an unknown interval":      func(p *platform.Contract) { p.Billing.Interval = "HOUR" },
		"an interval count of 0":   func(p *platform.Contract) { p.Delivery.Count = 0 },
		"an anchor that is no day": func(p *platform.Contract) { p.Billing.Anchors = []platform.Anchor{{Type: "MONTHDAY", Day: 32}} },
	} {
		if _, _, err := Read(nil, monthly(change), shop.Settings{}, now); err == nil {
			t.Errorf("%s was taken over", name)
		}
	}
}

// An order of the checkout counts whole when all its products are the contract's, also once these
// change, and with its products alone when others were bought with it. Refunds are not taken off.
func TestPaidSoFarCountsOrderOfCheckout(t *testing.T) {
	t.Parallel()
	bought := func(pieces int) func(*platform.Contract) {
		return func(p *platform.Contract) {
			p.OriginOrder = platform.OriginOrder{OrderRef: platform.OrderRef{ID: 501}, Pieces: pieces, Total: money.Amount{Minor: 2740, Currency: "USD"}}
		}
	}
	alone := func(p *platform.Contract) { p.Lines[0].Quantity = 5 }
	for name, c := range map[string]struct {
		first, later func(*platform.Contract)
		want         string
		exact        bool
	}{
		"alone":               {bought(2), bought(2), "37.40", true},
		"alone, and changed":  {bought(2), func(p *platform.Contract) { bought(2)(p); alone(p) }, "37.40", true},
		"beside others":       {bought(3), bought(3), "35.00", false},
		"in another currency": {func(p *platform.Contract) { bought(2)(p); p.OriginOrder.Total.Currency = "EUR" }, bought(3), "35.00", false},
		"without a checkout":  {func(*platform.Contract) {}, func(*platform.Contract) {}, "10.00", true},
		"beside others, without which it has as many pieces later": {bought(3), func(p *platform.Contract) { bought(3)(p); p.Lines[0].Quantity = 3 }, "35.00", false},
	} {
		is, _, err := Read(nil, monthly(c.first), shop.Settings{}, now)
		if err != nil {
			t.Fatal(err)
		}
		is.Lifetime = money.Amount{Minor: 1000, Currency: "USD"}
		if is, _, err = Read(&is, monthly(c.later), shop.Settings{}, now); err != nil {
			t.Fatal(err)
		}
		if sum, exact := is.PaidSoFar(); sum.String() != c.want || exact != c.exact {
			t.Errorf("%s: paid %s, exact %t; want %s, %t", name, sum, exact, c.want, c.exact)
		}
	}
}
