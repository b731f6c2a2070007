package sandbox

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func TestPlatformListsCustomersAndOrders(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(""), &made)
	var paypal methodOut
	b.direct("POST", "/platform/customers/7001/payment-methods", `{"kind":"paypal"}`, &paypal)
	var c simulator.Customer
	b.direct("GET", "/platform/customers/7001", "", &c)
	if c.ID != 7001 || c.Email != "ada@shopper.example" || c.Tags == nil || !slices.Equal(c.Contracts, []int64{9001}) || len(c.PaymentMethods) != 2 ||
		c.PaymentMethods[1] != (simulator.PaymentMethod{ID: paypal.ID, Kind: simulator.PayPal, Status: simulator.MethodValid}) {
		t.Errorf("customer %+v", c)
	}
	b.direct("POST", "/platform/discount-codes", `{"code":"TWICE5","amount":5,"cycleLimit":2}`, nil)
	var sent []simulator.UpdateEmail
	if b.direct("GET", "/platform/update-emails", "", &sent); sent == nil || len(sent) != 0 {
		t.Errorf("e-mails %+v", sent)
	}
	b.advance("P1M")
	got := b.orders("?contractId=9001")
	if len(got) != 1 || got[0].Note != "by hand" || got[0].Tags == nil || !slices.Equal(got[0].Lines, []simulator.RenewalLine{{Variant: 4001, Quantity: 2, Price: "9.50"}}) {
		t.Errorf("orders %+v", got)
	}
}
