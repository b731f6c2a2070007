package sandbox

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
)

// price gives weekly contracts what makes their orders cost something else with time: discounts for
// some orders and for all, prices by cycle, and a pause that ends automatically.
func (b *bench) price() {
	b.t.Helper()
	m := b.Manifest()
	api := m.Subscriptions + "/api/external/v2/"
	var rows []struct {
		ID int64 `json:"subscriptionContractId"`
	}
	_, text := ask(b.t, "GET", api+"subscription-contract-details?status=active&billingPolicyInterval=WEEK&planType=non-prepaid&size=9&sort=id,asc", m.APIKey, "")
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) < 3 {
		b.t.Fatalf("weekly contracts: %v %s", err, text)
	}
	for _, change := range []struct {
		contract   int
		path, body string
	}{
		{0, "subscription-contracts-add-discount?contractId=%d&percentage=20&discountTitle=Hello&recurringCycleLimit=4", ""},
		{0, "subscription-contracts-add-discount?contractId=%d&amount=1.50&appliesOnEachItem=true&discountTitle=Always", ""},
		{1, "subscription-contracts-update-line-item-pricing-policy?contractId=%d&lineId=%s&basePrice=20", `[{"afterCycle":2,"discountType":"PERCENTAGE","value":10},{"afterCycle":4,"discountType":"PERCENTAGE","value":30}]`},
		{2, "subscription-contracts-update-status?contractId=%d&status=PAUSED&pauseTillDate=2026-11-21", ""},
	} {
		id := rows[change.contract].ID
		var is struct {
			Lines struct{ Nodes []struct{ ID string } }
		}
		_, text := ask(b.t, "GET", fmt.Sprintf("%ssubscription-contracts/contract-external/%d", api, id), m.APIKey, "")
		if err := json.Unmarshal([]byte(text), &is); err != nil || len(is.Lines.Nodes) == 0 {
			b.t.Fatalf("contract %d: %v %s", id, err, text)
		}
		path := fmt.Sprintf(change.path, id)
		if change.contract == 1 {
			path = fmt.Sprintf(change.path, id, url.QueryEscape(is.Lines.Nodes[0].ID))
		}
		if status, text := ask(b.t, "PUT", api+path, m.APIKey, change.body); status/100 != 2 {
			b.t.Fatalf("PUT %s: %d %s", path, status, text)
		}
	}
}

// A store with discounts, prices by cycle and a pause moves to another service and back, and each
// customer is charged the same amounts on the same days as without the moves.
func TestMoneyMovesWhole(t *testing.T) {
	t.Parallel()
	stays := startInline(t, Options{MainOnly: true, Contracts: 40})
	b := start(t, Options{Second: true, MainOnly: true, Contracts: 40, Database: file(t), SecondDatabase: file(t)})
	b.unlimit()
	for _, one := range []*bench{stays, b} {
		one.withoutSwaps()
		one.price()
		one.advance("P8D")
	}
	id := b.moveIn()
	b.advance("P1D")
	b.wave(id, 100)
	b.advance("P8D")
	b.arrived(id)
	b.endMove(id)
	back := b.moveOut()
	b.advance("P1D")
	b.wave(back, 100)
	b.advance("P30D")
	b.arrived(back)
	stays.advance("P40D")
	b.sameCharges(stays)
}
