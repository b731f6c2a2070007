package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// A higher price that is announced applies from the first order that is due 14 days later, and each
// customer gets one e-mail about it, at once.
func TestHigherPriceIsAnnounced(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{MainOnly: true, Contracts: 40})
	a, m := b.front.running(), b.Manifest()
	of, err := a.Store.Shops().IDOf(t.Context(), m.Shop)
	if err != nil {
		t.Fatal(err)
	}
	since := a.Edits.Clock.Now()
	dearer := map[int64]money.Amount{} // new prices, by contract
	customers := map[int64]string{}
	for _, id := range b.found(m.Subscriptions, m.APIKey, "status=active&planType=non-prepaid") {
		cmd := amend.Command{Line: shop.Subscriptions, Contract: contract.ID(id), Actor: activity.System}
		_, c, err := a.Edits.Load(t.Context(), of, cmd)
		if err != nil {
			t.Fatal(err)
		}
		if line := c.Lines[0]; !c.Priced && len(c.Lines) == 1 {
			to := line.Price.Plus(money.Amount{Minor: 777, Currency: line.Price.Currency})
			if _, err := a.Edits.ChangeLine(t.Context(), of, cmd, contractedit.LineChange{Line: line.ID, Base: &to, Announced: true}); err != nil {
				t.Fatal(err)
			}
			dearer[id], customers[id] = to, c.Customer.Email
		}
	}
	if len(dearer) < 10 {
		t.Fatalf("only %d contracts have one price", len(dearer))
	}
	b.advance("P1D")
	var mails []message
	b.direct("GET", "/mail", "", &mails)
	for id, to := range dearer {
		n := 0
		for _, mail := range mails {
			if mail.Kind == "price_updated" && mail.To == customers[id] && strings.Contains(mail.Text, to.String()) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the customer of contract %d got %d e-mails about the price, want 1", id, n)
		}
	}
	b.advance("P35D")
	before, after := 0, 0
	for _, o := range b.orders("") {
		to, changed := dearer[o.Contract]
		if !changed || o.At.Before(since) {
			continue
		}
		later := !o.At.Before(since.Add(contractedit.PriceNotice))
		if later {
			after++
		} else {
			before++
		}
		if has := o.Lines[0].Price == to.String(); has != later {
			t.Errorf("the order of contract %d on %s costs %s each; the new price is %s", o.Contract, o.At.Format(time.DateOnly), o.Lines[0].Price, to)
		}
	}
	if before < 5 || after < len(dearer)/2 {
		t.Errorf("%d orders had the old price and %d the new one", before, after)
	}
	b.direct("GET", "/mail", "", &mails)
	n := 0
	for _, mail := range mails {
		if mail.Kind == "price_updated" && !strings.Contains(mail.Text, "In place of") { // that a swap rule brings
			n++
		}
	}
	if n > len(dearer) {
		t.Errorf("%d e-mails about prices, want %d", n, len(dearer))
	}
}
