package words

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Rest is what still comes of a contract that ends. Template "rest" shows it.
type Rest struct {
	Orders     []portal.Sum // each with its day and amount, and their total; empty: none
	Deliveries []portal.Sum
}

// RestOf returns what still comes of a contract that ends: each order that is charged, and each
// delivery of a prepaid contract.
func RestOf(v portal.Visit, rest billing.Rest) Rest {
	var is Rest
	for _, o := range rest.Orders {
		name := v.Day(o.BillingDate)
		switch {
		case o.Unpaid():
			name = v.T("rest.unpaid", "day", name)
		case o.Status.InFlight():
			name = v.T("rest.charging", "day", name)
		}
		is.Orders = append(is.Orders, portal.Sum{Name: name, Amount: Amount(v, o.Pays)})
	}
	if n := len(is.Orders); n > 0 {
		is.Orders = append(is.Orders, portal.Sum{Name: v.T("rest.total", "n", n), Amount: Amount(v, rest.Total), Total: true})
	}
	for _, d := range rest.Deliveries {
		one := portal.Sum{Name: v.Day(d)}
		if len(rest.Orders) == 0 {
			one.Amount = v.T("prepaid.chipPaid")
		}
		is.Deliveries = append(is.Deliveries, one)
	}
	return is
}
