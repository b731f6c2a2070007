package portal

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// row is a contract in the list.
type row struct {
	Name   string
	Status string
	Items  []string
	Every  string
	Price  string
	Next   string // empty when no order is to come
}

// home lists the subscriptions of whoever is signed in.
func (p *portal) home(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error {
	who, err := p.principal(r, of)
	if fault.Is(err, fault.Unauthenticated) {
		redirect(w, v.Home+"/signin")
		return nil
	}
	if err != nil {
		return err
	}
	contracts, err := p.Login.Contracts(r.Context(), who)
	if err != nil {
		return err
	}
	calendar, err := of.Calendar()
	if err != nil {
		return err
	}
	v.Title = "Your subscriptions"
	for _, c := range contracts {
		shown := newRow(c)
		if c.Status == contract.Active && !c.NextBillingDate.IsZero() {
			shown.Next = c.NextBillingDate.In(calendar.Zone).Format("Monday, 2 January 2006")
		}
		v.Contracts = append(v.Contracts, shown)
	}
	return p.render(w, http.StatusOK, "home", v)
}

// statusWords is how readers are told the status.
var statusWords = map[contract.Status]string{
	contract.Active: "Active", contract.Paused: "Paused", contract.Cancelled: "Cancelled", contract.Expired: "Ended", contract.Failed: "Payment failed",
}

func newRow(c contract.Contract) row {
	shown := row{Name: fmt.Sprintf("Subscription %d", c.ID), Status: statusWords[c.Status], Every: every(c.Billing)}
	if c.Line == shop.Memberships {
		shown.Name = fmt.Sprintf("Membership %d", c.ID)
	}
	for _, l := range c.Lines {
		item := fmt.Sprintf("%d × %s", l.Quantity, l.Title)
		if l.VariantTitle != "" {
			item += ", " + l.VariantTitle
		}
		shown.Items = append(shown.Items, item)
	}
	amount := c.Amount()
	shown.Price = amount.String() + " " + string(amount.Currency)
	return shown
}

func every(p contract.Policy) string {
	unit := strings.ToLower(p.Interval.String())
	if p.Count == 1 {
		return "every " + unit
	}
	return fmt.Sprintf("every %d %ss", p.Count, unit)
}
