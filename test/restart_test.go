package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// restart makes a new contract from the subscription's and returns it.
func (s *subscription) restart(day string) object {
	s.t.Helper()
	var o object
	if got := s.send("POST", s.urls.Subscriptions+api+fmt.Sprintf("/subscription-contract-details/%d/restart", s.id), s.key, map[string]any{"nextBillingDate": day}, &o); got != http.StatusCreated {
		s.t.Fatalf("restart answered %d", got)
	}
	return o
}

func (s *subscription) wantRestartRefused(status int, key string, body any) {
	s.t.Helper()
	want(s.t, s.demand("POST", fmt.Sprintf("/subscription-contract-details/%d/restart", s.id), s.key, body), status, key)
}

func TestCancelledContractRestartsAsNewContract(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 1, "maxCycles": 4}})
	before := s.change("PUT", fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", s.id), map[string]any{
		"firstName": "Ana", "address1": "12 Mill Lane", "city": "Ottawa", "provinceCode": "ON", "countryCode": "CA", "zip": "K1A 0B1", "methodType": "SHIPPING",
	})
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=ring", s.id), nil)
	day := map[string]any{"nextBillingDate": "2027-02-20"}
	s.wantRestartRefused(http.StatusBadRequest, "contractNotTerminated", day)
	s.cancel(http.StatusNoContent, "")
	r := s.demand("PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), s.key, nil)
	want(t, r, http.StatusBadRequest, "contractTerminated")
	if !strings.Contains(string(r.body), "restart") {
		t.Errorf("the refusal names no restart: %s", r.body)
	}
	s.wantRestartRefused(http.StatusBadRequest, "bodyField", map[string]any{})
	s.wantRestartRefused(http.StatusBadRequest, "datePast", map[string]any{"nextBillingDate": "2026-10-01"})
	old := s.id
	s.id = 1
	s.wantRestartRefused(http.StatusNotFound, "contractNotFound", day)
	s.id = old

	s.until("2027-02-01")
	o := s.restart("2027-02-20")
	if o.Original == nil || *o.Original != old || o.Status != "ACTIVE" || o.ID == before.ID {
		t.Fatalf("restarted: %+v", o)
	}
	for what, pair := range map[string][2]any{
		"billing policy": {before.BillingPolicy, o.BillingPolicy}, "delivery policy": {before.DeliveryPolicy, o.DeliveryPolicy},
		"delivery": {before.DeliveryMethod, o.DeliveryMethod}, "delivery price": {before.DeliveryPrice, o.DeliveryPrice},
		"payment method": {before.CustomerPaymentMethod, o.CustomerPaymentMethod}, "variant": {before.Lines.Nodes[0].VariantID, o.Lines.Nodes[0].VariantID},
		"quantity": {2, o.Lines.Nodes[0].Quantity}, "price": {"12.50", o.Lines.Nodes[0].CurrentPrice.Amount}, "note": {new("ring"), o.Note}, "lines": {1, len(o.Lines.Nodes)},
	} {
		was, is := written(t, pair[0]), written(t, pair[1])
		if was != is {
			t.Errorf("the %s is %s, want %s", what, is, was)
		}
	}
	wantDay(t, "the first order", o.NextBillingDate, "2027-02-20T14:00:00Z")
	s.wantPlatform("CANCELLED")
	s.wantOrderDays("[]")
	s.follow(o.ID)
	s.until("2027-03-21")
	s.wantOrderDays("[02-20 03-20]")
	var rows []struct{ OriginalContractID *int64 }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	if len(rows) != 1 || rows[0].OriginalContractID == nil || *rows[0].OriginalContractID != old {
		t.Errorf("the row of the new contract is %+v", rows)
	}
	// the first who reads the new contract records its creation: the call, or the webhook
	s.wantEntries(created, api2+"SHIPPING_ADDRESS_CHANGE SUCCESS", api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", cancelled, created+or+api2+"CONTRACT_CREATED SUCCESS", charged, charged)
}

// written is what a story compares by.
func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An introductory price is given once, and an expired contract has all its orders again.
func TestExpiredContractRestartsAtItsPrice(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 2}})
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?%s&basePrice=10", s.line()),
		[]map[string]any{{"afterCycle": 0, "discountType": "PERCENTAGE", "value": 50}, {"afterCycle": 2, "discountType": "PERCENTAGE", "value": 10}})
	s.until("2026-12-12")
	s.wantPlatform("EXPIRED")
	want(t, s.demand("PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), s.key, nil), http.StatusBadRequest, "contractTerminated")
	o := s.restart("2026-12-20")
	if price := o.Lines.Nodes[0].CurrentPrice.Amount; price != "9.00" {
		t.Errorf("the first order costs %s, want 9.00", price)
	}
	s.follow(o.ID)
	s.until("2027-02-25")
	s.wantOrderDays("[12-20 01-20]")
	s.wantPlatform("EXPIRED")
}

// Where the payment method of before was revoked, the customer's newest one is charged.
func TestRestartedContractUsesAUsablePaymentMethod(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.cancel(http.StatusNoContent, "")
	day := s.now().Add(72 * time.Hour).Format(time.RFC3339)
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	s.call("POST", "/platform/payment-methods/"+url.PathEscape(o.CustomerPaymentMethod.ID), map[string]any{"status": "revoked"}, nil)
	s.wantRestartRefused(http.StatusBadRequest, "paymentMethodMissing", map[string]any{"nextBillingDate": day})
	var method struct{ ID string }
	s.call("POST", fmt.Sprintf("/platform/customers/%d/payment-methods", s.payer(s.id)), map[string]any{"kind": "card"}, &method)
	if is := s.restart(day).CustomerPaymentMethod; is == nil || !strings.HasSuffix(is.ID, method.ID[strings.LastIndexByte(method.ID, '/')+1:]) {
		t.Errorf("the restarted contract is charged with %+v, want %s", is, method.ID)
	}
}
