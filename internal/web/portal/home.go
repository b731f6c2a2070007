package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// row is a contract in the list.
type row struct {
	Name   string
	Status string
	Tone   string   // class of the status: ok, warn, crit, or none
	Items  []string // of the next order, where one is to come
	Every  string
	Next   string // day of the next order; empty when none is to come
	Price  string // what that comes to, before taxes
}

// home lists the subscriptions of the signed-in subscriber.
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
	next, err := p.nextOrders(r.Context(), who)
	if err != nil {
		return err
	}
	calendar, err := of.Calendar()
	if err != nil {
		return err
	}
	if who.OpenedBy != "" {
		v.Support = &support{who.OpenedBy, who.Until.In(calendar.Zone).Format("15:04 MST")}
	}
	v.Title = "Your subscriptions"
	for _, c := range contracts {
		order, comes := next[c.ID]
		if !comes {
			v.Contracts = append(v.Contracts, newRow(c, c.Lines))
			continue
		}
		shown, amount := newRow(c, order.LinesOf()), order.Cost()
		shown.Next = order.BillingDate.In(calendar.Zone).Format("Monday, 2 January 2006")
		shown.Price = amount.String() + " " + string(amount.Currency)
		v.Contracts = append(v.Contracts, shown)
	}
	return p.render(w, http.StatusOK, "home", v)
}

// maxOrders is how many orders to come of a customer are read, soonest first, to find
// the next one of each contract.
const maxOrders = 2000

// nextOrders returns the next order of each of the subscriber's contracts that has one.
func (p *portal) nextOrders(ctx context.Context, who login.Principal) (map[contract.ID]billing.Record, error) {
	next := make(map[contract.ID]billing.Record)
	for _, line := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		coming, _, err := p.Orders.AttemptsWhere(ctx, who.Shop, billing.Question{Line: line, Customer: who.Customer, Upcoming: true}, page.Request{Size: maxOrders})
		if err != nil {
			return nil, err
		}
		for _, r := range coming {
			if _, sooner := next[r.Contract]; !sooner {
				next[r.Contract] = r
			}
		}
	}
	return next, nil
}

// statusWords are the statuses as the page shows them.
var statusWords = map[contract.Status]string{
	contract.Active: "Active", contract.Paused: "Paused", contract.Cancelled: "Cancelled", contract.Expired: "Ended", contract.Failed: "Payment failed",
}

// tones is how the status is coloured.
var tones = map[contract.Status]string{contract.Active: "ok", contract.Paused: "warn", contract.Failed: "crit"}

func newRow(c contract.Contract, lines []contract.LineItem) row {
	shown := row{Name: fmt.Sprintf("Subscription %d", c.ID), Status: statusWords[c.Status], Tone: tones[c.Status], Every: every(c.Billing)}
	if c.Line == shop.Memberships {
		shown.Name = fmt.Sprintf("Membership %d", c.ID)
	}
	for _, l := range lines {
		item := fmt.Sprintf("%d × %s", l.Quantity, l.Title)
		if l.VariantTitle != "" {
			item += ", " + l.VariantTitle
		}
		shown.Items = append(shown.Items, item)
	}
	return shown
}

func every(p contract.Policy) string {
	unit := strings.ToLower(p.Interval.String())
	if p.Count == 1 {
		return "Every " + unit
	}
	return fmt.Sprintf("Every %d %ss", p.Count, unit)
}
