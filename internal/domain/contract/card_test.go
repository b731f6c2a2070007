package contract

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestReplacedCardIsDetected(t *testing.T) {
	t.Parallel()
	const method = "gid://shopify/CustomerPaymentMethod/1"
	first := platform.PaymentMethod{ID: method, Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", ExpiryMonth: 3, ExpiryYear: 2026}
	with := func(change func(*platform.PaymentMethod)) platform.PaymentMethod {
		m := first
		change(&m)
		return m
	}
	later := now.Add(time.Hour)
	for _, row := range []struct {
		name     string
		was, is  platform.PaymentMethod
		changed  bool
		since    time.Time
		replaces bool
	}{
		{"the same card", first, first, false, time.Time{}, false},
		{"another expiry", first, with(func(m *platform.PaymentMethod) { m.ExpiryYear = 2029 }), true, later, true},
		{"another number", first, with(func(m *platform.PaymentMethod) { m.LastDigits = "1881" }), true, later, true},
		{"one that has expired", first, with(func(m *platform.PaymentMethod) { m.ExpiryMonth = 2 }), true, later, false},
		{"one that is known now", platform.PaymentMethod{ID: method}, first, true, time.Time{}, false},
		{"one that is not shown any more", first, platform.PaymentMethod{ID: method, Revoked: true}, false, time.Time{}, false},
		{"one that can be used again", with(func(m *platform.PaymentMethod) { m.Revoked = true }), first, true, later, true},
		{"another payment method, which is none of a card's", first, platform.PaymentMethod{ID: method + "2", Kind: "Paypal"}, true, time.Time{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			old, _, err := Read(nil, monthly(func(p *platform.Contract) { p.PaymentMethod = row.was }), shop.Settings{}, now)
			if err != nil {
				t.Fatal(err)
			}
			got, change, err := Read(&old, monthly(func(p *platform.Contract) { p.PaymentMethod = row.is }), shop.Settings{}, later)
			if err != nil {
				t.Fatal(err)
			}
			if change.Card != row.changed || !got.Card.Since.Equal(row.since) || got.Card.Replaces(old.Card, later) != row.replaces {
				t.Errorf("card %+v, changed %t, replaces %t; want since %s, %t, %t", got.Card, change.Card, got.Card.Replaces(old.Card, later), row.since, row.changed, row.replaces)
			}
			if change.Terms {
				t.Error("a card is taken for what people see of a contract")
			}
		})
	}
}
