package terms

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

func dollars(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }

func fixed(after int, cents int64) platform.CyclePrice {
	return platform.CyclePrice{After: after, Kind: platform.FixedPrice, Amount: dollars(cents), Computed: dollars(cents)}
}

func TestPaidTermIsFromLastPaymentToNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 11, 8, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return now.AddDate(0, 0, n) }
	bought := contract.Contract{Status: contract.Active, OriginOrderID: 5, CreatedAt: day(-10), NextBillingDate: day(20)}
	for _, row := range []struct {
		name   string
		change func(*contract.Contract)
		from   time.Time // zero: none
	}{
		{"from the checkout", func(*contract.Contract) {}, day(-10)},
		{"from the last renewal", func(c *contract.Contract) { c.LastOrderAt = day(-1) }, day(-1)},
		{"without a checkout nothing was paid", func(c *contract.Contract) { c.OriginOrderID = 0 }, time.Time{}},
		{"a free trial is not paid for", func(c *contract.Contract) { c.Trial = &contract.Trial{} }, time.Time{}},
		{"but the order after it is", func(c *contract.Contract) { c.Trial, c.LastOrderAt = &contract.Trial{}, day(-2) }, day(-2)},
		{"an order that was declined is not paid for", func(c *contract.Contract) { c.Dunning = &contract.Dunning{State: dunning.Open} }, time.Time{}},
		{"a paused contract has no term", func(c *contract.Contract) { c.Status = contract.Paused }, time.Time{}},
		{"an order is due", func(c *contract.Contract) { c.NextBillingDate = now }, time.Time{}},
		{"no order comes", func(c *contract.Contract) { c.NextBillingDate = time.Time{} }, time.Time{}},
	} {
		c := bought
		row.change(&c)
		got, ok := PaidTerm(c, now)
		if ok == row.from.IsZero() || ok && (!got.From.Equal(row.from) || !got.To.Equal(c.NextBillingDate)) {
			t.Errorf("%s: %+v, %t", row.name, got, ok)
		}
	}
}

func TestRestOfTermIsRoundedForCustomer(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	term := Term{from, from.AddDate(0, 0, 30)}
	for _, row := range []struct {
		days         int // since its beginning
		amount, want int64
	}{
		{0, 1000, 1000},
		{15, 1000, 500},
		{20, 1000, 333},
		{20, -1000, -334},
		{10, -1000, -667},
		{30, 1000, 0},
	} {
		if got := term.Rest(dollars(row.amount), from.AddDate(0, 0, row.days)); got != dollars(row.want) {
			t.Errorf("of %d after %d days it is %s, want %d", row.amount, row.days, got, row.want)
		}
	}
	if got := (Term{from, from}).Rest(dollars(5), from); got != dollars(0) {
		t.Errorf("of a term without a length it is %s", got)
	}
}

func TestPaidPriceIsThatOfLastOrder(t *testing.T) {
	t.Parallel()
	steps := func(list ...platform.CyclePrice) *platform.Pricing {
		return &platform.Pricing{Base: dollars(1000), Cycles: list}
	}
	for _, row := range []struct {
		name          string
		charged       int64
		pricing       *platform.Pricing
		want          int64
		waits, waited bool // before and after two cycles
	}{
		{"without prices by cycle", 700, nil, 700, false, false},
		{"of a plan with two prices", 500, steps(platform.CyclePrice{Kind: platform.PercentOff, Percent: 50, Computed: dollars(500)}, fixed(3, 900)), 500, false, false},
		{"of one with a first price", 500, steps(fixed(1, 500), fixed(2, 1000)), 500, false, false},
		{"a difference that the order has settled is no price", 1200, steps(fixed(1, 1200), fixed(2, 1000)), 1000, true, false},
		{"one that waits for the next order", 700, steps(fixed(2, 1200), fixed(3, 1000)), 700, false, true},
		{"one that was settled long ago", 1000, steps(fixed(0, 1200), fixed(1, 1000)), 1000, false, false},
	} {
		if got := PaidPrice(dollars(row.charged), row.pricing); got != dollars(row.want) {
			t.Errorf("%s: %s", row.name, got)
		}
		if before, after := DifferenceWaits(row.pricing, 1), DifferenceWaits(row.pricing, 2); before != row.waits || after != row.waited {
			t.Errorf("%s: waits %t, and a cycle later %t", row.name, before, after)
		}
	}
}

func TestDifferenceIsSettledWithNextOrderAlone(t *testing.T) {
	t.Parallel()
	off := platform.CyclePrice{Kind: platform.PercentOff, Percent: 10, Computed: dollars(900)}
	then := off
	then.After = 3
	for _, row := range []struct {
		name    string
		pricing *platform.Pricing
		price   int64
		want    *platform.Pricing // nil: it cannot be
	}{
		{"one price", nil, 1000, &platform.Pricing{Base: dollars(1000), Cycles: []platform.CyclePrice{fixed(2, 1250), fixed(3, 1000)}}},
		{"a discount that stays", &platform.Pricing{Base: dollars(1000), Cycles: []platform.CyclePrice{off}}, 900,
			&platform.Pricing{Base: dollars(1000), Cycles: []platform.CyclePrice{fixed(2, 1150), then}}},
		{"a price that begins later", &platform.Pricing{Base: dollars(1000), Cycles: []platform.CyclePrice{off, fixed(5, 1000)}}, 900, nil},
	} {
		got, ok := SettledWithNextOrder(row.pricing, dollars(row.price), dollars(250), 2)
		if diff := cmp.Diff(row.want, got); diff != "" || ok != (row.want != nil) {
			t.Errorf("%s: %t (-want +got):\n%s", row.name, ok, diff)
		}
	}
}

func TestCreditTakesAsManyOrdersAsItNeeds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ credit, most, each, orders int64 }{
		{500, 1000, 500, 1}, {1000, 1000, 1000, 1}, {1001, 1000, 501, 2}, {9000, 1000, 1000, 9}, {5, 0, 0, 0}, {1_000_000_000, 1, 0, 0},
	} {
		each, orders, ok := CreditOver(dollars(row.credit), dollars(row.most))
		if ok != (row.orders != 0) || ok && (each.Minor != row.each || int64(orders) != row.orders) {
			t.Errorf("%d, at most %d an order: %s off %d orders, %t", row.credit, row.most, each, orders, ok)
		}
	}
}
